import Foundation
import Glibc

/// The emulator, run as a process, with its journal and a proxy before it.
final class Hub: Sendable {
    private let child: ChildProcess
    /// The emulator's own port, for faults.
    private let port: UInt16
    /// What workers connect to.
    let proxy: ByteProxy
    let journal: String

    /// Starts the emulator and waits until it answers.
    ///
    /// - Parameters:
    ///   - program: The path of `pushfan`.
    ///   - folder: Where its log and its journal are.
    ///   - name: Begins the names of those files.
    ///   - options: More options of `pushfan emulator`.
    ///   - environment: Its environment.
    /// - Throws: It did not start in time.
    init(program: String, folder: String, name: String = "hub", options: [String], environment: [String: String]) throws {
        port = try Ports.free()
        journal = "\(folder)/\(name).ndjson"
        child = try ChildProcess(
            "emulator",
            [program, "emulator", "--listen", "127.0.0.1:\(port)", "--journal", journal, "--record", "light", "--threads", "2"]
                + options,
            environment: environment, log: "\(folder)/\(name).log")
        proxy = try ByteProxy(target: port)
        let port = port
        try Clock.wait(for: "the emulator", within: .seconds(20)) { HTTPProbe.ask(port: port, "/livez")?.status == 200 }
    }

    /// The connection string for workers, which leads through the proxy.
    var connectionString: String { connectionString(key: Self.key) }

    /// The connection string with another key of the same policy.
    func connectionString(key: String) -> String {
        "Endpoint=sb://127.0.0.1:\(proxy.port)/;SharedAccessKeyName=\(Self.policy);SharedAccessKey=\(key)"
            .replacingOccurrences(of: "sb://", with: "http://")
    }

    /// The emulator's default policy and its key, which is no secret.
    static let policy = "DefaultFullSharedAccessSignature"
    static let key = "cHVzaGZhbi1lbXVsYXRvci1rZXktbm90LWEtc2VjcmV0ISE="

    /// Replaces the faults that are armed.
    ///
    /// - Throws: The emulator refused one of them, or did not answer.
    func setFaults(_ faults: [String]) throws {
        guard let answer = HTTPProbe.ask("PUT", port: port, "/faults", body: faults.joined(separator: "\n")) else {
            throw SuiteError.failed("the emulator does not take faults")
        }
        guard answer.status == 200 else { throw SuiteError.failed("the emulator refused a fault: \(answer.body)") }
    }

    /// Stops the emulator, which writes the rest of its journal.
    func end() {
        proxy.close()
        child.signal(SIGTERM)
        if child.wait(within: .seconds(10)) == nil { child.end() }
    }
}
