import Feedback

/// Shows the progress of a collection: all the time on a terminal, now and then elsewhere.
final class CollectionProgress {
    private let streams: Streams
    private var next: ContinuousClock.Instant

    init(_ streams: Streams) {
        self.streams = streams
        next = .now + Self.interval(streams)
    }

    private static func interval(_ streams: Streams) -> Duration {
        streams.traits.isErrorTerminal ? .milliseconds(200) : .seconds(10)
    }

    /// Shows how far it is, but not too often.
    func show(_ count: Int, of total: Int, _ collection: FeedbackCollection) {
        guard ContinuousClock.now >= next else { return }
        next = .now + Self.interval(streams)
        let text = "\(count) of \(total) blobs, \(collection.entries) entries, \(collection.handles) dead handles"
        if streams.traits.isErrorTerminal { streams.showStatus(text) } else { streams.note(text) }
    }

    /// Removes the shown text.
    func end() { streams.showStatus(nil) }
}
