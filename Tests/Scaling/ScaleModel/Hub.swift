/// The behaviour of the hub in one second.
package struct HubCondition: Sendable, Equatable {
    /// Seconds that a call takes.
    package var callSeconds = 0.1
    package var isOut = false
    /// True if another hub keeps workers ready while this one is out.
    package var hasOther = false
    /// Calls a second beyond which it answers 429.
    package var ceiling = Double.infinity
    /// Calls a second that all workers together may make (`hub.rate_limit`).
    package var rate = Double.infinity

    package init() {}
}
