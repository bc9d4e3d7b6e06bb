public import PushModel

/// A hub call whose outcome is followed: the value of the record that waits in a delay lane until the hub must be polled.
///
/// The text is a JSON object with short names, so that a person can read it as well. Its member `call` never changes, and has in `head`
/// and `tail` the members that the outcome result begins and ends with, as they are. The others say how far the polls are.
public struct TrackedCall: Sendable {
    /// The reason why a text is no call: another program wrote it, or another version did.
    public struct Malformed: Error, Sendable, Equatable {
        /// There is nothing more to say.
        public init() {}
    }

    /// The most bytes that are read: all that a request can say of itself, and room for the rest.
    public static let maximumByteCount = 1 << 20

    /// The progress of the polls.
    public var tracking: OutcomeTracking
    /// The call's index in its request's plan.
    public let index: Int
    /// The calls of that plan.
    public let plannedCount: Int
    /// The attempts that were made of the call.
    public let attemptCount: Int
    /// The moment at which its request was published.
    public let publishedAt: Timestamp

    private var document = JSONDocument()
    private let call, head, tail: JSONDocument.Node
    private let ids: (result: JSONDocument.Text, request: JSONDocument.Text, notification: JSONDocument.Text)
    private let platformText: JSONDocument.Text
    private let traceText: JSONDocument.Text?

    /// Reads the value of a record.
    ///
    /// - Parameter value: What `append` wrote.
    /// - Throws: `Malformed`.
    public init(_ value: Span<UInt8>) throws(Malformed) {
        guard value.count <= Self.maximumByteCount else { throw Malformed() }
        do { try document.read(value) } catch { throw Malformed() }
        let fields = Fields(document)
        let root = document.root
        guard document.kind(of: root) == .object, document.integer("v", of: root, within: 1...1) != nil,
            let polls = document.integer("polls", of: root, within: 0...1_000_000),
            let call = document.member("call", of: root),
            let head = document.member("head", of: call), document.kind(of: head) == .object,
            let tail = document.member("tail", of: call), document.kind(of: tail) == .object,
            let index = document.integer("index", of: call, within: 0...1_000_000),
            let planned = document.integer("planned", of: call, within: 1...1_000_000),
            let attempts = document.integer("attempts", of: call, within: 0...1_000_000),
            let published = document.integer("published", of: call), let accepted = document.integer("accepted", of: call),
            let result = fields.text("id", of: call, lengths: 1...128),
            let request = fields.text("request_id", of: head, lengths: 1...128),
            let platform = fields.text("platform", of: call, lengths: 1...64),
            document.member("origin", of: tail) != nil
        else { throw Malformed() }
        (self.call, self.head, self.tail) = (call, head, tail)
        ids = (result, request, fields.text("notification", of: call, lengths: 1...256) ?? .none)
        platformText = platform
        traceText = fields.text("trace", of: call, lengths: 55...55)
        self.index = Int(index)
        plannedCount = Int(planned)
        attemptCount = Int(attempts)
        publishedAt = Timestamp(milliseconds: published)
        tracking = OutcomeTracking(
            acceptedAt: Timestamp(milliseconds: accepted), pollCount: Int(polls),
            telemetry: try fields.telemetry(of: root),
            wasAnswered: document.isTrue("answered", of: root))
    }

    /// The id of the result that will tell the outcome.
    public var resultID: Span<UInt8> { @_lifetime(borrow self) get { document.span(ids.result) } }
    /// The id of the request.
    public var requestID: Span<UInt8> { @_lifetime(borrow self) get { document.span(ids.request) } }
    /// The id under which the hub's telemetry knows the notification, empty when the hub gave none.
    public var notificationID: Span<UInt8> { @_lifetime(borrow self) get { document.span(ids.notification) } }
    /// The platform's word, or `template` for a call for all.
    public var platform: Span<UInt8> { @_lifetime(borrow self) get { document.span(platformText) } }
    /// The name of the hub that has accepted it, empty when the record does not say.
    public var hubText: String {
        document.text("hub", of: head) ?? ""
    }
    /// The id of the request, for messages.
    public var requestText: String { document.string(ids.request) }
    /// The request's trace context (W3C `traceparent`), if it has one.
    public var traceParent: [UInt8]? {
        guard let traceText else { return nil }
        let text = document.span(traceText)
        return text.indices.map { text[$0] }
    }

    /// The members that the outcome result begins with, without the braces.
    var headMembers: Span<UInt8> { @_lifetime(borrow self) get { Self.inside(document.span(document.text(of: head))) } }
    /// The members that it ends with.
    var tailMembers: Span<UInt8> { @_lifetime(borrow self) get { Self.inside(document.span(document.text(of: tail))) } }

    /// Appends the call with what is known of it now, for the next record.
    public func append(to json: inout ByteWriter) {
        json.append("{\"v\":1,\"polls\":", decimal: tracking.pollCount)
        if tracking.wasAnswered { json.append(",\"answered\":true") }
        if let telemetry = tracking.telemetry {
            json.append(",\"state\":", json: telemetry.state?.word ?? "")
            json.append(",\"counts\":[")
            json.append(list: telemetry.counts) { json, count in
                json.append("[", json: count.platform)
                json.append(",", json: count.outcome.word)
                json.append(",", decimal: count.count)
                json.append("]")
            }
            json.append("]")
        }
        json.append(",\"call\":", verbatim: call, in: document)
        json.append("}")
    }

    @_lifetime(copy object)
    private static func inside(_ object: Span<UInt8>) -> Span<UInt8> { object.extracting(1..<object.count - 1) }
}

/// Reads members of a call's text.
private struct Fields {
    private let document: JSONDocument

    init(_ document: JSONDocument) { self.document = document }

    func text(_ name: StaticString, of node: JSONDocument.Node, lengths: ClosedRange<Int>) -> JSONDocument.Text? {
        guard let member = document.member(name, of: node) else { return nil }
        return text(at: member, lengths: lengths)
    }

    /// The last telemetry, or nil when the hub has said nothing.
    func telemetry(of node: JSONDocument.Node) throws(TrackedCall.Malformed) -> NotificationTelemetry? {
        guard let state = document.member("state", of: node) else { return nil }
        guard let word = text(at: state, lengths: 0...64), let list = document.member("counts", of: node),
            document.kind(of: list) == .array, document.childCount(of: list) <= 512
        else { throw TrackedCall.Malformed() }
        var telemetry = NotificationTelemetry()
        if !word.isEmpty { telemetry.state = NotificationState(word: document.string(word)) }
        try document.forEachElement(of: list) { (entry) throws(TrackedCall.Malformed) in
            telemetry.counts.append(try count(entry))
        }
        return telemetry
    }

    private func count(_ entry: JSONDocument.Node) throws(TrackedCall.Malformed) -> NotificationTelemetry.Count {
        guard document.kind(of: entry) == .array, document.childCount(of: entry) == 3,
            let first = document.firstChild(of: entry), let platform = text(at: first, lengths: 1...64),
            let word = text(at: document.next(after: first), lengths: 1...64),
            let count = document.integer(at: document.next(after: document.next(after: first))), count >= 0
        else { throw TrackedCall.Malformed() }
        return NotificationTelemetry.Count(
            platform: document.string(platform), outcome: PNSOutcome(word: document.string(word)), count: Int(count))
    }

    private func text(at node: JSONDocument.Node, lengths: ClosedRange<Int>) -> JSONDocument.Text? {
        guard document.kind(of: node) == .string else { return nil }
        let text = document.text(of: node)
        return lengths.contains(text.count) ? text : nil
    }
}
