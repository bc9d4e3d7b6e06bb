import Foundation
import Glibc

/// `openssl s_server` with a certificate of its own authority, for one connection after another.
///
/// The test reads the requests and writes the answers.
final class TLSServer {
    /// The authority's certificate (PEM) that a client must trust.
    let authority: String
    /// Another authority's, which did not sign the server's certificate.
    let stranger: String
    private(set) var port: UInt16 = 0
    /// All that `s_server` has printed: what clients sent, and about each connection.
    private(set) var log = ""
    private let folder: URL
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []

    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes the certificates and starts the server.
    ///
    /// - Parameters:
    ///   - name: The only name in the certificate, such as `DNS:localhost` or `IP:127.0.0.1`.
    ///   - arguments: More arguments of `openssl s_server`.
    /// - Throws: `NotStarted`.
    init(name: String, arguments: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushfan-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = folder.appendingPathComponent("authority.pem").path
        stranger = folder.appendingPathComponent("stranger.pem").path
        for authority in ["authority", "stranger"] {
            try openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=\(authority)", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", path("\(authority).key"), "-out",
                path("\(authority).pem"))
        }
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=server",
            "-addext", "subjectAltName=\(name)", "-addext", "basicConstraints=critical,CA:FALSE", "-CA", authority, "-CAkey",
            path("authority.key"), "-keyout", path("server.key"), "-out", path("server.pem"))
        try start(arguments)
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Waits until a request has come, by default its empty line, and takes all that came.
    func request(_ isWhole: (String) -> Bool = { $0.contains("\r\n\r\n") }) throws -> String {
        defer { pending.removeAll() }
        while true {
            let text = String(decoding: pending, as: UTF8.self)
            if isWhole(text) { return text }
            try readMore()
        }
    }

    /// Ends the server at once, without a word to its client. SIGTERM is blocked in a process that is started from a thread which blocks it.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends an answer to the connected client.
    func answer(_ text: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NotStarted(description: "openssl \(arguments.joined(separator: " "))") }
    }

    private func start(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments =
            ["s_server", "-accept", "127.0.0.1:0", "-cert", path("server.pem"), "-key", path("server.key")] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let mark = Array("ACCEPT 127.0.0.1:".utf8)
        while true {
            try readMore()
            guard let start = pending.firstRange(of: mark)?.upperBound,
                let end = pending[start...].firstIndex(of: UInt8(ascii: "\n"))
            else { continue }
            port = UInt16(String(decoding: pending[start..<end], as: UTF8.self)) ?? 0
            pending.removeAll()
            return
        }
    }

    private func readMore() throws {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { throw NotStarted(description: "openssl s_server ended") }
        pending.append(contentsOf: data)
        log += String(decoding: data, as: UTF8.self)
    }
}
