public import PushModel

/// Where a record stands on the requests topic.
public struct Place: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The partition's number.
    public var partition: Int32
    /// The record's offset.
    public var offset: Int64
    /// Whether it is a replay, which stands on a topic of its own.
    public var isReplay: Bool

    /// The record at `offset` of `partition`.
    public init(_ partition: Int32, _ offset: Int64, isReplay: Bool = false) {
        self.partition = partition
        self.offset = offset
        self.isReplay = isReplay
    }

    /// `partition:offset`.
    public var description: String { "\(isReplay ? "replay " : "")\(partition):\(offset)" }

    /// In the order of the partitions, and there of the offsets.
    public static func < (left: Place, right: Place) -> Bool {
        (left.isReplay ? 1 : 0, left.partition, left.offset) < (right.isReplay ? 1 : 0, right.partition, right.offset)
    }
}

/// One record of the requests topic, as it stands there.
public struct InputFact: Sendable {
    /// What the record is.
    public enum Content: Sendable, Equatable {
        /// A request for the user of this number; a flawed one must be rejected.
        case request(user: Int, isFlawed: Bool)
        /// A request for many users, which is sent in parts; the users are named after the number.
        case large(number: Int)
        /// Bytes that are no request, by the digest of key and value.
        case unreadable(digest: UInt64)
    }

    /// Where it stands.
    public var place: Place
    /// What it is.
    public var content: Content
    /// When it was published, milliseconds since 1970.
    public var at: Int64

    /// A record of the requests topic.
    public init(_ place: Place, _ content: Content, at: Int64 = 0) {
        self.place = place
        self.content = content
        self.at = at
    }
}

/// One final result, as readers of committed records see it.
public struct ResultFact: Sendable {
    /// One hub call of the request.
    public struct Send: Sendable, Equatable {
        /// Whether the result says that the hub took it.
        public var isSuccess: Bool
        /// The digest of the notification's id.
        public var notification: UInt64?

        /// A hub call that a result tells about.
        public init(isSuccess: Bool, notification: UInt64? = nil) {
            self.isSuccess = isSuccess
            self.notification = notification
        }
    }

    /// The request's record.
    public var origin: Place
    /// The number in the request's id; nil when the id is the record's place.
    public var user: Int?
    /// The name of the worker that wrote it.
    public var worker: String
    /// When it was handed to Kafka, milliseconds since 1970.
    public var at: Int64
    /// Where the request stands.
    public var state: ResultState
    /// What a replay can do; `safe` and `pointless` say that no device was reached.
    public var safety: ReplaySafety
    /// The hub calls.
    public var sends: [Send]
    /// Calls that the hub may have accepted, by what the result itself tells of its attempts.
    public var explainedCalls: Int

    /// A final result.
    public init(
        _ origin: Place, user: Int?, worker: String = "w1", at: Int64 = 0, state: ResultState = .sent,
        safety: ReplaySafety = .duplicateRisk, sends: [Send] = [], explainedCalls: Int = 1
    ) {
        self.origin = origin
        self.user = user
        self.worker = worker
        self.at = at
        self.state = state
        self.safety = safety
        self.sends = sends
        self.explainedCalls = explainedCalls
    }
}

/// One outcome result: what became of a call that the hub had accepted.
public struct OutcomeFact: Sendable {
    /// The call, by its request's record and its index.
    public var call: CallPlace
    /// The digest of the notification's id.
    public var notification: UInt64?
    /// Where the call stands.
    public var state: ResultState

    /// An outcome result.
    public init(_ call: CallPlace, notification: UInt64? = nil, state: ResultState = .sent) {
        self.call = call
        self.notification = notification
        self.state = state
    }
}

/// One call of one request.
public struct CallPlace: Hashable, Sendable {
    /// The request's record.
    public var request: Place
    /// The call's index in the request's plan.
    public var index: Int

    /// The call `index` of a request.
    public init(_ request: Place, _ index: Int) {
        self.request = request
        self.index = index
    }
}

/// One record of the dead-letter topic.
public struct DeadLetterFact: Sendable {
    /// Where its original stands.
    public var origin: Place
    /// The digest of key and value.
    public var digest: UInt64

    /// A dead letter.
    public init(_ origin: Place, digest: UInt64) {
        self.origin = origin
        self.digest = digest
    }
}

/// One call of the hub, as the hub recorded it.
public struct CallFact: Sendable {
    /// The number of the user that it was for; nil when its tags name none of ours.
    public var user: Int?
    /// When the hub decided its answer, milliseconds since 1970.
    public var at: Int64
    /// The answer's status; 0 when there was none.
    public var status: Int
    /// Whether the hub took the notification, whatever became of the answer.
    public var isAccepted: Bool
    /// The digest of the notification's id.
    public var notification: UInt64?
    /// The piece of a large request that it was for.
    public var piece: PieceName?
    /// Whether the second of two hubs recorded it.
    public var isOfSecondHub = false

    /// A recorded call.
    public init(
        user: Int?, at: Int64 = 0, status: Int = 201, isAccepted: Bool = true, notification: UInt64? = nil,
        piece: PieceName? = nil
    ) {
        self.piece = piece
        self.user = user
        self.at = at
        self.status = status
        self.isAccepted = isAccepted
        self.notification = notification
    }
}

/// The FNV-1a hash by which texts and records are compared without keeping them.
public enum Digest {
    /// The digest of some bytes, going on from `start`.
    public static func of(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = start
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    /// The digest of a record: a key that is absent differs from an empty one, and so does a value.
    public static func ofRecord(key: [UInt8]?, value: [UInt8]?) -> UInt64 {
        [key, value].reduce(of([])) { hash, part in
            // The length comes first, so that no byte can move from the key to the value.
            of(part ?? [], after: of("\(part?.count ?? -1):".utf8, after: hash))
        }
    }
}
