import Glibc
import Synchronization

/// The interruption of the program by SIGINT or SIGTERM.
public enum Interruption {
    private static let received = Atomic<Int32>(0)

    /// From here on the two signals are remembered instead of ending the program. A second one of a kind ends it.
    public static func catchSignals() {
        // Touched before any signal can come: a handler must not be the one that initialises it.
        received.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.received.store(number, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    /// A signal has come.
    public static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

    /// The code that a command ends with when a signal stopped it: SIGTERM is the ordinary end of a service.
    public static var exitCode: ExitCode { received.load(ordering: .relaxed) == SIGTERM ? .done : .interrupted }
}
