public import EventLoop
public import Webhooks

/// The receivers of callbacks, and what holds for all of them.
public struct ReceiverSet: Sendable, Equatable {
    /// The receivers, in the file's order. No two have the same name.
    public var receivers: [Receiver] = []
    /// The networks that may be called though they are not of the open internet.
    public var allowedNetworks: [NetworkRange] = []
    /// True if a receiver may be called without TLS.
    public var allowsPlain = false
    /// The file of certificates that receivers' are checked against, or nil for the system's.
    public var caFile: String?

    /// A set without receivers.
    public init() {}
}

/// The faults of a file of receivers.
public typealias ReceiversFault = PlacedFaults

/// The file of receivers (page Callbacks): YAML, in which secrets stand, or the names of files that have them.
public struct ReceiversFile: FileContent {
    /// A receiver as the file has it.
    struct Plan: Sendable {
        var receiver: Receiver
        /// The file that has the secrets which the receiver does not have yet.
        var secretsFile: String?
        let line: Int
        /// The keys that are given.
        let keys: Set<String>
    }

    /// The largest file, in bytes.
    public static let maximumByteCount = 4 << 20
    /// The most receivers.
    public static let maximumReceiverCount = 1000

    /// The file.
    public let bytes: [UInt8]
    private let plans: [Plan]
    /// Everything but the receivers.
    private let common: ReceiverSet

    /// A file without receivers.
    public init() { (bytes, plans, common) = ([], [], ReceiverSet()) }

    /// Reads a file, without the files of secrets that it names.
    ///
    /// - Parameter bytes: All of it.
    /// - Throws: All faults, without any secret.
    public init(_ bytes: [UInt8]) throws(ReceiversFault) {
        var reader = ReceiversReader()
        try reader.read(bytes)
        (self.bytes, plans, common) = (bytes, reader.plans, reader.common)
    }

    /// Reads a file, and the files of secrets that it names.
    ///
    /// - Parameter text: All of it.
    /// - Returns: The receivers.
    /// - Throws: All faults, without any secret.
    public static func read(_ text: [UInt8]) throws(ReceiversFault) -> ReceiverSet { try ReceiversFile(text).receivers() }

    /// The number of receivers.
    public var count: Int { plans.count }

    /// True if a receiver has its secrets in a file of their own.
    var namesFiles: Bool { plans.contains { $0.secretsFile != nil } }

    /// Says if each receiver of another file is here, with all the keys that it had. One that lost a key may be cut, and would get what it
    /// must not get without its filter.
    public func keepsAll(of other: ReceiversFile) -> Bool {
        let keys = Dictionary(plans.map { ($0.receiver.name, $0.keys) }) { first, _ in first }
        return other.plans.allSatisfy { plan in keys[plan.receiver.name].map(plan.keys.isSubset) ?? false }
    }

    /// True if both are the same text.
    public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

    /// The receivers with their secrets, for which the files of secrets are read. Throws what is wrong with these.
    func receivers() throws(ReceiversFault) -> ReceiverSet {
        var set = common
        var faults: [ReceiversFault.Item] = []
        for plan in plans {
            var receiver = plan.receiver
            if let path = plan.secretsFile {
                do throws(FileError<LineFault<SecretsFile.Reason>>) {
                    receiver.secrets = try FileStore<SecretsFile>(path).read().secrets
                } catch {
                    faults.append(.init(line: plan.line, place: receiver.name, sentence: "the file of secrets \(error)"))
                }
            }
            set.receivers.append(receiver)
        }
        guard faults.isEmpty else { throw ReceiversFault(faults) }
        return set
    }
}
