import GatewayAPI
import Synchronization

/// What a stream of events was sent.
package final class ManualSink: EventSink {
    private struct State {
        var text = ""
        var isEnded = false
        var isGone = false
    }

    private let state = Mutex(State())

    package init() {}

    package var text: String { state.withLock { $0.text } }
    package var isEnded: Bool { state.withLock { $0.isEnded } }

    /// From now on nobody reads.
    package func leave() { state.withLock { $0.isGone = true } }

    package func write(_ bytes: [UInt8]) -> Bool {
        state.withLock { state -> Bool in
            guard !state.isGone, !state.isEnded else { return false }
            state.text += String(decoding: bytes, as: UTF8.self)
            return true
        }
    }

    package func end() { state.withLock { $0.isEnded = true } }
}
