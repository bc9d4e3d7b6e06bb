import GatewayAPI
import Synchronization

/// What a stream of events was sent.
package final class ManualSink: EventSink {
    private struct State {
        var text = ""
        var isEnded = false
        var isGone = false
        var takenCount: Int?
    }

    private let state = Mutex(State())

    package init() {}

    package var text: String { state.withLock { $0.text } }
    package var isEnded: Bool { state.withLock { $0.isEnded } }

    /// From now on nobody reads.
    package func leave() { state.withLock { $0.isGone = true } }

    /// The bytes that are not taken. None, unless a test says how many were.
    package var pendingByteCount: Int { state.withLock { $0.text.utf8.count - ($0.takenCount ?? $0.text.utf8.count) } }

    /// Takes only so many bytes of all, or all.
    package func take(_ count: Int?) { state.withLock { $0.takenCount = count } }

    package func write(_ bytes: [UInt8]) -> Bool {
        state.withLock { state -> Bool in
            guard !state.isGone, !state.isEnded else { return false }
            state.text += String(decoding: bytes, as: UTF8.self)
            return true
        }
    }

    package func end() { state.withLock { $0.isEnded = true } }
}
