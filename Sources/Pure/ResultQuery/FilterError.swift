/// The reason why a text is no filter.
public struct FilterError: Error, Sendable, Equatable {
    /// The place of the fault, counted in characters from 1.
    public var position: Int
    /// The text at that place. A user wrote it, and it may hold anything.
    public var word: String
    /// A statement of what is wrong with it and what is allowed, which goes on behind the word.
    public var reason: String
    /// Words of which one was probably meant. Empty when any text may stand there.
    public var allowed: [String]

    init(at position: Int, word: String, reason: String, allowed: [String] = []) {
        self.position = position
        self.word = word
        self.reason = reason
        self.allowed = allowed
    }
}

extension FilterError: CustomStringConvertible {
    /// The whole sentence.
    public var description: String { "position \(position): '\(word)' \(reason)" }
}
