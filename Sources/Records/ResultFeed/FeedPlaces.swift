/// A place in a topic of results: the next offset of each partition. A partition without one begins at its first record.
public struct FeedPlaces: Sendable, Hashable {
    /// The next offset, by partition.
    public var offsets: [Int32: Int64]

    /// A place with these offsets.
    public init(_ offsets: [Int32: Int64] = [:]) { self.offsets = offsets }

    /// The place as a cursor: letters, digits, `-` and `_`, the same for the same place.
    public var text: String { "" }

    /// Reads a cursor, or returns nil for a text that is none.
    public init?(_ text: String) { return nil }
}
