/// The names of pushfan's topics.
public struct Topics: Sendable, Equatable {
    /// The topic that requests come from.
    public var requests: String
    /// The topic that urgent requests come from.
    public var requestsHigh: String
    /// The topic from which requests come that go to many.
    public var requestsBulk: String
    /// The topic from which requests come that pushfan itself writes: parts of large ones, and replays. No one else may write
    /// there.
    public var requestsOwn: String
    /// The topics in which requests wait that must not be sent yet, one for each length of `DelayLanes`. Empty to let them
    /// wait in memory.
    public var delays: [String]
    /// The topic that final results go to.
    public var results: String
    /// The topic that records go to that cannot be understood.
    public var deadLetters: String
    /// The topic from which workers get orders about requests, such as to cancel one.
    public var control: String
    /// The topic in which large requests are kept until their parts have ended.
    public var parents: String
    /// The topic in which requests with ordering keys wait that must not be sent yet, and those behind them.
    public var held: String
    /// The topic in which devices are listed whose handles are dead.
    public var handles: String
    /// The topic in which workers agree on what is theirs of a hub's rate.
    public var shares: String
    /// The topic in which gateways keep the texts of secure push, encrypted. Workers do not use it.
    public var secure: String
    /// The topic in which replays, and the collecting of dead handles, keep how far they are. Workers do not use it.
    public var replays: String
    /// The topic in which each worker reports once a second what it knows of itself.
    public var status: String
    /// The topic in which gateways keep the figures of the last hours. Workers do not use it.
    public var history: String
    /// The topic in which receivers of callbacks are paused, and noted as disabled. Workers do not use it, nor the next two.
    public var callbacks: String
    /// The topic that results go to which a receiver did not take.
    public var callbackDeadLetters: String
    /// The topic of results that are sent to a receiver once more.
    public var callbackReplays: String

    /// The default names (page Requests).
    public init() { self.init(requests: "push.requests.v1") }

    /// Names that belong to that of the requests: `push.requests.v1` gives `push.requests-high.v1`, `push.results.v1` and so on.
    public init(requests: String) {
        let family = TopicFamily(requests: requests)
        self.requests = requests
        requestsHigh = family.lane("high")
        requestsBulk = family.lane("bulk")
        requestsOwn = family.lane("own")
        delays = DelayLanes.names.map { family.topic("delay-\($0)") }
        results = family.topic("results")
        deadLetters = family.topic("deadletter")
        control = family.topic("control")
        parents = family.topic("parents")
        held = family.topic("held")
        handles = family.topic("handles")
        shares = family.topic("shares")
        secure = family.topic("secure")
        replays = family.topic("replays")
        status = family.topic("status")
        history = family.topic("history")
        callbacks = family.topic("callbacks")
        callbackDeadLetters = family.topic("callbacks.deadletter")
        callbackReplays = family.topic("callbacks.replay")
    }

    /// The topic of a lane.
    public func requests(of lane: Lane) -> String {
        switch lane {
        case .high: requestsHigh
        case .normal: requests
        case .bulk: requestsBulk
        case .own: requestsOwn
        }
    }

    /// The lane that a topic is, or nil for one that is none.
    public func lane(of topic: String) -> Lane? { Lane.allCases.first { requests(of: $0) == topic } }

    /// The lanes that publishers write to. What waits for its key in our own lane, which replays alone do, waits in memory.
    public static let heldLanes = 3

    /// The number of partitions that a topic gets where those of requests have `count`: that of held requests has one for
    /// each of a publisher's lanes.
    public func partitionCount(of topic: String, requests count: Int) -> Int {
        topic == held ? count * Self.heldLanes : count
    }

    /// The topics that the members of a group share out among them.
    public var shared: [String] { Lane.allCases.map { requests(of: $0) } + delays + [parents] }

    /// Every topic that a worker reads or writes, each once.
    public var all: [String] {
        [requestsHigh, requests, requestsBulk, requestsOwn] + delays + [
            parents, held, results, deadLetters, control, handles, shares, status,
        ]
    }
}

/// The topics that belong to a topic of requests, by their names: so that whoever gives that one a name of its own has the others to
/// himself as well.
public struct TopicFamily: Sendable {
    private let stem: Substring
    /// The text before the role of a topic that is not one of requests.
    private let prefix: Substring
    private let version: Substring

    /// The family of the topic `requests`.
    public init(requests: String) {
        let digitCount = requests.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let hasVersion = digitCount > 0 && requests.dropLast(digitCount).hasSuffix(".v")
        version = hasVersion ? requests.suffix(digitCount + 2) : ""
        stem = requests.dropLast(version.count)
        prefix = stem.hasSuffix("requests") ? stem.dropLast("requests".count) : stem + "."
    }

    /// The topic of another lane of requests: `push.requests-high.v1` beside `push.requests.v1`.
    public func lane(_ name: String) -> String { "\(stem)-\(name)\(version)" }

    /// A topic that holds something else: `push.delay-10s.v1` beside `push.requests.v1`.
    public func topic(_ role: String) -> String { "\(prefix)\(role)\(version)" }
}
