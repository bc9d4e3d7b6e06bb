import FaultOracle
import Foundation
import Glibc
import Kafka

/// A real Kafka of one or three nodes that can be killed, with a proxy before it on demand.
///
/// Every node has two listeners: the plain one, which the oracle and the publisher use, and one that names the proxy's address to
/// its clients, so that a worker that begins at the proxy stays behind it.
final class Broker: Sendable {
    /// Where the script is, seen from the repository.
    static let script = "../shared/kafka/kafka"

    let folder: String
    let nodes: Int
    /// For everything but workers.
    let direct: String
    /// For workers that stand behind the proxy; one node only.
    let proxy: KafkaProxy?
    private let script: String
    private let environment: [String: String]

    /// Formats and starts the brokers.
    ///
    /// - Parameters:
    ///   - folder: Everything of theirs is in there.
    ///   - nodes: 1 or 3.
    ///   - settings: Settings of Kafka, `key=value`.
    ///   - script: The path of the script.
    ///   - environment: The environment of the script.
    /// - Throws: The script failed.
    init(folder: String, nodes: Int = 1, settings: [String] = [], script: String, environment: [String: String]) throws {
        self.folder = folder
        self.nodes = nodes
        self.script = script
        self.environment = environment
        let port = try Ports.free(neighbours: [1, 3, 10, 20])
        var options = ["--port", "\(port)", "--nodes", "\(nodes)", "--heap", nodes > 1 ? "384m" : "512m"]
        var extra = settings
        var proxy: KafkaProxy?
        if nodes == 1 {
            let made = try KafkaProxy(target: port + 3)
            proxy = made
            extra += [
                "listeners=PLAINTEXT://127.0.0.1:\(port),PROXIED://127.0.0.1:\(port + 3),CONTROLLER://127.0.0.1:\(port + 1)",
                "advertised.listeners=PLAINTEXT://127.0.0.1:\(port),PROXIED://127.0.0.1:\(made.port)",
                "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT",
            ]
        }
        for setting in extra { options += ["--set", setting] }
        self.proxy = proxy
        direct = (0..<nodes).map { "127.0.0.1:\(Int(port) + 10 * $0)" }.joined(separator: ",")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        Housekeeping.shared.add(broker: folder)
        try perform("start", options, within: .seconds(120))
    }

    /// The address for workers.
    func address(isProxied: Bool) -> String {
        isProxied ? proxy.map { "127.0.0.1:\($0.port)" } ?? direct : direct
    }

    /// Kills a node, or all of them, with SIGKILL.
    func kill(node: Int? = nil) throws { try perform("kill", node.map { ["\($0)"] } ?? [], within: .seconds(60)) }

    /// Starts what was killed again, on its data, and waits until it answers.
    func resume(node: Int? = nil) throws { try perform("resume", node.map { ["\($0)"] } ?? [], within: .seconds(90)) }

    /// Asks a node to stop, which hands over what it leads, and waits until it has.
    func stop(node: Int) throws { try perform("stop", ["\(node)"], within: .seconds(60)) }

    /// Stops a node, or all of them, as a debugger would.
    func freeze(node: Int? = nil) throws { try signal(SIGSTOP, node) }

    /// Lets what was frozen go on.
    func thaw(node: Int? = nil) throws { try signal(SIGCONT, node) }

    private func signal(_ number: Int32, _ node: Int?) throws {
        for node in node.map({ $0...$0 }) ?? 1...nodes {
            let text = try String(contentsOfFile: "\(folder)/node-\(node)/pid", encoding: .utf8)
            guard let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 1, Glibc.kill(pid, number) == 0
            else { throw SuiteError.failed("node \(node) takes no signal") }
        }
    }

    /// Ends the brokers for good.
    func end() {
        try? kill()
        Housekeeping.shared.remove(broker: folder)
        proxy?.close()
    }

    /// The transactions of a group's workers that a node says it has torn: after a restart it commits what it had decided to commit, but
    /// leaves partitions out whose leader it does not know yet ("likely deleted already and hence can be skipped"; seen with Kafka 4.3.1).
    func tornTransactions(group: String) -> [TornTransaction] {
        (1...nodes).flatMap { node -> [TornTransaction] in
            guard let log = try? String(contentsOfFile: "\(folder)/node-\(node)/server.log", encoding: .utf8) else { return [] }
            return TornTransaction.read(log.split(separator: "\n"), group: group)
        }
    }

    /// Runs one of Kafka's own tools against these brokers.
    func tool(_ name: String, _ arguments: [String], within limit: Duration = .seconds(60)) throws {
        let server = ["--bootstrap-server", direct]
        try ChildProcess.run(
            "kafka tool \(name)", ["/usr/bin/env", "bash", script, "tool", name] + server + arguments, environment: environment,
            log: "\(folder)/tool.log", within: limit)
    }

    private func perform(_ command: String, _ options: [String], within limit: Duration) throws {
        try ChildProcess.run(
            "kafka \(command)", ["/usr/bin/env", "bash", script, command, folder] + options, environment: environment,
            log: "\(folder)/script.log", within: limit)
    }
}
