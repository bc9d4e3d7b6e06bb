/// Since when no broker has answered a process. A pure value: its owner has the clock.
///
/// The silence counts from the first question without an answer. So a process that asks nothing for a while is not taken for one whose
/// brokers are away, and one that waits is so at once.
public struct BrokerReach: Sendable, Equatable {
    /// The meaning of a kind of request, by its number in Kafka's protocol.
    private enum Kind {
        case question
        /// The answer comes when all members are there, which may take a minute.
        case wait
        /// A broker answers also when it lets no client in.
        case greeting

        init(number: Int16) {
            switch number {
            case 11, 14: self = .wait  // JoinGroup, SyncGroup
            case 17, 18, 36: self = .greeting  // SaslHandshake, ApiVersions, SaslAuthenticate
            default: self = .question
            }
        }
    }

    private var silentSince: ContinuousClock.Instant?

    /// A process that has asked nothing yet.
    public init() {}

    /// Notes that a request has left, of a kind by its number in Kafka's protocol.
    public mutating func noteRequest(kind: Int16, at now: @autoclosure () -> ContinuousClock.Instant) {
        if Kind(number: kind) != .wait { noteQuestion(at: now()) }
    }

    /// Notes that a request was answered, of a kind by its number in Kafka's protocol.
    public mutating func noteResponse(kind: Int16) {
        if Kind(number: kind) != .greeting { noteAnswer() }
    }

    /// Notes that brokers are asked, or that one fails. The moment is asked for only where it is the first.
    public mutating func noteQuestion(at now: @autoclosure () -> ContinuousClock.Instant) {
        if silentSince == nil { silentSince = now() }
    }

    /// Notes that a broker has answered.
    public mutating func noteAnswer() { silentSince = nil }

    /// The time for which no broker has answered, or zero.
    public func silence(at now: ContinuousClock.Instant) -> Duration { silentSince.map { max(.zero, now - $0) } ?? .zero }
}
