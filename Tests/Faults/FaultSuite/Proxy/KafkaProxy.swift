import Synchronization

/// A proxy before a broker that knows one request of Kafka's protocol from another and does what it is told to single ones.
///
/// Requests and answers begin with their length; a request goes on with its kind and its number, an answer with the number of its
/// request (Kafka protocol guide, "Common request and response structure"). That is all that is read.
final class KafkaProxy: Sendable {
    /// The kinds of request that scenarios care for, by their numbers in the protocol.
    enum Kind: Int16, Sendable {
        case produce = 0
        case heartbeat = 12
        case addPartitionsToTransaction = 24
        case addOffsetsToTransaction = 25
        case endTransaction = 26
        case offsetCommit = 8
        case transactionOffsetCommit = 28
    }

    /// What is done to a request.
    enum Action: Sendable, Equatable {
        /// It disappears; the connection stays.
        case dropRequest
        /// It is handed on, and its answer disappears.
        case dropAnswer
        /// The connection ends before it is handed on.
        case cutBefore
        /// It is handed on, and the connection ends before its answer.
        case cutAfter
        /// It waits, and with it whatever follows on the connection.
        case delay(Duration)
    }

    private let relay: Relay
    private let rules: KafkaRules

    /// A proxy on a free port before the broker's port `target`.
    init(target: UInt16) throws {
        let rules = KafkaRules()
        self.rules = rules
        relay = try Relay(target: target, toServer: { rules.moveRequests($0) }, toClient: { rules.moveAnswers($0) })
    }

    /// The port that clients connect to, and that the broker tells them.
    var port: UInt16 { relay.port }

    /// Does something to requests of one kind.
    ///
    /// - Parameters:
    ///   - action: What to do.
    ///   - kind: To which.
    ///   - count: To how many of them; nil for all until `clear`.
    func arm(_ action: Action, to kind: Kind, count: Int? = nil) { rules.arm(action, to: kind, count: count) }

    /// Hands everything on again.
    func clear() { rules.clear() }

    /// How many requests something was done to since the start.
    var struckCount: Int { rules.struckCount }

    /// Refuses connections and ends those there are: the broker is away, for those behind the proxy.
    func refuse() { relay.refuse() }

    /// Takes connections again.
    func reopen() throws { try relay.reopen() }

    /// Ends every connection; new ones are taken.
    func cutAll() { relay.cutAll() }

    /// Ends the proxy.
    func close() { relay.refuse() }
}

/// The rules of one proxy, and the answers that were promised a fate when their request passed.
private final class KafkaRules: Sendable {
    private struct Rule {
        let action: KafkaProxy.Action
        var left: Int?
    }

    private struct State {
        var rules: [Int16: Rule] = [:]
        var struckCount = 0
        /// By connection and number of the request.
        var promised: [ObjectIdentifier: [Int32: KafkaProxy.Action]] = [:]
    }

    private let state = Mutex(State())

    func arm(_ action: KafkaProxy.Action, to kind: KafkaProxy.Kind, count: Int?) {
        state.withLock { $0.rules[kind.rawValue] = Rule(action: action, left: count) }
    }

    func clear() { state.withLock { $0.rules = [:] } }

    var struckCount: Int { state.withLock { $0.struckCount } }

    func moveRequests(_ link: Relay.Link) {
        let id = ObjectIdentifier(link)
        defer { state.withLock { $0.promised[id] = nil } }
        while let frame = Self.frame(from: link.client) {
            guard frame.count >= 12 else { return }
            let kind = Int16(truncatingIfNeeded: Self.integer(frame[4..<6]))
            let number = Int32(truncatingIfNeeded: Self.integer(frame[8..<12]))
            switch strike(kind) {
            case nil: break
            case .dropRequest: continue
            case .cutBefore: return
            case .delay(let wait): Clock.pause(wait)
            case .dropAnswer: state.withLock { $0.promised[id, default: [:]][number] = .dropAnswer }
            case .cutAfter: state.withLock { $0.promised[id, default: [:]][number] = .cutAfter }
            }
            guard link.server.write(frame) else { return }
        }
    }

    func moveAnswers(_ link: Relay.Link) {
        let id = ObjectIdentifier(link)
        while let frame = Self.frame(from: link.server) {
            guard frame.count >= 8 else { return }
            let number = Int32(truncatingIfNeeded: Self.integer(frame[4..<8]))
            switch state.withLock({ $0.promised[id]?.removeValue(forKey: number) }) {
            case .cutAfter: return
            case .dropAnswer: continue
            default: guard link.client.write(frame) else { return }
            }
        }
    }

    private func strike(_ kind: Int16) -> KafkaProxy.Action? {
        state.withLock { state in
            guard var rule = state.rules[kind], rule.left != 0 else { return nil }
            rule.left = rule.left.map { $0 - 1 }
            state.rules[kind] = rule
            state.struckCount += 1
            return rule.action
        }
    }

    /// The next frame with its length before it; nil when the stream ends.
    private static func frame(from socket: Socket) -> [UInt8]? {
        guard let head = socket.read(exactly: 4) else { return nil }
        let count = integer(head[...])
        guard count > 0, count < 128 << 20, let body = socket.read(exactly: count) else { return nil }
        return head + body
    }

    /// A big-endian number.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
