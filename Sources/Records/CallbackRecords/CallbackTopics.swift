/// The names of what callbacks keep in Kafka.
public struct CallbackTopics: Sendable, Equatable {
    /// The topic of results.
    public var results: String
    /// The topic of decisions about receivers: compacted, by receiver.
    public var states: String
    /// The topic of results that a receiver did not take, by receiver.
    public var deadLetters: String
    /// The topic of results that are sent to a receiver once more, by receiver.
    public var replays: String

    /// Topics with these names.
    public init(results: String, states: String, deadLetters: String, replays: String) {
        (self.results, self.states, self.deadLetters, self.replays) = (results, states, deadLetters, replays)
    }

    /// The consumer group of a receiver, whose offsets are its progress.
    public static func group(of receiver: String) -> String { "pushfan-callback-\(receiver)" }
}
