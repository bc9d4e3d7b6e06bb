import CurlHTTP
import TestSupport
import Testing

/// Connections to addresses that a rule refuses.
@Suite(.tags(.c)) struct AddressRefusalTests {
    private static let addresses = ["127.0.0.1", "127.0.0.2"]

    @Test func noByteGoesToAnAddressThatIsRefused() throws {
        let server = try HandServer()
        let loop = try PoolLoop(port: server.port) { $0.refuses = { $0 == [127, 0, 0, 1] } }
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .addressRefused)
        #expect(failure.reason.label == "address_refused")
        #expect(!failure.requestBytesSent && !failure.bodySent)
        #expect(server.accept() == nil)
        #expect(loop.pool.openConnections == 0)
    }

    @Test(arguments: addresses) func aNameWithOneAddressThatIsRefusedIsReachedOnTheOther(_ good: String) throws {
        let server = try HandServer(addresses: Self.addresses)
        let refused: UInt8 = good == "127.0.0.1" ? 2 : 1
        let loop = try PoolLoop(port: server.port, host: "receiver.test") {
            $0.addresses = Self.addresses
            $0.refuses = { $0 == [127, 0, 0, refused] }
        }
        var used: [HandConnection] = []
        for id in 0..<24 { loop.submit(id) }
        _ = try loop.run { _ in
            while let connection = server.accept() { used.append(connection) }
            return used.count == 24
        }
        #expect(used.allSatisfy { $0.address == good })
    }

    @Test func aNameOfWhichEachAddressIsRefusedIsNotCalled() throws {
        let server = try HandServer(addresses: Self.addresses)
        let loop = try PoolLoop(port: server.port, host: "receiver.test") {
            $0.addresses = Self.addresses
            $0.refuses = { _ in true }
        }
        #expect(try loop.exchange()?.failure?.reason == .addressRefused)
        #expect(server.accept() == nil)
    }

    @Test func anAllowedAddressThatNobodyListensOnIsNoRefusal() throws {
        let server = try HandServer()
        let loop = try PoolLoop(port: server.port, host: "receiver.test") {
            $0.addresses = Self.addresses
            $0.refuses = { $0 == [127, 0, 0, 1] }
        }
        #expect(try loop.exchange()?.failure?.reason == .connect)
        #expect(server.accept() == nil)
    }

    @Test func eachConnectionAsksAgain() throws {
        let server = try HandServer()
        let isOpen = Box(false)
        let loop = try PoolLoop(port: server.port) { $0.refuses = { _ in isOpen.withLock { !$0 } } }
        #expect(try loop.exchange(1)?.failure?.reason == .addressRefused)
        isOpen.withLock { $0 = true }
        let client = PoolClient(loop)
        _ = try client.exchange([Array(Answers.closing.utf8)[...]], with: server)
        #expect(client.failure == nil)
        isOpen.withLock { $0 = false }
        #expect(try loop.exchange(2)?.failure?.reason == .addressRefused)
    }

    @Test(.enabled(if: HandServer.canListen(on: "::1"), "this machine has no ::1"))
    func theRuleGetsAllBytesOfALongAddress() throws {
        let server = try HandServer(addresses: ["::1"])
        let asked = Box<[[UInt8]]>([])
        let loop = try PoolLoop(port: server.port, host: "::1") {
            $0.refuses = { address in
                asked.withLock { $0.append(address) }
                return true
            }
        }
        #expect(try loop.exchange()?.failure?.reason == .addressRefused)
        #expect(asked.withLock { $0 } == [[UInt8](repeating: 0, count: 15) + [1]])
    }

    @Test func noProxyIsUsedWhereAddressesAreRefused() throws {
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: "receiver.test")
        configuration.environment = ["https_proxy": "http://127.0.0.1:3128"]
        #expect(try configuration.proxyChoice().proxy != nil)
        configuration.refuses = { _ in false }
        #expect(try configuration.proxyChoice().proxy == nil)
        configuration.proxy = "http://127.0.0.1:3128"
        #expect(try configuration.proxyChoice().proxy == nil)
    }

    @Test func aRuleIsEqualToItselfAlone() {
        var one = ConnectionPoolConfiguration(scheme: .https, host: "receiver.test")
        let none = one
        one.refuses = { _ in true }
        let copy = one
        var other = none
        other.refuses = { _ in true }
        #expect(one == copy)
        #expect(one != other)
        #expect(one != none)
        other.refuses = nil
        #expect(other == none)
    }
}
