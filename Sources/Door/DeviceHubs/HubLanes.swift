import Dispatch
import EventLoop
import GatewayAPI

/// A few threads that call the hub, each with connections of its own. Work for one id is done in the order in which it was given.
package final class HubLanes: Sendable {
    /// Uses the hub and waits for its answers.
    package typealias Work = @Sendable (HubCaller) -> Void

    /// The number of lanes.
    package static let count = 4
    /// How much work may wait in one lane: at 5 ms for a call, some 2 s of it.
    static let limit = 256

    private let lanes: [HubLane]

    /// Makes lanes whose threads do not run yet. Work waits until they do, at most `limit` pieces in each lane.
    package init(limit: Int = HubLanes.limit, makeCaller: () throws -> HubCaller) throws {
        lanes = try (0..<Self.count).map { _ in HubLane(try makeCaller(), limit: limit) }
    }

    /// Starts the threads; they hold their lanes until ``stop()``.
    package func start() {
        for (index, lane) in lanes.enumerated() { lane.start(name: "pushfan-hub-\(index + 1)") }
    }

    /// Gives work to the lane of an id. Never waits. Returns false when the lane is full or has ended: `work` is never called
    /// then.
    package func put(for id: String, work: @escaping Work) -> Bool {
        lanes[Int(UInt(bitPattern: id.hashValue) % UInt(lanes.count))].queue.put(work)
    }

    /// Ends the threads, and waits up to 1 s for the calls in flight; work that waits is dropped.
    package func stop() {
        let deadline = DispatchTime.now() + .seconds(1)
        for lane in lanes { lane.queue.close() }
        for lane in lanes { lane.thread.waitForEnd(until: deadline) }
    }
}

/// One thread and what waits for it.
///
/// `@unchecked Sendable`: `caller` is made before the thread is, and only the thread that ``start(name:)`` makes touches it; that is
/// called once. Everything else is Sendable by itself.
private final class HubLane: @unchecked Sendable {
    private let caller: HubCaller
    let queue: BoundedQueue<HubLanes.Work>
    let thread = ServiceThread()

    init(_ caller: HubCaller, limit: Int) {
        self.caller = caller
        queue = BoundedQueue(limit: limit)
    }

    func start(name: String) {
        thread.start(named: name) { [self] in
            while let work = queue.take() { work(caller) }
        }
    }
}
