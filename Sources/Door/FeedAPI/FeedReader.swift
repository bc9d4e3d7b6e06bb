package import ResultFeed

/// The source of results, which is a `ResultFeed` but for tests.
package protocol FeedReader: Sendable {
    /// The place at the end of what is known now, or nil before the topic was read for the first time.
    var end: FeedPlaces? { get }
    /// Reads from a place on. `isWanted` is called under a lock, and `then` once, in any thread. Whoever waits no more hears `.full`.
    func read(
        from places: FeedPlaces, room: FeedRoom, while isWaiting: @escaping @Sendable () -> Bool,
        where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void)
    /// Finds the place of the first records that were written at a time or later, in milliseconds since 1970, or with `.max` the end.
    func findPlaces(
        since time: Int64, while isWaiting: @escaping @Sendable () -> Bool,
        then: @escaping @Sendable (Result<FeedPlaces, FeedFailure>) -> Void)
    /// Ends all reading.
    func close()
}

extension ResultFeed: FeedReader {}
