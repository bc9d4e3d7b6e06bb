import Console

extension Interruption {
    /// Ends the bench after SIGINT or SIGTERM; whatever was started ends on the way out.
    static func check() throws(CommandFailure) {
        guard isRequested else { return }
        throw CommandFailure(.interrupted, "interrupted; there is no report")
    }
}
