import CallbackRecords
import Kafka
import Observability

/// Delivers results to receivers: each at least once, by signed calls over HTTP.
///
/// A receiver that is away, slow or hangs costs the others nothing. Its position in Kafka is its progress, so that nothing is lost while the
/// topic keeps its results.
public final class CallbackService: Sendable {
    private let configuration: CallbackServiceConfiguration
    private let services: CallbackServices
    private let parts: CallbackParts
    private let inbox: CallbackInbox
    private let board: CallbackBoard

    /// A service that does not run yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers, the topics and the file.
    ///   - services: Metrics, log and health.
    /// - Throws: The file of receivers, or the configuration of Kafka, cannot be used.
    public convenience init(_ configuration: CallbackServiceConfiguration, services: CallbackServices) throws {
        try self.init(configuration, services: services, parts: CallbackParts(configuration, log: services.log))
    }

    /// A service in a world that is given.
    init(_ configuration: CallbackServiceConfiguration, services: CallbackServices, parts: CallbackParts) throws {
        (self.configuration, self.services, self.parts) = (configuration, services, parts)
        inbox = try CallbackInbox()
        board = CallbackBoard(version: configuration.version, instance: configuration.instance)
    }

    /// The standing of the receivers, as one JSON object.
    public var status: [UInt8] { board.json }

    /// Works on the calling thread until `stop` was called and positions are saved.
    ///
    /// - Throws: The certificates that the file names cannot be used, or the system gives no descriptor.
    public func run() throws {
        let loop = try CallbackLoop(configuration, services: services, parts: parts, inbox: inbox, board: board)
        defer { loop.close() }
        try loop.run()
    }

    /// Asks the service to let calls end, to save positions and to return from `run`. Safe from any thread.
    ///
    /// - Parameter limit: The longest time that it may take.
    public func stop(within limit: Duration = .seconds(15)) { inbox.end(within: limit) }
}
