import Basics
import Delivery
import EventLoop

/// The descriptors that one loop waits for: its own wake-ups, and the connections that are added to `poller`.
struct EventSources {
    /// A reason to turn. The signals of a wake-up are taken with it.
    enum Event: Equatable {
        /// The committer or another thread has something for the loop.
        case wakeUp
        /// The consumer has an event.
        case consumer
        /// Records may have arrived in partitions of requests, of the lane of this number.
        case lane(Int)
        /// Records may have arrived in partitions that the reader of delay lanes has.
        case reader
        /// A connection for error details is ready.
        case details(Poller.Event)
        /// A connection to the hub of this number is ready.
        case hub(Int, Poller.Event)
    }

    let poller: Poller
    let wakeUp: WakeUp
    let consumer: WakeUp
    /// Those of the partitions of requests, by lane.
    let lanes: [WakeUp]
    let reader: WakeUp

    /// The sources of a loop that `wakeUp` wakes from other threads. Throws when the process has no descriptor left.
    init(wakeUp: WakeUp) throws(SystemCallError) {
        poller = try Poller()
        self.wakeUp = wakeUp
        consumer = try WakeUp()
        lanes = try Lane.allCases.map { _ throws(SystemCallError) in try WakeUp() }
        reader = try WakeUp()
        try watch(wakeUp, token: LoopToken.wakeUp)
        try watch(consumer, token: LoopToken.kafka)
        try watch(reader, token: LoopToken.delayed)
        for lane in Lane.allCases { try watch(lanes[lane.rawValue], token: LoopToken.of(lane)) }
    }

    private func watch(_ source: WakeUp, token: UInt64) throws(SystemCallError) {
        try poller.add(source.fileDescriptor, token: token, interest: .readable)
    }

    /// Waits for an event until `deadline`, as `Poller` does. Each is taken by its index before the next wait.
    func wait(until deadline: MonotonicTime) throws(SystemCallError) -> Range<Int> { try poller.wait(until: deadline) }

    /// Takes the event at an index that the last wait returned.
    func takeEvent(at index: Int) -> Event {
        let event = poller[index]
        return switch event.token {
        case LoopToken.wakeUp: drain(wakeUp, for: .wakeUp)
        case LoopToken.kafka: drain(consumer, for: .consumer)
        case LoopToken.delayed: drain(reader, for: .reader)
        case LoopToken.firstLane...LoopToken.lastLane: drainLane(Int(event.token - LoopToken.firstLane))
        case LoopToken.details..<LoopToken.wakeUp: .details(event)
        default: .hub(Int(event.token >> 32), event)
        }
    }

    private func drainLane(_ lane: Int) -> Event { drain(lanes[lane], for: .lane(lane)) }

    private func drain(_ source: WakeUp, for event: Event) -> Event {
        source.drain()
        return event
    }
}
