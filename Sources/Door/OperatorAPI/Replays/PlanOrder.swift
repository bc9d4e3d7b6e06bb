import GatewayAPI
import HTTPServing
import PushModel
import Replay
import Replays
import ResultQuery

/// A caller's order for a plan: the body of `POST /v1/replays`.
struct PlanOrder: Sendable {
    private static let members = [
        "source", "filter", "mode", "rate", "reason", "ttl_seconds", "expires_at", "set", "limit", "since", "until", "codes",
        "places", "value", "zone",
    ]
    /// The longest new life of a request, in seconds: that of the message contract.
    private static let longestLife: Int64 = 2_419_200

    var source = ReplayPlanHeader.Source.results
    var mode = ReplayPlanHeader.Mode.safe
    /// Results that may be replayed, as they were asked for and narrowed.
    let filter: ResultFilter
    var reason = ""
    /// Requests a second.
    var rate = 500
    var expiry: NewExpiry?
    var edits: [String] = []
    var limit = 1_000_000
    package var codes: [String] = []
    /// Dead letters by their places, with their times if they are known.
    var places: Set<Original> = []
    /// The value in place of the one dead letter.
    var value: [UInt8]?
    /// A source that the value names, and that its dead letter must name, too.
    private(set) var claimedSource: String?

    /// Reads a body.
    ///
    /// - Throws: 400, 413 and 415 for what is no JSON, 422 with each fault, 403 for dead letters by a key with a tenant.
    init(_ call: OperatorCall, at now: Int64) throws(APIProblem) {
        var body = try BodyReader(call.request, atMost: APILimit.requestByteCount, members: Self.members)
        source = body.word("source", as: ReplayPlanHeader.Source.self) ?? .results
        mode = body.word("mode", as: ReplayPlanHeader.Mode.self) ?? .safe
        rate = body.integer("rate", in: 1...1_000_000).map(Int.init) ?? rate
        reason = body.reason() ?? ""
        limit = body.integer("limit", in: 1...10_000_000).map(Int.init) ?? limit
        edits = body.texts("set", atMost: RequestEdit.maximumCount)
        codes = body.texts("codes", atMost: CallerFilter.maximumCodes)
        let text = body.text("filter", count: 0...JSONBody.maximumByteCount)
        let times = ["since", "until"].compactMap { name in body.text(name, count: 1...64).map { "\(name):\($0)" } }
        expiry = Self.expiry(&body, now: now)
        for text in body.texts("places") {
            if let place = Original(text) {
                places.insert(place)
            } else {
                body.fault("places", "A place is none: TOPIC:PARTITION:OFFSET@TIME, the id of a dead letter.")
            }
        }
        value = body.raw("value")
        if value != nil, places.count != 1 { body.fault("value", "It needs exactly one place.") }
        let zone = body.text("zone", count: 1...64) ?? LocalZone.utc.name
        let others = source == .results ? ["codes", "places", "value"] : ["filter", "mode"]
        for name in others where body.raw(name) != nil { body.fault(name, "It is not for the source \(source.rawValue).") }
        if source == .results, !body.has("filter") {
            body.fault("filter", "It must be there. An empty one takes everything that failed.")
        }
        if !body.has("reason") { body.fault("reason", "It must be there: it stands in every new result.") }
        try body.check()
        guard source == .results || call.publisher.tenant == nil else { throw .notForTenants }
        let words = ([text ?? ""] + times).joined(separator: " ")
        let read = try CallerFilter(CallerFilter.Text(filter: words, zone: zone), at: now, for: call.publisher)
        if source == .results { try read.requireEnded() } else { try read.requireResults(of: "dead letters") }
        filter = read.filter
    }

    private static func expiry(_ body: inout BodyReader, now: Int64) -> NewExpiry? {
        let life = body.integer("ttl_seconds", in: 1...longestLife)
        guard let text = body.text("expires_at", count: 1...64) else { return life.map { .life(seconds: $0) } }
        guard life == nil else {
            body.fault("expires_at", "It says the same as ttl_seconds. Give one of the two.")
            return nil
        }
        guard let moment = Timestamp(text.utf8.span), moment.milliseconds > now else {
            body.fault("expires_at", "It must be a time to come, such as 2026-11-21T17:00:00Z.")
            return nil
        }
        return .moment(moment)
    }

    /// The order, if a key may have written what it says.
    ///
    /// - Throws: 403 that says what the key may not do, and 422 for what is no change or no request.
    func checked(by rights: PublishRights) throws(APIProblem) -> PlanOrder {
        var order = self
        order.claimedSource = try rights.check(edits: edits, replacement: value)
        return order
    }

    /// The dead letters that are meant, in words beside the times.
    private var letters: [String] {
        let places = places.sorted { $0.place < $1.place }.prefix(10).map { "at:\($0)" }
        return (codes.isEmpty ? [] : ["code:" + codes.joined(separator: ",")]) + places + (self.places.count > 10 ? ["…"] : [])
    }

    /// The first line of the plan that it becomes.
    func header(jobID: String, at now: Int64, by publisher: Publisher) -> ReplayPlanHeader {
        let wanted = source == .results ? PlanMaker.narrowed(filter) : filter
        var header = ReplayPlanHeader(
            jobID: jobID, createdAt: Timestamp(milliseconds: now),
            filter: ([wanted.description] + letters).joined(separator: " "),
            actor: publisher.actor)
        header.source = source
        header.reason = reason
        header.includesAmbiguous = mode == .includeAmbiguous
        header.exceptions = ReplayPlanHeader.Exceptions(of: filter)
        header.expiry = expiry
        header.edits = edits
        header.tenant = publisher.tenant
        header.rate = Double(rate)
        return header
    }
}

extension Publisher {
    /// The name under which it acts: its source and the id of its key, 128 characters at most. Tenants read it in results, so what operators
    /// note of a key is not in it.
    var actor: String { String("\(source) (key \(keyID))".unicodeScalars.prefix(128)) }

    /// True if a plan or a job is one of its tenant's.
    func mayUse(tenant: String?) -> Bool { self.tenant == nil || self.tenant == tenant }
}

/// A caller's order to run a plan: the body of `POST /v1/replays/{id}:run`.
struct RunOrder: Sendable, Equatable {
    /// A reason in place of the plan's.
    var reason: String?
    /// Requests a second, or nil for those of the run before, or of the plan.
    var rate: Int?
    /// The number of requests, repeated.
    package var count: Int?

    init(reason: String? = nil, rate: Int? = nil, count: Int? = nil) {
        (self.reason, self.rate, self.count) = (reason, rate, count)
    }

    /// Reads a body, which may be missing.
    init(_ call: HTTPServerRequest) throws(APIProblem) {
        var body = try BodyReader(call, members: ["reason", "rate", "count"])
        reason = body.reason()
        rate = body.integer("rate", in: 1...1_000_000).map(Int.init)
        count = body.integer("count", in: 0...(1 << 53)).map(Int.init)
        try body.check()
    }
}
