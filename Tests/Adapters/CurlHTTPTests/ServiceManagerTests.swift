import Glibc
import TestSupport
import Testing

@testable import EventLoop

/// A service manager is sent what sd_notify(3) says.
@Suite struct ServiceManagerTests {
    @Test(
        "a note is the line that sd_notify(3) names",
        arguments: [
            (ServiceManager.Note.ready, "READY=1"), (.stopping, "STOPPING=1"), (.alive, "WATCHDOG=1"),
            (.reloading(since: 1_234_567), "RELOADING=1\nMONOTONIC_USEC=1234567"),
            (.takes(.milliseconds(45_001)), "EXTEND_TIMEOUT_USEC=45001000"), (.takes(.seconds(-1)), "EXTEND_TIMEOUT_USEC=0"),
            (.status("failing hub: refuses\nREADY=1"), "STATUS=failing hub: refuses READY=1"),
            (.status(String(repeating: "x", count: 500)), "STATUS=" + String(repeating: "x", count: 200)),
        ])
    func lines(note: ServiceManager.Note, line: String) { #expect(note.line == line) }

    @Test(
        "there is a manager only where its address is one",
        arguments: [
            (nil, false), ("", false), ("relative", false), ("/", false), ("@", false), ("/run/notify", true), ("@notify", true),
            ("/" + String(repeating: "x", count: 106), true), ("/" + String(repeating: "x", count: 107), false),
        ] as [(String?, Bool)])
    func addresses(name: String?, isOne: Bool) {
        #expect((ServiceManager(variables: name.map { ["NOTIFY_SOCKET": $0] } ?? [:]) != nil) == isOne)
    }

    @Test(
        "a watchdog is heeded that is meant for this process",
        arguments: [
            (nil, nil, nil), ("30000000", nil, Duration.seconds(30)), ("30000000", "7", .seconds(30)), ("30000000", "8", nil),
            ("0", "7", nil), ("-5", nil, nil), ("soon", "7", nil), ("30000000", "none", nil),
        ] as [(String?, String?, Duration?)])
    func watchdogs(limit: String?, process: String?, expected: Duration?) throws {
        var variables = ["NOTIFY_SOCKET": "@notify"]
        variables["WATCHDOG_USEC"] = limit
        variables["WATCHDOG_PID"] = process
        #expect(try #require(ServiceManager(variables: variables, processID: 7)).watchdogLimit == expected)
    }

    @Test("several notes arrive as one datagram, at a path and at an abstract address", arguments: [false, true])
    func delivery(isAbstract: Bool) throws {
        let folder = try TemporaryFolder()
        let receiver = try Receiver(isAbstract ? "\0pushfan-test-\(getpid())" : folder.path("notify"))
        let name = isAbstract ? "@pushfan-test-\(getpid())" : folder.path("notify")
        let manager = try #require(ServiceManager(variables: ["NOTIFY_SOCKET": name]))
        #expect(manager.send(.alive, .status("ready")))
        #expect(receiver.next() == "WATCHDOG=1\nSTATUS=ready")
    }

    @Test("a manager that is gone costs nothing but the note")
    func gone() throws {
        let manager = try #require(ServiceManager(variables: ["NOTIFY_SOCKET": "/no/such/folder/notify"]))
        #expect(!manager.send(.ready))
    }
}

/// A socket as a service manager has it.
private final class Receiver {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (bytes[0] == 0 ? 0 : 1))
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(status == 0)
    }

    deinit { close(descriptor) }

    func next() -> String {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
