public import PushModel

/// The final result of a request that was sent in parts.
public struct WholeFact: Sendable {
    /// The request's record.
    public var origin: Place
    /// The number in the request's id.
    public var number: Int
    /// Where the request stands.
    public var state: ResultState
    /// The parts that it says it had, and those that it says were sent.
    public var parts: Int
    /// The parts that it says were sent everywhere.
    public var sent: Int
    /// The calls that it says the hub took.
    public var acceptedCalls: Int

    /// A final result of a whole.
    public init(_ origin: Place, number: Int, state: ResultState = .sent, parts: Int, sent: Int, acceptedCalls: Int) {
        self.origin = origin
        self.number = number
        self.state = state
        self.parts = parts
        self.sent = sent
        self.acceptedCalls = acceptedCalls
    }
}

/// The final result of one part.
public struct PartFact: Sendable {
    /// The number in the id of the whole.
    public var number: Int
    /// Which part it is.
    public var chunk: Int
    /// Where it stands.
    public var state: ResultState
    /// The name of the worker that wrote it.
    public var worker: String
    /// When it was handed to Kafka, milliseconds since 1970.
    public var at: Int64

    /// A final result of a part.
    public init(number: Int, chunk: Int, state: ResultState = .sent, worker: String = "w1", at: Int64 = 0) {
        self.number = number
        self.chunk = chunk
        self.state = state
        self.worker = worker
        self.at = at
    }
}

/// Whom one call of a large request reaches: 20 users of it, on one platform.
public struct PieceName: Hashable, Sendable {
    /// The number in the id of the whole.
    public var number: Int
    /// The first user.
    public var first: Int
    /// The platform, by the digest of its name.
    public var platform: UInt64

    /// A piece.
    public init(number: Int, first: Int, platform: UInt64) {
        self.number = number
        self.first = first
        self.platform = platform
    }

    /// Reads the tags of a call; nil for one of another request.
    public init?(tags: String, format: String) {
        let text = tags.drop { $0 == "(" }
        let prefix = "username:l"
        guard text.hasPrefix(prefix) else { return nil }
        let name = text.dropFirst(prefix.count).prefix { $0 != " " && $0 != ")" }.split(separator: "-")
        guard name.count == 2, let number = Int(name[0]), let first = Int(name[1]) else { return nil }
        self.init(number: number, first: first, platform: Digest.of(format.utf8))
    }
}

/// Large requests: what their parts and calls must come to.
extension Oracle {
    /// The users of one call, and the calls that one part has at most.
    private static let usersPerPiece = 20
    private static let callsPerPart = 16
    /// The platforms that a message goes to.
    private static let platforms = 3

    /// Parts lost, repeated or counted wrongly, and calls that were made again beyond what kills may cause.
    func parts() -> [Finding] {
        let numbers = evidence.inputs.compactMap { if case .large(let number) = $0.content { number } else { nil } }
        guard !numbers.isEmpty else { return [] }
        let pieces = (evidence.usersOfLarge + Self.usersPerPiece - 1) / Self.usersPerPiece
        let piecesPerPart = Self.callsPerPart / Self.platforms
        let parts = (pieces + piecesPerPart - 1) / piecesPerPart
        var examples = numbers.flatMap { faults(of: $0, parts: parts, calls: pieces * Self.platforms) }
        var calls: [PieceName: Int] = [:]
        for call in evidence.calls where call.isAccepted { if let piece = call.piece { calls[piece, default: 0] += 1 } }
        if calls.count != numbers.count * pieces * Self.platforms {
            examples.append("\(calls.count) of \(numbers.count * pieces * Self.platforms) pieces were called")
        }
        let repeated = calls.values.reduce(0) { $0 + $1 - 1 }
        return [
            .none(.parts, examples),
            Finding(.repeatedPieces, measured: Double(repeated), allowed: Double(allowances().reduce(0, +))),
        ]
    }

    private func faults(of number: Int, parts count: Int, calls: Int) -> [String] {
        let wholes = evidence.wholes.filter { $0.number == number }
        let parts = evidence.parts.filter { $0.number == number }
        var faults: [String] = []
        if wholes.count != 1 { faults.append("l\(number) has \(wholes.count) results") }
        if Set(parts.map(\.chunk)) != Set(0..<count) || parts.count != count {
            faults.append("l\(number) has the parts \(parts.map(\.chunk).sorted()) of \(count)")
        }
        guard let whole = wholes.first else { return faults }
        let sent = parts.count { $0.state == .sent }
        if whole.parts != count || whole.sent != sent {
            faults.append("l\(number) says \(whole.sent) of \(whole.parts) were sent")
        }
        let isSent = sent == count && whole.acceptedCalls == calls
        if (whole.state == .sent) != isSent { faults.append("l\(number) is \(whole.state.rawValue), \(sent) parts were sent") }
        return faults
    }
}
