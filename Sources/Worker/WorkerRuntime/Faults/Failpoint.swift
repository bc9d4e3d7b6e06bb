#if PUSHFAN_FAILPOINTS
    import Dispatch
    import Glibc
    import Synchronization
#endif

/// A moment between reading a record and knowing that its result is committed, at which a test lets the process die.
///
/// Only a build with the package trait `Failpoints` has them: there `PUSHFAN_TEST_FAILPOINT=NAME[:N]` kills the process, as
/// SIGKILL does, when it passes the moment for the N-th time (1 if absent). In every other build a passing is no code at all.
/// The names in parentheses are the crash windows that the fault suite checks.
enum Failpoint: String {
    /// A record was read and nothing was sent for it (S0).
    case fetched
    /// The request was handed to the connection, which writes it at once (S1).
    case requestWritten = "request_written"
    /// The hub's answer may be there and was not read (S2).
    case answerUnread = "answer_unread"
    /// The answer is in memory (S3).
    case answered
    /// The transaction was begun (S4).
    case begun
    /// The results were handed to the producer and written (S5).
    case produced
    /// The offsets are part of the transaction (S6).
    case offsetsSent = "offsets_sent"
    /// The commit has begun (S7): the process dies up to 8 ms after it began.
    case committing
    /// The commit was confirmed, and the loop does not know it yet (S8, S9).
    case committed

    /// Passes the moment.
    @inline(__always)
    static func pass(_ moment: Failpoint) {
        #if PUSHFAN_FAILPOINTS
            if let armed, armed.moment == moment { armed.pass() }
        #endif
    }

    #if PUSHFAN_FAILPOINTS
        private static let armed = Armed()

        /// True if the process is to die at this moment, sooner or later.
        static func isArmed(_ moment: Failpoint) -> Bool { armed?.moment == moment }

        private final class Armed: Sendable {
            let moment: Failpoint
            private let count: Int
            private let passed = Atomic<Int>(0)

            init?() {
                guard let text = getenv("PUSHFAN_TEST_FAILPOINT") else { return nil }
                let parts = String(cString: text).split(separator: ":")
                guard let name = parts.first, let moment = Failpoint(rawValue: String(name)) else { return nil }
                self.moment = moment
                count = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
            }

            func pass() {
                guard passed.wrappingAdd(1, ordering: .relaxed).newValue == count else { return }
                guard moment == .committing else { Self.die() }
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(.random(in: 0...8000))) { Self.die() }
            }

            private static func die() -> Never {
                kill(getpid(), SIGKILL)
                while true { pause() }
            }
        }
    #endif
}
