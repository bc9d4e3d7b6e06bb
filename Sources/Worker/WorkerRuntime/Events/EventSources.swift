import Basics
import EventLoop

/// The descriptors that one loop waits for: its own wake-ups and pipes, and the connections that are added to `poller`.
struct EventSources {
    /// A reason to turn. The signals of a wake-up are taken with it, those of partitions by whoever has these.
    enum Event: Equatable {
        /// The committer or another thread has something for the loop.
        case wakeUp
        /// The consumer has an event.
        case consumer
        /// Records may have arrived in partitions of requests. `requests` says in which.
        case requests
        /// Records may have arrived in partitions that the reader of delay lanes has. `reader` says in which.
        case reader
        /// A connection for error details is ready.
        case details(Poller.Event)
        /// A connection to the hub of this number is ready.
        case hub(Int, Poller.Event)
    }

    let poller: Poller
    let wakeUp: WakeUp
    let consumer: WakeUp
    /// The slots of the consumer in which records have arrived.
    let requests: NumberPipe
    /// The slots of the reader of delay lanes in which records have arrived.
    let reader: NumberPipe

    /// The sources of a loop that `wakeUp` wakes from other threads. Throws when the process has no descriptor left.
    init(wakeUp: WakeUp) throws(SystemCallError) {
        poller = try Poller()
        self.wakeUp = wakeUp
        consumer = try WakeUp()
        requests = try NumberPipe()
        reader = try NumberPipe()
        try watch(wakeUp.fileDescriptor, token: LoopToken.wakeUp)
        try watch(consumer.fileDescriptor, token: LoopToken.kafka)
        try watch(requests.fileDescriptor, token: LoopToken.requests)
        try watch(reader.fileDescriptor, token: LoopToken.reader)
    }

    private func watch(_ descriptor: Int32, token: UInt64) throws(SystemCallError) {
        try poller.add(descriptor, token: token, interest: .readable)
    }

    /// Waits for an event until `deadline`, as `Poller` does. Each is taken by its index before the next wait.
    func wait(until deadline: MonotonicTime) throws(SystemCallError) -> Range<Int> { try poller.wait(until: deadline) }

    /// Takes the event at an index that the last wait returned.
    func takeEvent(at index: Int) -> Event {
        let event = poller[index]
        return switch event.token {
        case LoopToken.wakeUp: drain(wakeUp, for: .wakeUp)
        case LoopToken.kafka: drain(consumer, for: .consumer)
        case LoopToken.requests: .requests
        case LoopToken.reader: .reader
        case LoopToken.details..<LoopToken.wakeUp: .details(event)
        default: .hub(Int(event.token >> 32), event)
        }
    }

    private func drain(_ source: WakeUp, for event: Event) -> Event {
        source.drain()
        return event
    }
}
