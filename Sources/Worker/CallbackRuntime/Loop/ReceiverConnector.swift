import Basics
import CallbackRecords
import Crypto
import CurlHTTP
import EventLoop
import HTTP1
import Observability
import Synchronization
import Webhooks

/// Makes the connections to receivers, with the certificates that theirs are checked against, and a rule for their addresses.
final class ReceiverConnector {
    /// The most bytes of an answer's body that are read.
    private static let answerBytes = 64 << 10
    /// The time between two looks at the file of certificates, in nanoseconds.
    private static let pause: Int64 = 5_000_000_000

    /// The rule of addresses, which connections ask when they are made.
    private final class Rule: Sendable {
        /// Nothing else is locked while it is held.
        let rule: Mutex<AddressGuard>

        init(_ rule: AddressGuard) { self.rule = Mutex(rule) }
    }

    private let poller: Poller
    private let log: Log
    private let rule: Rule
    private var allowedNetworks: [NetworkRange]
    private var certificates: CertificateStore
    /// The path of the file that they are from, or nil for the system's, and what the file held.
    private var path: String?
    private var file: CertificateFile?
    /// The reason for which others cannot be used, or nil.
    private var problem: CertificateStore.Failure?
    private var nextCheck: MonotonicTime

    /// The connector that a file of receivers asks for. Throws if the certificates cannot be used.
    init(_ set: ReceiverSet, poller: Poller, log: Log, now: MonotonicTime) throws(CertificateStore.Failure) {
        (self.poller, self.log) = (poller, log)
        allowedNetworks = set.allowedNetworks
        rule = Rule(AddressGuard(allowed: set.allowedNetworks))
        // Content that is older than the certificates only has them loaded once more.
        (path, file) = (set.caFile, Self.read(set.caFile))
        certificates = try CertificateStore(file: set.caFile)
        nextCheck = now + Self.pause
    }

    /// True if it is time to look at the certificates again.
    func isDue(now: MonotonicTime) -> Bool { now >= nextCheck }

    /// Takes in what the file says now, and what its certificates are now. Connections that are open stay.
    ///
    /// - Parameters:
    ///   - set: The file of receivers.
    ///   - now: The present moment.
    /// - Returns: Whether new connections are needed: certificates are others, or networks may not be called any more.
    func change(to set: ReceiverSet, now: MonotonicTime) -> Bool {
        let isNarrowed = !allowedNetworks.allSatisfy(set.allowedNetworks.contains)
        allowedNetworks = set.allowedNetworks
        rule.rule.withLock { $0 = AddressGuard(allowed: set.allowedNetworks) }
        nextCheck = now + Self.pause
        return renewCertificates(from: set.caFile) || isNarrowed
    }

    /// Loads certificates that are others than the known ones, which stay if those cannot be used. Returns whether they are loaded.
    private func renewCertificates(from path: String?) -> Bool {
        let file = Self.read(path)
        guard path != self.path || file != self.file else {
            problem = nil
            return false
        }
        do throws(CertificateStore.Failure) {
            certificates = try CertificateStore(file: path)
        } catch {
            if error != problem {
                log.error(
                    .receiverChanged, "the certificates of the file of receivers cannot be used, and the known ones stay",
                    [.reason: .string(error.description)])
            }
            problem = error
            return false
        }
        (self.path, self.file, problem) = (path, file, nil)
        log.info(.receiverChanged, "the certificates of the file of receivers were read again")
        return true
    }

    private static func read(_ path: String?) -> CertificateFile? {
        path.flatMap { try? FileStore<CertificateFile>($0).read() }
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
