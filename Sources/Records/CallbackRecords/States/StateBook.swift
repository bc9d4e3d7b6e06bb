/// The states of receivers, as a reader of their topic tells them.
///
/// A reader that begins again tells the history once more. What is known stays until that has come to its end.
struct StateBook: Equatable {
    /// The state of each receiver that has one, by its name.
    private(set) var states: [String: ReceiverState] = [:]
    /// True after one reader came to the end, or the topic was found to be missing.
    private(set) var isKnown = false
    /// The states that a reader has told on its way to the end. Nil behind it.
    private var gathered: [String: ReceiverState]? = [:]

    /// Notes that a reader begins with the first record.
    mutating func begin() { gathered = [:] }

    /// Takes in what a record says of a receiver. Returns true if that is news.
    mutating func take(_ state: ReceiverState?, of receiver: String) -> Bool {
        guard gathered == nil else {
            gathered?[receiver] = state
            return false
        }
        defer { states[receiver] = state }
        return states[receiver] != state
    }

    /// Notes that the reader is at the end. Returns true if that is news.
    mutating func complete() -> Bool {
        let all = gathered.take() ?? states
        defer { (states, isKnown) = (all, true) }
        return !isKnown || all != states
    }

    /// Notes that there is no topic. Returns true if that is news.
    mutating func noteMissing() -> Bool {
        defer { isKnown = true }
        return !isKnown
    }
}
