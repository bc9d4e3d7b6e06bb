/// A record of a topic of results.
public struct RandomRecord: Sendable {
    /// Its partition.
    public let partition: Int32
    /// Its offset there.
    public let offset: Int64
    /// Milliseconds since 1970.
    public let time: Int64
    /// nil for a tombstone.
    public let value: [UInt8]?
}

/// Results as strange as a topic may hold, and filters that match some of them.
public struct RandomResults {
    private var random: SeededRandom

    /// Results that the seed determines.
    public init(seed: Int) { random = SeededRandom(seed) }

    /// A number from 0 up to `bound`, without it.
    public mutating func below(_ bound: Int) -> Int { random.below(bound) }

    /// Records of three partitions, in the order in which a topic would give them.
    public mutating func records(_ count: Int) -> [RandomRecord] {
        var next: [Int64] = [0, 7, 100]
        return (0..<count).map { _ in
            let partition = random.below(3)
            next[partition] += Int64(1 + random.below(3) / 2)
            // Many moments are shared, and not all are in order.
            return RandomRecord(
                partition: Int32(partition), offset: next[partition], time: 1_795_262_400_000 + Int64(random.below(40)),
                value: value())
        }
    }

    private mutating func pick(_ choices: [String]) -> String { choices[random.below(choices.count)] }

    private mutating func value() -> [UInt8]? {
        switch random.below(25) {
        case 0: nil
        case 1: Array(pick(["", "nonsense", "[]", "{}", #"{"request_id":7}"#, #"{"request_id":"a","#]).utf8)
        default: Array(result().utf8)
        }
    }

    private mutating func result() -> String {
        var members = [#""request_id":\#(id())"#]
        let plain: [(name: String, values: [String])] = [
            ("state", ["failed", "sent", "partial", "retrying"]), ("outcome", ["success", "throttled", "auth"]),
            ("kind", ["final", "interim", "outcome"]), ("hub", ["shop", "toys", "é"]), ("hub_state", ["Enqueued"]),
            ("replay_safety", ["safe", "ambiguous", "new"]), ("source", ["/orders", "/a*"]), ("tenant", ["t1", "t2"]),
        ]
        for (name, values) in plain where random.below(4) > 0 { members.append("\"\(name)\":\(scalar(values))") }
        let numbers = [("attempt_count", 5), ("other", 3)]
        for (name, bound) in numbers where random.below(3) > 0 { members.append("\"\(name)\":\(number(bound))") }
        let objects: [(String, [(String, [String], Int)])] = [
            ("error", [("code", ["hub_throttled", "hub_timeout", "x"], 0), ("http_status", [], 3)]),
            ("timings", [("total_ms", [], 5), ("queue_ms", [], 5)]),
            ("origin", [("topic", ["push.requests.v1"], 0), ("partition", [], 3)]),
            (
                "replay",
                [
                    ("root_request_id", ["a", "b", "é"], 0), ("parent_request_id", ["a", "c"], 0), ("job_id", ["j"], 0),
                    ("actor", ["ann", "bob"], 0), ("generation", [], 3),
                ]
            ),
            ("labels", [("campaign", ["mlb", "new year"], 0), ("a", ["1"], 0)]), ("worker", [("id", ["w-1", "w-2"], 0)]),
        ]
        for (name, fields) in objects where random.below(3) > 0 { members.append("\"\(name)\":\(object(fields))") }
        if random.below(3) > 0 {
            let sends = (0..<random.below(4)).map { _ in
                object([
                    ("platform", ["apple", "fcmv1", "windows"], 0), ("outcome", ["success", "throttled"], 0),
                    ("http_status", [], 3),
                ])
            }
            members.append("\"sends\":[\(sends.joined(separator: ", "))]")
        }
        // Names may stand twice, in any order.
        if random.below(8) == 0, let again = members.randomElement(using: &random) { members.append(again) }
        members.shuffle(using: &random)
        return "{\(members.joined(separator: pick([",", ", ", "\n,"])))}"
    }

    private mutating func id() -> String { "\"\(pick(["a", "b", "c", "d", "\\u0061", "e\u{301}", "é", "a\\u0000", "j:a"]))\"" }

    private mutating func scalar(_ words: [String]) -> String {
        random.below(15) == 0 ? pick(["7", "null", "{}", "[\"x\"]", "true", "\"\"", "\"\\u0000\""]) : "\"\(pick(words))\""
    }

    private mutating func number(_ bound: Int) -> String {
        random.below(15) == 0
            ? pick(["1.5", "\"1\"", "null", "99999999999999999999", "1e3", "-1"]) : String(random.below(bound))
    }

    private mutating func object(_ fields: [(name: String, words: [String], bound: Int)]) -> String {
        if random.below(15) == 0 { return pick(["null", "7", "[]", "{}"]) }
        var members: [String] = []
        for field in fields where random.below(5) > 0 {
            members.append("\"\(field.name)\":\(field.words.isEmpty ? number(field.bound) : scalar(field.words))")
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// Some terms, each of which matches now and then.
    public mutating func filter() -> String {
        (0..<random.below(4)).map { _ in term() }.joined(separator: " ")
    }

    private mutating func term() -> String {
        let texts: [(name: String, values: [String])] = [
            ("request", ["a", "é", "\"a\u{0}\"", "*", "j:*", "b"]), ("state", ["failed", "sent", "partial", "*ed", "\"\""]),
            ("outcome", ["success", "throttled"]), ("error", ["hub_throttled", "hub_*", "\"x\""]),
            ("safety", ["safe", "ambiguous", "\"new\""]), ("hub", ["shop", "t*", "é"]), ("platform", ["apple", "fcm", "*"]),
            ("kind", ["final", "interim"]), ("hub_state", ["Enqueued", "*"]), ("worker", ["w-1", "w-*"]),
            ("source", ["/orders", "\"/a*\""]), ("tenant", ["t1", "*"]), ("topic", ["push.*"]), ("root", ["a", "é", "*"]),
            ("parent", ["a", "c"]), ("job", ["j"]), ("actor", ["ann", "b*"]),
            ("label.campaign", ["mlb", "\"new year\"", "*"]), ("label.a", ["1"]),
        ]
        let numbers = ["status", "attempts", "partition", "generation"]
        if random.below(10) == 0 {
            return pick(["since:2026-11-21T12:00:00.010Z", "until:2026-11-21T12:00:00.030Z", "since:2026-11-22"])
        }
        let minus = random.below(3) == 0 ? "-" : ""
        if random.below(4) == 0 {
            let values = (0...random.below(2)).map { _ in pick(["", ">", "<=", ">=", "<"]) + String(random.below(4)) }
            return minus + pick(numbers) + ":" + values.joined(separator: ",")
        }
        if random.below(10) == 0 { return minus + pick(["took:>1ms", "queued:<=2ms", "took:3ms", "queued:1ms,>3ms"]) }
        let text = texts[random.below(texts.count)]
        let values = (0...random.below(2)).map { _ in pick(text.values) }
        return "\(minus)\(text.name):\(values.joined(separator: ","))"
    }
}
