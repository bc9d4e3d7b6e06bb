/// The lanes of requests, each a topic of its own, the most urgent first. They share the worker by weight.
public enum Lane: Int, Sendable, CaseIterable {
    /// The requests that a person is waiting for.
    case high
    /// Everything else.
    case normal
    /// The requests that go to many.
    case bulk
    /// The requests that pushfan writes itself, on a topic that publishers have no right to write to: parts of large requests,
    /// and replays.
    case own

    /// The lane's word, in headers and settings.
    public var name: String {
        switch self {
        case .high: "high"
        case .normal: "normal"
        case .bulk: "bulk"
        case .own: "own"
        }
    }
}

/// The shares of the lanes in the worker while more than one has requests: a lane's part is its weight among those that have
/// some.
public struct LaneWeights: Sendable, Equatable {
    /// The weight of `high`, 1 – 1,000, default 8.
    public var high = 8
    /// The weight of `normal`, 1 – 1,000, default 4.
    public var normal = 4
    /// The weight of `bulk`, 1 – 1,000, default 1.
    public var bulk = 1

    /// The weight of `own`, 1 – 1,000, default 1.
    public var own = 1

    /// The defaults, 8 : 4 : 1 : 1.
    public init() {}

    /// The weights in the lanes' order.
    public var all: [Int] { Lane.allCases.map { self[$0] } }

    private subscript(lane: Lane) -> Int {
        switch lane {
        case .high: high
        case .normal: normal
        case .bulk: bulk
        case .own: own
        }
    }
}
