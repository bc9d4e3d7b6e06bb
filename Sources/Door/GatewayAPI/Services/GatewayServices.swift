public import Basics
import EventLoop
package import HTTPServing
public import Observability

/// What a gateway reports to, and its clock.
public struct GatewayServices: Sendable {
    /// The program's metrics.
    public var metrics: GatewayMetrics
    /// The program's log.
    public var log: Log
    /// The program's health.
    public var health: Health
    /// What the gateway takes for the present.
    public var now: @Sendable () -> MonotonicTime = { MonotonicTime.now() }

    /// Gives the fault for a call whose caller is known. Nil in production, and for calls without one.
    package var intercept: (@Sendable (HTTPServerRequest) -> Interception?)?

    /// Ends streams and waits whose callers have lost their rights.
    package let rights = RightsWatch()
    /// Counts the calls that the rates of keys do not allow.
    package let limited = RefusedCalls()
    /// Gives the comment on a key of the keys file by the key's id.
    package var comment: @Sendable (String) -> String? = { _ in nil }
    /// The address before a code, where pages say what it means (`gateway.docs_url`); nil for none.
    package var docsURL: String?

    /// The services of one gateway.
    public init(metrics: GatewayMetrics, log: Log, health: Health) {
        self.metrics = metrics
        self.log = log
        self.health = health
    }
}
