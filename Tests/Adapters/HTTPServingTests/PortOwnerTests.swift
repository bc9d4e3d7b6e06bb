import Testing

@testable import HTTPServing

/// Who has a port that cannot be listened on.
@Suite struct PortOwnerTests {
    private static let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:2260 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
           1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 22 1 0 100 0 0 10 0
           2: 0200007F:2260 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 33 1 0 100 0 0 10 0
           3: 0100007F:2260 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 44 1 0 100 0 0 10 0
           4: 0000000000000000FFFF00000100007F:2261 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1000        0 55 1
           5: 00000000000000000000000001000000:2262 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1000        0 66 1
        not a line
        """

    @Test(
        arguments: [
            ("0100007F", 8800, ["11"]), ("0200007F", 8800, ["33"]), ("0300007F", 8800, []), ("00000000", 8800, ["11", "33"]),
            ("0100007F", 8080, ["22"]), ("0100007F", 8801, ["55"]), ("00000000000000000000000001000000", 8802, ["66"]),
            ("0100007F", 1, []),
        ] as [(String, Int, [Substring])])
    func onlySocketsThatListenInTheWayAreItsOwners(host: String, port: Int, sockets: [Substring]) {
        #expect(PortOwner.sockets(in: Self.table, at: host, port: port) == sockets)
    }

    @Test(arguments: ["127.0.0.1:0", "0.0.0.0:0"])
    func aPortThatThisProcessHasIsItsOwn(listen: String) throws {
        let server = HTTPServer(HTTPServerConfiguration(listen: listen)) { _ in .text("") }
        let address = try server.start()
        defer { server.stop() }
        let second = HTTPServer(HTTPServerConfiguration(listen: address.description)) { _ in .text("") }
        #expect(throws: HTTPServingError.cannotListen(address: address.description, reason: OwnPort.reason)) {
            try second.start()
        }
    }

    @Test func aProgramsNameIsShownWithoutWhatATerminalWouldActOn() {
        #expect(PortOwner.printable("a\u{1B}[2Jb\n") == "a[2Jb")
        #expect(PortOwner(id: 7, name: "nginx").description == "'nginx' (pid 7)")
    }
}
