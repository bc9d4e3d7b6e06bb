import HubServer
public import HTTPServing

/// One call of the hub's API, as it was received and answered.
public struct RecordedCall: Sendable {
    /// Counts the calls in the order of their arrival, from 1.
    public let id: Int
    /// The arrival, in milliseconds since 1970.
    public let at: Int64
    /// The method as sent.
    public let method: String
    /// Path and query as sent.
    public let target: String
    /// `send`, `send.batch`, `schedule`, `installation.put` and so on, `probe` for a health probe of the hub, and `unknown` for
    /// any other call.
    public internal(set) var operation: StaticString
    /// True if the call had to send a notification.
    public internal(set) var isSend = false
    /// The format header.
    public let format: String?
    /// The tags header, or `nil` for a broadcast.
    public let tags: String?
    /// The device handle of a direct send.
    public let handle: String?
    /// The peer, as `address:port`.
    public let client: String
    /// The status of the answer, or 0 when no answer was sent.
    public internal(set) var status = 0
    /// True if the hub performed the call. A fault may have hidden the answer.
    public internal(set) var isAccepted = false
    /// The id of the accepted notification.
    public internal(set) var notificationID: String?
    /// On how many devices it rang at once.
    public internal(set) var rungCount = 0
    /// The rule of a push service that it breaks, as a sentence. The devices that the rule is for did not ring.
    public internal(set) var brokenRule: String?
    /// The scripted fault that met it.
    public internal(set) var fault: String?
    /// The key by which the notification replaces another on the same device. Only equality counts.
    public internal(set) var collapseKey: String?
    /// The header fields without `Authorization`, dropped from all but the newest calls.
    public internal(set) var headers: HTTPFields
    /// The body, dropped like the headers.
    public internal(set) var body: [UInt8]
}

/// The newest calls, in the order of their ids. Only the newest among them have headers and bodies.
struct CallLog: Sendable {
    private var calls: NewestValues<RecordedCall>
    private let detailedCount: Int
    /// The number of all calls since the start, which is the id of the newest.
    private(set) var lastID = 0

    /// - Parameters:
    ///   - capacity: Calls that are kept.
    ///   - detailedCount: The number of calls that keep their headers and bodies.
    init(capacity: Int, detailedCount: Int) {
        calls = NewestValues(capacity: capacity)
        self.detailedCount = detailedCount
    }

    /// The id for a call that has just arrived.
    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func append(_ call: RecordedCall) {
        // A call that arrived earlier may be recorded later, if it was answered by another thread.
        calls.insert(call) { $0.id < $1.id }
        let fading = calls.count - detailedCount - 1
        if fading >= 0 {
            calls[fading].headers = [:]
            calls[fading].body = []
        }
    }

    /// A page of the calls with ids over `after`, at most `limit`, and the id that the next page comes after if there is one.
    func page(after: Int, limit: Int) -> (page: [RecordedCall], next: Int?) {
        let start = calls.firstPosition { $0.id > after }
        let end = start + min(limit, calls.count - start)
        let page = (start..<end).map { calls[$0] }
        return (page, end < calls.count ? page.last?.id : nil)
    }

    mutating func reset() { calls.removeAll() }

    var count: Int { calls.count }
}
