/// What a loop's ports count together, so that it need not be added up for each record. The ports keep it.
final class HubSums {
    /// The calls from delay lanes that wait for their turn.
    var delayedReadyCount = 0
    /// The calls that wait for a timer.
    var waitingForRetry = 0
}
