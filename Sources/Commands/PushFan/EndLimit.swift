import Console
import Foundation
import Glibc
import Observability
import Synchronization

/// Ends the process where its own end, once it was asked for, takes longer than all that it may wait for: then a call of a library does not
/// return, and nothing that is still to be written can be.
///
/// What is not committed by then is redelivered, as after a kill.
final class EndLimit: Sendable {
    /// The time from the first signal to the end.
    let limit: Duration
    private let log: Log
    private let hasBegun = Atomic<Bool>(false)

    /// A limit that counts from the first `begin()` on.
    init(_ limit: Duration, log: Log) { (self.limit, self.log) = (limit, log) }

    /// Lets the time run. A thread of its own waits, because others may all be in such calls.
    func begin() {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        let thread = Thread { [limit, log] in
            Thread.sleep(forTimeInterval: limit / .seconds(1))
            log.error(
                .stopped, "a call of a library does not return; the process ends without it, and leaves what is not committed",
                [.count: LogValue(Int(limit / .seconds(1)))])
            fflush(nil)
            _exit(ExitCode.temporary.rawValue)
        }
        thread.name = "pushfan-end"
        thread.start()
    }
}
