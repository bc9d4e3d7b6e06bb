import Basics

/// A call that waits. It is not removed when what it waits for goes away. The generation shows the owner that it is stale.
struct WaitingCall {
    /// The index of its flight in the pool.
    var flight: Int
    var call: Int
    var generation: UInt32
}

extension WaitingCall {
    init(_ flight: Flight, call: Int) { self.init(flight: flight.index, call: call, generation: flight.generation) }
}

extension MomentHeap where Moment == MonotonicTime, Element == WaitingCall {
    /// The end of the first wait of each of some flights, monotonic nanoseconds. The flights' generations are given by
    /// their indices.
    func firstDue(of generations: [Int: UInt32]) -> [Int: MonotonicTime] {
        var due: [Int: MonotonicTime] = [:]
        for (moment, call) in entries where generations[call.flight] == call.generation {
            due[call.flight] = min(due[call.flight] ?? .never, moment)
        }
        return due
    }
}
