public import FanOut
public import PushModel

/// Turns an original request into the requests that repeat some of its sends.
///
/// It reads an original, says which requests to make of it, and writes each. What a request says stays as it was, but for the id, whom it
/// reaches, its lineage and the edits. What stood in headers, or in the envelope of a CloudEvent, moves into the request.
public struct ReplayWriter: Sendable {
    /// The manner that the requests of one job have in common.
    public struct Manner: Sendable, Equatable {
        /// In whose name.
        public var author: ReplayAuthor
        /// The changes to the requests.
        public var edits: [RequestEdit]
        /// The end of their use, or nil for as long as the originals are of use.
        public var expiry: NewExpiry?

        /// The tenant whose originals alone are repeated, whatever their results say, or nil for those of all.
        public var tenant: String?

        /// A manner.
        public init(author: ReplayAuthor, edits: [RequestEdit] = [], expiry: NewExpiry? = nil, tenant: String? = nil) {
            self.author = author
            self.edits = edits
            self.expiry = expiry
            self.tenant = tenant
        }

        /// The words of a lineage about the changes.
        var notes: [String] { edits.map(\.note) + (expiry.map { [$0.note] } ?? []) }
    }

    /// Members that are written new, or not at all. A key against duplicates would keep the repetition from being sent. What repeats a
    /// part of a larger request is none of its parts, whose result is written.
    private static let own = [
        "schema_version", "id", "replay", "audience", "platforms", "ttl_seconds", "expires_at", "dedupe", "parent",
    ]

    /// The manner that the requests of the job have in common.
    public let manner: Manner
    private let planner: FanOutPlanner
    /// An original may be a part or a replay itself. Whether its topic was ours, its result tells.
    private let reader = RequestReader(from: .own)
    private var body: JSONDocument.Node?
    private var parent = Original(at: RecordPlace(topic: "", partition: 0, offset: 0))
    private var check = PushRequest()
    /// After `read`, the original.
    public private(set) var original = PushRequest()
    /// After `read`, the calls that it becomes.
    public private(set) var plan = FanOutPlan()

    /// A writer.
    ///
    /// - Parameters:
    ///   - manner: What the requests have in common.
    ///   - planner: Plans as the workers do.
    public init(_ manner: Manner, planner: FanOutPlanner) {
        self.manner = manner
        self.planner = planner
    }

    /// Reads an original.
    ///
    /// - Parameters:
    ///   - value: The record's value.
    ///   - headers: Its headers.
    ///   - wanted: The request that is wanted again.
    ///   - time: The record's own time, or nil if it has none.
    ///   - calls: The calls that it became when it was sent; nil when none was planned.
    ///   - now: The present moment.
    /// - Returns: Why it cannot be repeated; nil when it can. A record that is not the wanted one says that it is gone.
    public mutating func read(
        _ value: Span<UInt8>, headers: borrowing RecordHeaders, as wanted: Original, time: Timestamp?,
        calls: (count: Int, platforms: PlatformSequence)?, now: Timestamp
    ) -> Leftover? {
        let place = wanted.place
        parent = Original(at: place, publishedAt: time)
        guard parent.mayBe(wanted) else { return .gone }
        let origin = RecordOrigin(
            topic: place.topic, partition: place.partition, offset: place.offset, timestamp: time ?? Timestamp(milliseconds: 0))
        guard reader.read(value, headers: headers, origin: origin, into: &original) == .request else { return .invalid }
        guard wanted.id == nil || wanted.id == original.document.string(original.id) else { return .gone }
        // A result that names the tenant may name another's record.
        guard manner.tenant == nil || manner.tenant == original.tenant.map({ original.document.string($0) }) else { return .gone }
        body = reader.body(of: original.document, headers: headers)
        if manner.expiry == nil, let end = original.expiresAt, end <= now { return .expired }
        if case .moment(let end) = manner.expiry, end <= now { return .expired }
        if Lineage(of: original, at: parent, modified: []).generation > Lineage.maximumGeneration { return .exhausted }
        do { try planner.plan(original, into: &plan) } catch { return .changed }
        guard let calls else { return nil }
        var platforms = PlatformSequence()
        for call in plan.calls { platforms.append(call.platform) }
        let isSame = plan.calls.count == calls.count && (calls.platforms == platforms || calls.platforms == PlatformSequence())
        return isSame ? nil : .changed
    }

    /// The requests that repeat some sends of the original: for each, which of them.
    public func requests(for sends: SendSet) -> [SendSet] {
        guard sends != .all else { return [.all] }
        return plan.groups(of: indices(of: sends), for: original).map { SendSet($0) }
    }

    /// The calls that a request for these sends becomes.
    public func calls(of sends: SendSet) -> [FanOutPlan.Call] {
        indices(of: sends).map { plan.calls[$0] }
    }

    private func indices(of sends: SendSet) -> [Int] { plan.calls.indices.filter { sends.contains($0) || sends == .all } }

    /// Writes one of the requests, in place of what `json` held.
    ///
    /// - Parameters:
    ///   - sends: One of `requests(for:)`.
    ///   - id: The new request's id.
    ///   - json: Gets the request.
    /// - Returns: Whether it is a valid request; with edits it may be none.
    public mutating func write(_ sends: SendSet, id: String, into json: inout ByteWriter) -> Bool {
        json.removeAll()
        // To leave out whom a request is for must not make it one for everybody.
        guard !indices(of: sends).isEmpty else { return false }
        json.append("{\"schema_version\":1,\"id\":", json: id)
        json.append(",\"replay\":")
        Lineage(of: original, at: parent, modified: manner.notes).append(sends, by: manner.author, to: &json)
        appendAudience(sends, to: &json)
        appendExpiry(to: &json)
        appendFromHeaders(to: &json)
        RequestEdit.appendMembers(of: body, in: original.document, edits: manner.edits, omitting: omitted, to: &json)
        json.append("}")
        return isValid(json.span)
    }

    private var omitted: [String] {
        // A life counts from the moment at which the request was made; that is now.
        if case .life = manner.expiry { return Self.own + ["created_at"] }
        return Self.own
    }

    private func appendAudience(_ sends: SendSet, to json: inout ByteWriter) {
        json.append(",\"audience\":")
        let group = indices(of: sends)
        plan.appendAudience(of: group, for: original, to: &json)
        if case .devices = original.audience { return }
        let platforms = sends == .all ? planner.platforms(of: original).list : plan.platforms(of: group)
        guard original.template == nil, !platforms.isEmpty else { return }
        json.append(",\"platforms\":[")
        json.append(list: platforms) { $0.append(json: "\($1.name)") }
        json.append("]")
    }

    private func appendExpiry(to json: inout ByteWriter) {
        switch manner.expiry {
        case .life(let seconds): json.append(",\"ttl_seconds\":", decimal: seconds)
        case .moment(let moment): json.append(",\"expires_at\":", moment: moment)
        case nil: json.append(",\"expires_at\":", moment: original.expiresAt)
        }
    }

    /// Appends what stood beside the request: it must be the same publisher's, and keep its place in an order.
    private func appendFromHeaders(to json: inout ByteWriter) {
        guard let body else { return }
        if original.document.member("source", of: body) == nil {
            json.append(",\"source\":", text: original.source, in: original.document)
        }
        if original.document.member("ordering_key", of: body) == nil {
            json.append(",\"ordering_key\":", text: original.orderingKey, in: original.document)
        }
    }

    /// A request that workers take as it is meant: without a fault, and without a field more that they would not know.
    private mutating func isValid(_ json: Span<UInt8>) -> Bool {
        let origin = RecordOrigin(topic: "replay", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        return reader.read(json, headers: RecordHeaders(), origin: origin, into: &check) == .request
            && check.unknownFieldCount <= original.unknownFieldCount
    }
}

extension PlatformSet {
    /// The platforms in the order of their numbers.
    fileprivate var list: [Platform] { Platform.allCases.filter { contains($0) } }
}
