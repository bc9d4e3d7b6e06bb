/// What a stream of events is written to: the body of an answer. It may be used from any thread, and waits for nothing.
package protocol EventSink: Sendable {
    /// Sends bytes; returns false once the client has gone, or reads too slowly.
    @discardableResult func write(_ bytes: [UInt8]) -> Bool
    /// The bytes that were written and not taken yet.
    var pendingByteCount: Int { get }
    /// Ends the body behind what was written.
    func end()
}

/// Begins an answer whose body is written later by the sink that it returns. `onEnd` is called once, when the client has gone or
/// the body has ended, and not before this returns.
package typealias EventStreaming = @Sendable (_ head: APIAnswer, _ onEnd: @escaping @Sendable () -> Void) -> any EventSink
