import Dispatch
import EventLoop
import Synchronization

/// Repeats a survey in a thread of its own, so that nothing waits for it.
final class RepeatedSurvey: Sendable {
    /// True once the survey has to end.
    private final class FlagOfStop: Sendable {
        let value = Atomic<Bool>(false)
    }

    private let isStopped = FlagOfStop()
    private let stopping = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()

    /// Tells a survey that goes on that it has to end.
    var isCancelled: @Sendable () -> Bool { { [isStopped] in isStopped.value.load(ordering: .relaxed) } }

    /// Starts to survey. Called once.
    ///
    /// - Parameters:
    ///   - name: The thread's name.
    ///   - pause: The seconds before the first survey.
    ///   - survey: Surveys once. Returns the seconds until the next time.
    func start(named name: String, after pause: Int, survey: @escaping @Sendable () -> Int) {
        thread.start(named: name) { [stopping] in
            var pause = pause
            while stopping.wait(timeout: .now() + .seconds(pause)) == .timedOut { pause = survey() }
        }
    }

    /// Ends. Waits for a second at most. Called after `start`, once.
    func stop() {
        isStopped.value.store(true, ordering: .relaxed)
        stopping.signal()
        thread.waitForEnd(until: .now() + .seconds(1))
    }
}
