package import ResultFeed

/// The source of results, which is a `ResultFeed` but for tests.
package protocol FeedReader: Sendable {
    /// The place at the end of what is known now, or nil before the topic was read for the first time.
    var end: FeedPlaces? { get }
    /// Reads from a place on. `isWanted` is called under a lock, and `then` once, in any thread.
    func read(
        from places: FeedPlaces, room: FeedRoom, where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void)
    /// Finds the place of the first records that were written at a time or later, in milliseconds since 1970.
    func findPlaces(since time: Int64, then: @escaping @Sendable (Result<FeedPlaces, FeedFailure>) -> Void)
    /// Ends all reading.
    func close()
}

extension ResultFeed: FeedReader {
    package func read(
        from places: FeedPlaces, room: FeedRoom, where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void
    ) { read(from: places, onlyNamed: false, room: room, where: isWanted, then: then) }
}
