import HubServer

/// Reads the text of a ``Fault``.
///
/// Effects: `status=100…599`, `throttle`, `reset=before|after`, `hang[=before|after]`, `outage=10s` (with `status=` an answer
/// instead of a reset), `drip=BYTES/INTERVAL`, `truncate`, `close-after=N`, and `delay=200ms` with any of them or alone.
/// Answers: `retry-after=SECONDS`, `retry-after-date=SECONDS`, `body=error|empty|html|json`.
/// Calls: `tags=`, `format=`, `method=`, `path=`, `handle=`, `after=N`, `every=N`,
/// `chance=SHARE`, `seed=N`, `count=N`.
enum FaultParser {
    static let fieldNames = [
        "status", "throttle", "delay", "reset", "hang", "outage", "drip", "truncate", "close-after", "retry-after",
        "retry-after-date", "body", "tags", "format", "method", "path", "handle", "after", "every", "chance", "seed",
        "count",
    ]

    static func parse(_ text: String) throws(FaultError) -> Fault {
        let fields = try fields(of: text)
        var fault = Fault()
        fault.text = text
        fault.effect = try effect(fields)
        if let value = fields["delay"] { fault.delay = try FaultError.duration("delay", from: value) }
        if fault.effect == .none, fault.delay == .zero { throw .noEffect }
        if let value = fields["retry-after"] {
            fault.retryAfter = .seconds(try FaultError.number("retry-after", from: value, in: 0...86400))
        } else if let value = fields["retry-after-date"] {
            fault.retryAfter = .date(try FaultError.number("retry-after-date", from: value, in: 0...86400))
        }
        if let value = fields["body"] {
            guard let body = Fault.Body(rawValue: value) else {
                throw .badValue(field: "body", value: value, expected: "error, empty, html or json")
            }
            fault.body = body
        }
        for field in ["retry-after", "retry-after-date", "body"] where fields[field] != nil {
            if fields["status"] == nil, fields["throttle"] == nil { throw .needsStatus(field) }
        }
        fault.conditions = Fault.Conditions(
            tags: fields["tags"], format: fields["format"], method: fields["method"], path: fields["path"],
            handle: fields["handle"])
        if let value = fields["after"] { fault.after = try FaultError.number("after", from: value, in: 0...1_000_000_000) }
        if let value = fields["every"] { fault.every = try FaultError.number("every", from: value, in: 1...1_000_000_000) }
        try readChance(fields, into: &fault)
        if let value = fields["count"] { fault.count = try FaultError.number("count", from: value, in: 1...1_000_000_000) }
        return fault
    }

    private static func readChance(_ fields: [String: String], into fault: inout Fault) throws(FaultError) {
        if let value = fields["chance"] {
            guard let chance = Double(value), chance > 0, chance <= 1 else {
                throw .badValue(field: "chance", value: value, expected: "a share such as 0.05, over 0 and at most 1")
            }
            fault.chance = chance
        }
        guard let value = fields["seed"] else { return }
        guard fields["chance"] != nil else { throw .needsChance }
        guard let seed = UInt64(value) else { throw .badValue(field: "seed", value: value, expected: "a whole number") }
        fault.seed = seed
    }

    private static func fields(of text: String) throws(FaultError) -> [String: String] {
        var fields: [String: String] = [:]
        for field in text.split(separator: ",") {
            let trimmed = field.trimmingBlanks
            let equals = trimmed.firstIndex(of: "=")
            let name = trimmed[..<(equals ?? trimmed.endIndex)].lowercased()
            let value = equals.map { String(trimmed[trimmed.index(after: $0)...]) } ?? ""
            guard fieldNames.contains(name) else { throw .unknownField(name) }
            guard fields.updateValue(value, forKey: name) == nil else { throw .repeatedField(name) }
        }
        guard !fields.isEmpty else { throw .empty }
        return fields
    }

    private static func effect(_ fields: [String: String]) throws(FaultError) -> Fault.Effect {
        let named = ["status", "throttle", "reset", "hang", "outage", "drip", "truncate", "close-after"]
        let given = named.filter { fields[$0] != nil && !($0 == "status" && fields["outage"] != nil) }
        guard let name = given.first, let value = fields[name] else { return .none }
        guard given.count == 1 else { throw .conflictingEffects(given[0], given[1]) }
        switch name {
        case "status": return .status(try FaultError.number("status", from: value, in: 200...599))
        case "reset": return .reset(try moment("reset", from: value))
        case "hang": return .hang(value.isEmpty ? .before : try moment("hang", from: value))
        case "close-after": return .closeAfter(try FaultError.number("close-after", from: value, in: 1...1_000_000))
        case "drip": return try drip(value)
        case "outage":
            var status: Int?
            if let text = fields["status"] { status = try FaultError.number("status", from: text, in: 200...599) }
            return .outage(try FaultError.duration("outage", from: value), status: status)
        default:
            guard value.isEmpty else { throw .badValue(field: name, value: value, expected: "no value") }
            return name == "throttle" ? .throttle : .truncate
        }
    }

    private static func moment(_ field: String, from value: String) throws(FaultError) -> Fault.Timing {
        guard let moment = Fault.Timing(rawValue: value) else {
            throw .badValue(field: field, value: value, expected: "before or after")
        }
        return moment
    }

    private static func drip(_ value: String) throws(FaultError) -> Fault.Effect {
        let parts = value.split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else {
            throw .badValue(field: "drip", value: value, expected: "bytes and interval, such as 1/50ms")
        }
        return .drip(
            byteCount: try FaultError.number("drip", from: String(parts[0]), in: 1...65536),
            every: try FaultError.duration("drip", from: String(parts[1])))
    }
}
