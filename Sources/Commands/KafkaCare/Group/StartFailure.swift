import JobSupport

/// The reason why a group cannot start at what is unfinished.
package enum StartFailure: RoomFailure {
    /// There is no topic of results, so it is unknown what is finished.
    case noResults(topic: String)
    /// A newer version of pushfan wrote some of what is finished.
    case newerOutcomes
}
