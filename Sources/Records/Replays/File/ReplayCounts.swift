package import PushModel
package import Replay

/// The totals of a plan.
package struct ReplayCounts: Sendable, Equatable {
    /// The results that the filter wants.
    package var matched = 0
    /// The requests of which something is replayed.
    package var eligible = 0
    /// Those of them that have reached no device by the sends to repeat.
    package var safe = 0
    /// The others, which may have reached some.
    package var ambiguous = 0
    /// The new requests.
    package var requests = 0
    /// The hub calls that these become.
    package var calls = 0
    /// The results of which nothing is replayed, by the reason.
    package var left: [Leftover: Int] = [:]
    /// The requests whose cause must be repaired before they are replayed, by that cause.
    package var repairs: [ErrorCode: Int] = [:]

    /// The requests that name a hub which no setting has, by that name: the first `namedHubs` of them.
    package var unknownHubs: [String: Int] = [:]

    /// The most names of unknown hubs that are kept.
    private static let namedHubs = 10

    /// Counts a request to a hub that is not known.
    mutating func addUnknown(hub: String) {
        guard unknownHubs[hub] != nil || unknownHubs.count < Self.namedHubs else { return }
        unknownHubs[hub, default: 0] += 1
    }

    /// Counts a request of which something is replayed.
    mutating func addEligible(isAmbiguous: Bool) {
        eligible += 1
        if isAmbiguous { ambiguous += 1 } else { safe += 1 }
    }

    /// The causes to repair, and how many requests need it, the most frequent first.
    package var repairsByCount: [(code: ErrorCode, count: Int)] {
        repairs.map { ($0.key, $0.value) }.sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
    }

    /// As a JSON object, every reason included.
    package var json: [UInt8] {
        var object = JSONObject(["matched": matched, "eligible": eligible, "requests": requests, "calls": calls])
        for reason in Leftover.allCases { object.add(reason.rawValue, value: left[reason] ?? 0) }
        object.add("repairs", counts: repairs.map { ($0.key.rawValue, $0.value) })
        object.add("unknown_hubs", counts: unknownHubs.map { ($0.key, $0.value) })
        object.add("eligible_by_safety", raw: eligibleBySafety)
        return object.bytes
    }

    /// The requests of which something is replayed as a JSON object, by their safety.
    package var eligibleBySafety: [UInt8] { JSONObject(["safe": safe, "ambiguous": ambiguous]).bytes }

    /// Nothing yet.
    package init() {}

    /// Reads the totals of a plan. One that was made before the safety was counted, and leaves out what is ambiguous, is all safe.
    init(_ document: JSONDocument, _ node: JSONDocument.Node, includesAmbiguous: Bool) {
        func number(_ name: String, of node: JSONDocument.Node = node) -> Int {
            var found = 0
            document.forEachMember(of: node) { key, value in
                if document.isEqual(key, to: name) { found = Int(min(max(document.integer(at: value) ?? 0, 0), 1 << 53)) }
            }
            return found
        }
        matched = number("matched")
        eligible = number("eligible")
        requests = number("requests")
        calls = number("calls")
        for reason in Leftover.allCases {
            let count = number(reason.rawValue)
            if count > 0 { left[reason] = count }
        }
        if let kinds = document.member("eligible_by_safety", of: node) {
            safe = number("safe", of: kinds)
            ambiguous = number("ambiguous", of: kinds)
        } else if !includesAmbiguous {
            safe = eligible
        }
        if let unknown = document.member("unknown_hubs", of: node) {
            document.forEachMember(of: unknown) { key, value in
                guard let count = document.integer(at: value), count > 0, unknownHubs.count < Self.namedHubs else { return }
                unknownHubs[document.string(key)] = Int(min(count, 1 << 53))
            }
        }
        guard let needed = document.member("repairs", of: node) else { return }
        for code in ErrorCode.allCases {
            let count = number(code.rawValue, of: needed)
            if count > 0 { repairs[code] = count }
        }
    }
}
