/// The counts of all ports of a loop, which they keep, so that nothing is added up for each record.
final class HubSums {
    /// The calls from delay lanes that wait for their turn.
    var delayedReadyCount = 0
    /// The calls that wait for a timer.
    var waitingForRetry = 0
}
