import Basics
package import Dispatch
import EventLoop
import GatewayAPI
import Synchronization

/// A few threads that call one hub first, each with connections of its own. Work for one id is done in the order in which it was given.
package final class HubLanes: Sendable {
    /// Uses the hub and waits for its answers.
    package typealias Work = @Sendable (HubCaller) -> Void

    /// The most lanes of one hub.
    package static let count = 4
    /// How much work may wait in one lane: at 5 ms for a call, some 2 s of it.
    package static let limit = 256

    private let lanes: [HubLane]
    private let reach: HubReach
    /// The holder of the places that its work takes, or nil for the gateway itself.
    private let claimant: String?

    /// Makes lanes whose threads do not run yet. Work waits until they do, at most `limit` pieces in each lane.
    package init(
        count: Int = HubLanes.count, limit: Int = HubLanes.limit, home: Int = 0, makeCaller: () throws -> HubCaller
    ) throws {
        lanes = try (0..<count).map { _ in HubLane(try makeCaller(), limit: limit) }
        (reach, claimant) = (HubReach(home: home), nil)
    }

    /// The lanes of several hubs as those of one.
    convenience init(of hubs: [HubLanes]) {
        self.init(hubs.flatMap(\.lanes), reach: hubs.first?.reach ?? HubReach(home: 0), claimant: nil)
    }

    private init(_ lanes: [HubLane], reach: HubReach, claimant: String?) {
        (self.lanes, self.reach, self.claimant) = (lanes, reach, claimant)
    }

    /// The same lanes, whose work is done at other hubs, and holds its places for a party. Of each lane one holder has half at most.
    func lanes(to reach: HubReach, for claimant: String?) -> HubLanes { HubLanes(lanes, reach: reach, claimant: claimant) }

    /// Starts the threads; they hold their lanes until ``stop()``.
    package func start() {
        for (index, lane) in lanes.enumerated() { lane.start(name: "pushfan-hub-\(index + 1)") }
    }

    /// Gives work to the lane of an id. Never waits. Returns false when the lane is full, or its holder has its share of it, or it has ended:
    /// `work` is never called then.
    package func put(for id: String, work: @escaping Work) -> Bool {
        let lane = lanes[Int(UInt(bitPattern: id.hashValue) % UInt(lanes.count))]
        return lane.put(claimant) { [reach] caller in
            caller.begin(at: reach)
            work(caller)
        }
    }

    /// Drops the work that waits. None begins from now on.
    func close() {
        for lane in lanes { lane.queue.close() }
    }

    /// Ends the threads, and waits for the calls in flight, up to 1 s unless another moment is given. Work that waits is dropped.
    package func stop(until deadline: DispatchTime = .now() + .seconds(1)) {
        close()
        for lane in lanes { lane.thread.waitForEnd(until: deadline) }
    }
}

/// One thread and what waits for it.
///
/// `@unchecked Sendable`: `caller` is made before the thread is, and only the thread that ``start(name:)`` makes touches it; that is
/// called once. Everything else is Sendable by itself.
private final class HubLane: @unchecked Sendable {
    private let caller: HubCaller
    let queue: BoundedQueue<(holder: String?, work: HubLanes.Work)>
    /// No other lock is taken while it is held.
    private let shares: Mutex<Shares<String>>
    let thread = ServiceThread()

    init(_ caller: HubCaller, limit: Int) {
        self.caller = caller
        queue = BoundedQueue(limit: limit)
        shares = Mutex(Shares(places: limit, part: 2))
    }

    func put(_ holder: String?, work: @escaping HubLanes.Work) -> Bool {
        guard shares.withLock({ $0.take(for: holder) }) else { return false }
        if queue.put((holder, work)) { return true }
        shares.withLock { $0.give(of: holder) }
        return false
    }

    func start(name: String) {
        thread.start(named: name) { [self] in
            while let (holder, work) = queue.take() {
                shares.withLock { $0.give(of: holder) }
                work(caller)
            }
        }
    }
}
