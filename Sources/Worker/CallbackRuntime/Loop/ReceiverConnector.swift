import CallbackRecords
import Crypto
import CurlHTTP
import EventLoop
import HTTP1
import Synchronization
import Webhooks

/// Makes the connections to receivers, with the certificates that theirs are checked against, and a rule for their addresses.
final class ReceiverConnector {
    /// The most bytes of an answer's body that are read.
    private static let answerBytes = 64 << 10

    /// The rule of addresses, which connections ask when they are made.
    private final class Rule: Sendable {
        /// Nothing else is locked while it is held.
        let rule: Mutex<AddressGuard>

        init(_ rule: AddressGuard) { self.rule = Mutex(rule) }
    }

    private let poller: Poller
    private let rule: Rule
    private var certificates: CertificateStore
    private var caFile: String?

    /// The connector that a file of receivers asks for. Throws if the certificates cannot be used.
    init(_ set: ReceiverSet, poller: Poller) throws(CertificateStore.Failure) {
        self.poller = poller
        rule = Rule(AddressGuard(allowed: set.allowedNetworks))
        certificates = try CertificateStore(file: set.caFile)
        caFile = set.caFile
    }

    /// Takes in what the file says now. Connections that are open stay.
    ///
    /// - Returns: Whether certificates are others, so that new connections are needed.
    /// - Throws: The certificates cannot be used. Then those from before stay.
    func change(to set: ReceiverSet) throws(CertificateStore.Failure) -> Bool {
        rule.rule.withLock { $0 = AddressGuard(allowed: set.allowedNetworks) }
        guard set.caFile != caFile else { return false }
        certificates = try CertificateStore(file: set.caFile)
        caFile = set.caFile
        return true
    }

    /// The connections of a receiver, of which none is open.
    ///
    /// - Parameters:
    ///   - receiver: The receiver.
    ///   - number: The number of its port, which the poller's events name.
    /// - Returns: The connections.
    /// - Throws: Its address cannot be used.
    func pool(to receiver: Receiver, number: Int) throws(ConnectionPool.SetupFailure) -> ConnectionPool {
        var configuration = ConnectionPoolConfiguration(
            scheme: receiver.url.scheme, host: receiver.url.host, port: receiver.url.port)
        // The desk knows how many calls may be in flight, which the file may change.
        configuration.maxConnections = 1_000
        configuration.limits = AnswerLimits(bodyByteCount: Self.answerBytes)
        configuration.dropsLargeBodies = true
        configuration.refuses = { [rule] address in rule.rule.withLock { $0.refuses(address) } }
        return try ConnectionPool(
            configuration, poller: poller, tokenBase: UInt64(number) << 32, certificates: certificates)
    }
}
