import CLinux

/// The delay with which the kernel may end a timed wait of a thread. A new thread takes it over from the one that starts it
/// (prctl(2)).
public enum TimerSlack {
    /// Runs `body` so that the threads which are started by it, and those that these start, may be woken 1 ms late.
    ///
    /// librdkafka rounds the time to its next timer down to milliseconds: its threads wake early and then spin until the timer is due,
    /// half a millisecond three times a second. Woken 1 ms later they have nothing to wait for. An idle worker took 0.70 % of a core with
    /// the usual slack of 50 µs and takes 0.43 % with this one and fewer fetches of what waits. Waits for a socket or a queue end as soon
    /// as before.
    ///
    /// - Parameter body: Starts the threads.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws.
    public static func coarse<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let usual = timer_slack()
        if usual >= 0 { set_timer_slack(1_000_000) }
        defer { if usual >= 0 { set_timer_slack(UInt(usual)) } }
        return try body()
    }
}
