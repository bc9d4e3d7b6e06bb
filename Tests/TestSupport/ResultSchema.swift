import Foundation

/// The rules of the result record (page Results), checked on what Foundation reads from the bytes.
public struct ResultSchema {
    /// A violated rule each, with its place.
    public private(set) var violations: [String] = []

    /// Reads `bytes` and lists what the contract forbids in them.
    public static func violations(of bytes: [UInt8]) -> [String] {
        guard let record = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            return ["this is no JSON object: \(String(decoding: bytes, as: UTF8.self))"]
        }
        var schema = ResultSchema()
        schema.checkRecord(record)
        return schema.violations
    }

    static let states: Set = [
        "scheduled", "retrying", "sent", "partial", "failed", "expired", "cancelled", "duplicate", "rejected", "unknown",
    ]
    static let outcomes: Set = [
        "success", "transient", "throttled", "permanent", "auth", "payload", "no_target", "expired", "cancelled", "duplicate",
        "ambiguous",
    ]

    private mutating func checkRecord(_ record: [String: Any]) {
        let known: Set = [
            "schema_version", "result_id", "request_id", "source", "tenant", "hub", "kind", "state", "outcome", "hub_state",
            "replay_safety", "error", "attempt_count", "attempts", "sends", "targets", "timings", "origin", "parent",
            "parts", "replay", "labels", "worker", "at", "devices",
        ]
        let required: Set = [
            "schema_version", "result_id", "request_id", "kind", "state", "outcome", "replay_safety", "attempt_count", "at",
            "origin",
        ]
        members("", record, required: required, known: known)
        check("/schema_version", record["schema_version"] as? Int == 1)
        for name in ["result_id", "request_id"] { text("/\(name)", record[name], 1...128, letters: idLetters) }
        for (name, limit) in [("source", 256), ("tenant", 63), ("hub", 63)] { text("/\(name)", record[name], 0...limit) }
        word("/kind", record["kind"], ["final", "outcome"])
        word("/state", record["state"], Self.states)
        word("/outcome", record["outcome"], Self.outcomes)
        word("/replay_safety", record["replay_safety"], ["safe", "ambiguous", "duplicate_risk", "pointless"])
        // The words that are documented, and whatever else the hub may say.
        text("/hub_state", record["hub_state"], 1...64, letters: wordLetters)
        check("/hub_state", record["kind"] as? String == "outcome" || record["hub_state"] as? String ?? "Enqueued" == "Enqueued")
        if let devices = object("/devices", record["devices"]) {
            check("/devices", record["kind"] as? String == "outcome")
            for (platform, counts) in devices { checkCounts("/devices/\(platform)", counts) }
        }
        count("/attempt_count", record["attempt_count"])
        moment("/at", record["at"])
        if let error = object("/error", record["error"]) { checkError(error) }
        for (index, attempt) in list("/attempts", record["attempts"], 50).enumerated() {
            checkAttempt("/attempts/\(index)", attempt)
        }
        for (index, send) in list("/sends", record["sends"], 200).enumerated() { checkSend("/sends/\(index)", send) }
        checkCounts(record)
        checkOrigin(record)
        if let labels = object("/labels", record["labels"]) {
            check("/labels", labels.count <= 16)
            for (name, value) in labels { text("/labels/\(name)", value, 0...64) }
        }
        _ = object("/replay", record["replay"])
        _ = object("/parent", record["parent"])
        if let parts = object("/parts", record["parts"]) {
            let counts: Set = ["count", "sent", "partial", "failed", "ambiguous", "expired", "cancelled"]
            members("/parts", parts, required: counts, known: counts.union(["not_sent"]))
            for name in counts { count("/parts/\(name)", parts[name]) }
        }
        if let worker = object("/worker", record["worker"]) {
            members("/worker", worker, required: [], known: ["id", "version"])
            text("/worker/id", worker["id"], 0...128)
            text("/worker/version", worker["version"], 0...32)
        }
    }

    private mutating func checkError(_ error: [String: Any]) {
        members(
            "/error", error, required: ["code", "message", "retryable"],
            known: ["code", "message", "retryable", "http_status", "hub_code", "retry_after_ms", "docs", "faults"])
        text("/error/code", error["code"], 2...48, letters: "abcdefghijklmnopqrstuvwxyz0123456789_")
        text("/error/message", error["message"], 1...512)
        check("/error/retryable", error["retryable"] is Bool)
        if let status = error["http_status"] { check("/error/http_status", (100...599).contains(status as? Int ?? 0)) }
        if error["retry_after_ms"] != nil { count("/error/retry_after_ms", error["retry_after_ms"]) }
        for fault in list("/error/faults", error["faults"], 32) {
            members("/error/faults", fault, required: ["code", "pointer", "message"], known: ["code", "pointer", "message"])
        }
    }

    private mutating func checkAttempt(_ place: String, _ attempt: [String: Any]) {
        members(
            place, attempt, required: ["n", "started_at", "result"],
            known: [
                "n", "started_at", "duration_ms", "result", "http_status", "error_code", "tracking_id", "backoff_ms",
                "bytes_sent", "worker", "send",
            ])
        check("\(place)/n", attempt["n"] as? Int ?? 0 >= 1)
        moment("\(place)/started_at", attempt["started_at"])
        word("\(place)/result", attempt["result"], ["ok", "error", "timeout", "aborted"])
        for name in ["duration_ms", "backoff_ms", "send", "http_status"] where attempt[name] != nil {
            count("\(place)/\(name)", attempt[name])
        }
        if attempt["bytes_sent"] != nil { check("\(place)/bytes_sent", attempt["bytes_sent"] is Bool) }
    }

    private mutating func checkSend(_ place: String, _ send: [String: Any]) {
        members(
            place, send, required: ["index", "platform", "outcome"],
            known: [
                "index", "platform", "chunk", "outcome", "notification_id", "tracking_id", "http_status", "payload_bytes",
                "error_code", "pns_outcomes",
            ])
        count("\(place)/index", send["index"])
        word("\(place)/outcome", send["outcome"], Self.outcomes)
        for name in ["notification_id", "tracking_id"] { text("\(place)/\(name)", send[name], 1...256) }
        for name in ["payload_bytes", "http_status"] where send[name] != nil { count("\(place)/\(name)", send[name]) }
        checkCounts("\(place)/pns_outcomes", send["pns_outcomes"])
    }

    private mutating func checkCounts(_ place: String, _ counts: Any?) {
        guard let counts = object(place, counts) else { return }
        for (name, value) in counts {
            text(place, name, 1...64, letters: wordLetters)
            count("\(place)/\(name)", value)
        }
    }

    private mutating func checkCounts(_ record: [String: Any]) {
        if let targets = object("/targets", record["targets"]) {
            members("/targets", targets, required: [], known: ["planned", "accepted", "failed", "ambiguous"])
            for (name, value) in targets { count("/targets/\(name)", value) }
        }
        guard let timings = object("/timings", record["timings"]) else { return }
        let moments: Set = ["published_at", "consumed_at", "first_attempt_at", "finished_at"]
        let waits: Set = ["queue_ms", "throttle_wait_ms", "hub_ms", "total_ms"]
        members("/timings", timings, required: [], known: moments.union(waits))
        for (name, value) in timings {
            if waits.contains(name) { count("/timings/\(name)", value) } else { moment("/timings/\(name)", value) }
        }
    }

    private mutating func checkOrigin(_ record: [String: Any]) {
        guard let origin = object("/origin", record["origin"]) else { return }
        members("/origin", origin, required: ["topic", "partition", "offset"], known: ["topic", "partition", "offset"])
        text("/origin/topic", origin["topic"], 0...249)
        count("/origin/partition", origin["partition"])
        text("/origin/offset", origin["offset"], 1...19, letters: "0123456789")
    }

    // MARK: Rules of JSON Schema; lengths are counted in Unicode scalars.

    private let wordLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private let idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"

    private mutating func check(_ place: String, _ holds: Bool) {
        if !holds { violations.append(place) }
    }

    private mutating func members(_ place: String, _ object: [String: Any], required: Set<String>, known: Set<String>) {
        for name in required where object[name] == nil { violations.append("\(place)/\(name) is missing") }
        for name in object.keys where !known.contains(name) { violations.append("\(place)/\(name) is not known") }
    }

    private mutating func text(_ place: String, _ value: Any?, _ lengths: ClosedRange<Int>, letters: String? = nil) {
        guard let value else { return }
        guard let text = value as? String else { return check(place, false) }
        check(place, lengths.contains(text.unicodeScalars.count))
        if let letters { check(place, text.unicodeScalars.allSatisfy { letters.unicodeScalars.contains($0) }) }
    }

    private mutating func word(_ place: String, _ value: Any?, _ words: Set<String>) {
        check(place, (value as? String).map { words.contains($0) } ?? false)
    }

    private mutating func count(_ place: String, _ value: Any?) {
        check(place, (value as? Int).map { $0 >= 0 } ?? false)
    }

    private mutating func moment(_ place: String, _ value: Any?) {
        let text = value as? String ?? ""
        check(place, text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    private mutating func object(_ place: String, _ value: Any?) -> [String: Any]? {
        guard let value else { return nil }
        check(place, value is [String: Any])
        return value as? [String: Any]
    }

    private mutating func list(_ place: String, _ value: Any?, _ limit: Int) -> [[String: Any]] {
        guard let value else { return [] }
        let list = value as? [[String: Any]]
        check(place, list.map { (1...limit).contains($0.count) } ?? false)
        return list ?? []
    }
}
