/// The faults of a file, each with its line, without any secret of the file.
public struct PlacedFaults: Error, Sendable, Equatable {
    /// One of them.
    public struct Item: Sendable, Equatable, CustomStringConvertible {
        /// The line, from 1, or nil for a fault of the whole file.
        public let line: Int?
        /// The place within the line's entry, such as `orders, url`, or nil where there is none.
        public let place: String?
        /// The sentence.
        public let sentence: String

        /// A fault of a line, or of the whole file.
        public init(line: Int?, place: String?, sentence: String) {
            (self.line, self.place, self.sentence) = (line, place, sentence)
        }

        /// `line 3: orders, url: …`.
        public var description: String { (line.map { "line \($0): " } ?? "") + (place.map { "\($0): " } ?? "") + sentence }
    }

    /// All of them, in the file's order. At least one.
    public let items: [Item]

    /// Faults, at least one.
    public init(_ items: [Item]) { self.items = items }

    /// A fault of the whole file, or of a line.
    public init(_ sentence: String, line: Int? = nil) { items = [Item(line: line, place: nil, sentence: sentence)] }
}

extension PlacedFaults: CustomStringConvertible {
    /// The first three, and how many more there are.
    public var description: String {
        let shown = items.prefix(3).map(\.description).joined(separator: "; ")
        return items.count > 3 ? "\(shown); and \(items.count - 3) more" : shown
    }
}
