/// Shows a progress: all the time on a terminal, now and then elsewhere.
struct ProgressPace {
    private let streams: Streams
    private let interval: Duration
    private var next: ContinuousClock.Instant
    private var isShown = false

    /// Nothing is shown yet, and at first not for a while.
    init(_ streams: Streams) {
        self.streams = streams
        interval = streams.traits.isErrorTerminal ? .milliseconds(200) : .seconds(10)
        next = .now + interval
    }

    /// Shows the progress, but not too often.
    mutating func show(_ text: () -> String) {
        guard ContinuousClock.now >= next else { return }
        next = .now + interval
        isShown = streams.traits.isErrorTerminal
        if isShown { streams.showStatus(text()) } else { streams.note(text()) }
    }

    /// Removes the shown text.
    mutating func end() {
        if isShown { streams.showStatus(nil) }
        isShown = false
    }
}
