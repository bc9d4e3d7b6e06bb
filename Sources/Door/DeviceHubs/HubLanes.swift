package import Basics
package import Dispatch
import EventLoop
import GatewayAPI
import Synchronization

/// A few threads that call one hub first, each with connections of its own. Of the work for one id one piece is done at a time, that of
/// one party in the order in which it was given. Parties take turns.
package final class HubLanes: Sendable {
    /// Uses the hub and waits for its answers.
    package typealias Work = @Sendable (HubCaller) -> Void

    /// The most lanes of one hub.
    package static let count = 4
    /// The lanes of each of so many hubs: with many there are fewer of each.
    static func count(of hubs: Int) -> Int { hubs > count ? 2 : count }

    /// How much work may wait in one lane: at 5 ms for a call, some 2 s of it.
    package static let limit = 256
    /// The longest time that work waits for its turn, nanoseconds. After it each of its calls fails as one that the gateway holds back.
    static let patience: Int64 = 2_000_000_000

    private let lanes: [HubLane]
    private let reach: HubReach
    /// The holder of the places that its work takes, or nil for the gateway itself.
    private let claimant: String?

    /// Makes lanes whose threads do not run yet. Work waits until they do, at most `limit` pieces in each lane.
    package init(
        count: Int = HubLanes.count, limit: Int = HubLanes.limit, home: Int = 0,
        now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() }, makeCaller: () throws -> HubCaller
    ) throws {
        lanes = try (0..<count).map { _ in HubLane(try makeCaller(), limit: limit, now: now) }
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
        lanes[Int(UInt(bitPattern: id.hashValue) % UInt(lanes.count))].put(work, of: claimant, at: reach)
    }

    /// Drops the work that waits. None begins from now on.
    func close() {
        for lane in lanes { lane.close() }
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
    private struct Piece: Sendable {
        let holder: String?
        let reach: HubReach
        let work: HubLanes.Work
        let putAt: MonotonicTime

        /// The name by which its holder takes turns. The gateway itself has one as well.
        var turn: String { holder ?? "" }
    }

    private struct State {
        var shares: Shares<String>
        /// One piece of each holder is in line, which the shares bound.
        var turns = UserTurns<Piece>(lineLimit: 1, userLimit: .max, limit: .max)
        var isClosed = false
    }

    private let caller: HubCaller
    private let line = BoundedQueue<Piece>(limit: .max)
    /// No other lock is taken while it is held.
    private let state: Mutex<State>
    private let now: @Sendable () -> MonotonicTime
    let thread = ServiceThread()

    init(_ caller: HubCaller, limit: Int, now: @escaping @Sendable () -> MonotonicTime) {
        (self.caller, self.now) = (caller, now)
        state = Mutex(State(shares: Shares(places: limit, part: 2)))
    }

    func put(_ work: @escaping HubLanes.Work, of holder: String?, at reach: HubReach) -> Bool {
        let piece = Piece(holder: holder, reach: reach, work: work, putAt: now())
        let admission = state.withLock { state -> UserTurns<Piece>.Admission in
            guard !state.isClosed, state.shares.take(for: holder) else { return .refusedToUser }
            return state.turns.add(piece, of: piece.turn)
        }
        return switch admission {
        case .inLine: line.put(piece)
        case .kept: true
        case .refusedToUser, .refusedToAll: false
        }
    }

    func close() {
        // Returned, so that what it holds ends outside the lock.
        _ = state.withLock { state -> UserTurns<Piece> in
            defer { state.turns = UserTurns(lineLimit: 1, userLimit: .max, limit: .max) }
            state.isClosed = true
            return state.turns
        }
        line.close()
    }

    func start(name: String) {
        thread.start(named: name) { [self] in
            while let piece = line.take() {
                state.withLock { $0.shares.give(of: piece.holder) }
                let isLate = now().nanoseconds(since: piece.putAt) > HubLanes.patience
                caller.begin(at: piece.reach, refusing: isLate ? .held(for: 1000) : nil)
                piece.work(caller)
                if let next = state.withLock({ $0.turns.finish(of: piece.turn) }) { _ = line.put(next) }
            }
        }
    }
}
