import Basics

/// A call that waits. It is not removed when what it waits for goes away. The generation shows the owner that it is stale.
struct WaitingCall {
    var call: CallID
    var generation: UInt32
}

extension MomentHeap where Moment == MonotonicTime, Element == WaitingCall {
    /// The end of the first wait of each of some flights, monotonic nanoseconds. The flights' generations are given by
    /// their indices.
    func firstDue(of generations: [Int: UInt32]) -> [Int: MonotonicTime] {
        var due: [Int: MonotonicTime] = [:]
        for entry in entries where generations[entry.element.call.flight] == entry.element.generation {
            due[entry.element.call.flight] = min(due[entry.element.call.flight] ?? .never, entry.due)
        }
        return due
    }
}

/// Calls that wait for their turn.
extension FIFO where Element == WaitingCall {
    mutating func append(_ call: CallID, generation: UInt32) {
        append(WaitingCall(call: call, generation: generation))
    }

    /// Takes out the calls that are not wanted any more. The others keep their order.
    mutating func removeAll(unless isWanted: (CallID, UInt32) -> Bool) {
        removeAll(where: { !isWanted($0.call, $0.generation) })
    }
}
