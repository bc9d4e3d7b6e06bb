import Dispatch

/// Answers that come late at random, with `Deploy/test --disturbed`: a test that fails then goes by the clock of the machine.
public enum Disturbance {
    /// Whether answers are to come late.
    public static let isWanted = TestVariables.value(of: "DISTURBED") == "1"

    /// How late the next answer is to come: up to 30 ms, or nothing where none is to be late.
    public static var delay: Duration { isWanted ? .milliseconds(Int.random(in: 0...30)) : .zero }

    /// Lets such a delay pass.
    public static func pass() {
        guard isWanted else { return }
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(Int(delay.components.attoseconds / 1_000_000_000)))
    }
}
