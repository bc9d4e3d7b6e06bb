import GatewayAPI
import PushModel

extension BodyReader {
    /// The reason of an order. A blank one is a fault, and none where it must be there.
    mutating func orderReason(isNeeded: Bool = true) -> String? {
        guard has("reason") else {
            if isNeeded { fault("reason", "It must be there: everybody who is held or cancelled by the order reads it.") }
            return nil
        }
        guard let text = text("reason", count: 1...OrderRecord.maximumReasonLength) else { return nil }
        if text.allSatisfy(\.isWhitespace) { fault("reason", "It must say something.") }
        return text
    }

    /// The scope of an order. One that is missing or names nothing is a fault, because everything must be said.
    mutating func scope() -> OrderScope? {
        guard has("scope") else {
            fault("scope", #"It must be there: what the order concerns, or {"everything":true}."#)
            return nil
        }
        var document = JSONDocument()
        guard let json = object("scope"), (try? document.read(json.span)) != nil else { return nil }
        var (members, faults, labels) = ([String: String](), [(String, String)](), [OrderScope.Label]())
        var (names, isEverything) = ([String](), false)
        document.forEachMember(of: document.root) { name, value in
            let (name, kind) = (document.string(name), document.kind(of: value))
            guard kind != .null else { return }
            names.append(name)
            switch name {
            case "everything" where kind == .true: isEverything = true
            case "everything": faults.append((name, "It must be true, or not be there."))
            case "labels" where kind == .object:
                document.forEachMember(of: value) { label, value in
                    let text = document.kind(of: value) == .string ? document.string(document.text(of: value)) : ""
                    labels.append(OrderScope.Label(document.string(label), value: text))
                }
            case "labels": faults.append((name, "It must be an object of texts."))
            case _ where !Self.scopeNames.contains(name):
                faults.append(
                    ("", "It has an unknown member. Known are: everything, labels, \(Self.scopeNames.joined(separator: ", "))."))
            case _ where kind == .string: members[name] = document.string(document.text(of: value))
            default: faults.append((name, "It must be a string."))
            }
        }
        for (name, words) in faults { fault(name.isEmpty ? "scope" : "scope/\(name)", words) }
        guard faults.isEmpty else { return nil }
        guard Set(names).count == names.count, Set(labels.map(\.name)).count == labels.count else {
            fault("scope", "A member is there more than once.")
            return nil
        }
        var scope = OrderScope()
        (scope.hub, scope.tenant, scope.source) = (members["hub"], members["tenant"], members["source"])
        (scope.lane, scope.request, scope.user) = (members["lane"], members["request"], members["user"])
        scope.labels = labels
        if let lane = scope.lane, !Self.lanes.contains(lane) {
            fault("scope/lane", "It must be one of \(Self.lanes.joined(separator: ", ")).")
        }
        if isEverything, !scope.isEverything { fault("scope", "With everything it names nothing else.") }
        if scope.isEverything, !isEverything { fault("scope", #"It names nothing; {"everything":true} means all."#) }
        if !scope.isSound {
            fault(
                "scope",
                "Each text must have 1 to \(OrderScope.maximumByteCount) bytes, and at most \(OrderScope.maximumLabels) labels are allowed."
            )
        }
        return scope
    }

    private static let scopeNames = ["hub", "tenant", "source", "lane", "request", "user"]
    private static let lanes = ["high", "normal", "bulk", "own"]

    /// A moment, by itself or by seconds from now. Both are a fault.
    ///
    /// - Parameters:
    ///   - name: The member with the moment.
    ///   - other: The member with seconds.
    ///   - seconds: The range of seconds.
    ///   - now: The present moment.
    ///   - sign: 1 for what is to come, -1 for what has been.
    /// - Returns: The moment, nil where there is none or a fault.
    mutating func moment(
        _ name: String, or other: String, in seconds: ClosedRange<Int64>, from now: Timestamp, sign: Int64
    ) -> Timestamp? {
        let count = integer(other, in: seconds)
        guard let text = text(name, count: 1...64) else { return count.map { now.adding(milliseconds: sign * $0 * 1000) } }
        guard !has(other) else {
            fault(name, "It says the same as \(other). Give one of the two.")
            return nil
        }
        guard let moment = Timestamp(text.utf8.span),
            ((sign > 0 ? 1 : 0)...seconds.upperBound * 1000).contains(sign * moment.milliseconds(since: now))
        else {
            let words = sign > 0 ? "to come" : "that has been"
            fault(name, "It must be a time \(words), such as \(now.text), within \(seconds.upperBound) s.")
            return nil
        }
        return moment
    }
}

extension OrderRecord {
    private enum Word: String, CaseIterable {
        case hold, limit
    }

    /// Reads the body of `POST /v1/holds`.
    ///
    /// - Throws: 400, 413 and 415 for what is no JSON, 422 with each fault, 403 for another tenant.
    init(holdOf call: OperatorCall, at now: Timestamp) throws(APIProblem) {
        var body = try BodyReader(
            call.request, atMost: APILimit.orderByteCount,
            members: ["kind", "calls_per_second", "scope", "reason", "until", "for_seconds"])
        let word = body.word("kind", as: Word.self) ?? .hold
        let rate = body.integer("calls_per_second", in: 0...Int64(Self.limits.upperBound))
        switch (word, rate) {
        case (.hold, .some): body.fault("calls_per_second", "It is for a limit: kind is hold.")
        case (.limit, nil) where !body.has("calls_per_second"): body.fault("calls_per_second", "A limit must have it.")
        case (.limit, 0): body.fault("calls_per_second", "No calls at all are a hold: use kind hold.")
        default: break
        }
        let (scope, reason) = (body.scope(), body.orderReason())
        let until = body.moment("until", or: "for_seconds", in: 1...Self.longest / 1000, from: now, sign: 1)
        try body.check()
        try self.init(
            word == .hold ? .hold : .limit(callsPerSecond: Int(rate ?? 1)), on: scope, reason: reason, of: call, at: now,
            until: until
        )
    }

    /// Reads the body of `POST /v1/requests:cancel`.
    ///
    /// - Throws: 400, 413 and 415 for what is no JSON, 422 with each fault, 403 for another tenant.
    /// - Returns: The order, and true if it is only to be counted what it would concern.
    static func cancellation(
        of call: OperatorCall, at now: Timestamp
    ) throws(APIProblem) -> (order: OrderRecord, isTrial: Bool) {
        var body = try BodyReader(
            call.request, atMost: APILimit.orderByteCount, members: ["scope", "since", "since_seconds", "reason", "dry_run"])
        let isTrial = body.flag("dry_run")
        let (scope, reason) = (body.scope(), body.orderReason(isNeeded: !isTrial))
        let since = body.moment("since", or: "since_seconds", in: 1...longestPast, from: now, sign: -1)
        try body.check()
        let order = try OrderRecord(
            .cancel(publishedFrom: since), on: scope, reason: reason ?? "dry run", of: call, at: now, until: nil)
        return (order, isTrial)
    }

    /// The seconds before now that a cancellation begins at most: a year, after which no record is kept.
    private static let longestPast: Int64 = 366 * 86_400

    /// An order of a key. One with a tenant concerns that tenant's requests alone.
    private init(
        _ kind: Kind, on scope: OrderScope?, reason: String?, of call: OperatorCall, at now: Timestamp, until: Timestamp?
    ) throws(APIProblem) {
        guard var scope, let reason else { throw .failed }
        if let tenant = call.publisher.tenant {
            guard scope.tenant ?? tenant == tenant else { throw .foreignOrder }
            scope.tenant = tenant
        }
        var generator = SystemRandomNumberGenerator()
        self.init(
            id: Self.makeID(kind, using: &generator), kind: kind, scope: scope, reason: reason,
            author: Self.author(call.publisher), since: now, until: until)
        do throws(Fault) {
            try check()
        } catch {
            throw APIProblem(
                422, code: .invalidRequest, detail: "No worker would obey the order: its \(error) is not as page Gateway has it.")
        }
    }

    /// The words for a key that gives an order: its id, and its tenant, if it has one.
    static func author(_ publisher: Publisher) -> String {
        "key \(publisher.keyID)" + (publisher.tenant.map { " of \($0)" } ?? "")
    }

    /// True if a key may release it: one of a tenant what keys of that tenant have given, one without a tenant any.
    func mayBeReleased(by publisher: Publisher) -> Bool {
        guard let tenant = publisher.tenant else { return true }
        return scope.tenant == tenant && author.hasPrefix("key ") && author.hasSuffix(" of \(tenant)")
    }
}

extension APIProblem {
    /// 403: an order names another tenant than the key's.
    static let foreignOrder = APIProblem(
        403, code: .forbiddenTenant,
        detail:
            "The scope names another tenant than the key's. Leave tenant out, or use a key of that tenant, or one without a tenant."
    )
}
