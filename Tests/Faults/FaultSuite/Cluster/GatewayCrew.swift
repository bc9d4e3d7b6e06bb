import FaultOracle
import Foundation

/// The gateways of one scenario, and who publishes through them.
final class GatewayCrew: Sendable {
    let gateways: [GatewayProcess]
    let publisher: HTTPPublisher
    /// The API key of everybody.
    let key: String
    private let journal: String

    /// Makes the API key and the gateways, which do not run yet.
    ///
    /// - Parameters:
    ///   - load: What is published.
    ///   - program: The path of `pushfan`.
    ///   - folder: Where their logs, the keys file and the journal are.
    ///   - environment: The gateways' environment.
    /// - Throws: The key could not be made.
    init(_ load: HTTPLoad, program: String, folder: String, environment: [String: String]) throws {
        key = try Self.makeKey(["--scope", "publish"], program: program, folder: folder, environment: environment)
        let answers = "\(folder)/\(Self.answers)"
        try FileManager.default.createDirectory(atPath: answers, withIntermediateDirectories: true)
        gateways = try (1...load.gateways).map { number in
            var environment = environment
            environment["PUSHFAN_GATEWAY_KEYS_FILE"] = "\(folder)/keys"
            if load.keepsAnswers { environment["PUSHFAN_GATEWAY_IDEMPOTENCY_FILE"] = "\(answers)/g\(number).sqlite" }
            return try GatewayProcess("g\(number)", program: program, folder: folder, environment: environment)
        }
        publisher = HTTPPublisher(load, gateways: gateways, key: key)
        journal = "\(folder)/http-calls.log"
    }

    /// Adds an API key with these terms to the keys file of a folder.
    ///
    /// - Throws: The key could not be made.
    static func makeKey(
        _ terms: [String], program: String, folder: String, environment: [String: String]
    ) throws -> String {
        let log = "\(folder)/keys.log"
        try ChildProcess.run(
            "pushfan keys create", [program, "keys", "create", "--file", "\(folder)/keys"] + terms,
            environment: environment, log: log, within: .seconds(20))
        let words = try String(contentsOfFile: log, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        guard let key = words.first(where: { $0.hasPrefix("pf_") }) else { throw SuiteError.failed("no key was printed: \(log)") }
        try FileManager.default.removeItem(atPath: log)
        return String(key)
    }

    /// The folder of the files of answers, in that of the scenario.
    static let answers = "answers"

    /// Starts the gateways, waits until they are ready, and begins to publish.
    func start() throws {
        for gateway in gateways { try gateway.start() }
        try Clock.wait(for: "the gateways to be ready", within: .seconds(60), every: .milliseconds(50)) {
            gateways.allSatisfy(\.isReady)
        }
        publisher.start()
    }

    /// Waits until everything is published, and stops the gateways.
    ///
    /// - Throws: `SuiteError.late` when it is not published in time.
    func finish(within limit: Duration) throws {
        try Clock.wait(for: "the requests to be published over HTTP", within: limit) { publisher.isDone }
        for gateway in gateways { gateway.stop() }
    }

    /// Gateways that were killed.
    var killCount: Int { gateways.reduce(0) { $0 + $1.killCount } }

    /// Ends everything, in whatever state it is, and writes the journal.
    func end() {
        publisher.end()
        for gateway in gateways { gateway.end() }
        let text = publisher.calls.map { $0.line + "\n" }.joined()
        try? text.write(toFile: journal, atomically: true, encoding: .utf8)
    }
}
