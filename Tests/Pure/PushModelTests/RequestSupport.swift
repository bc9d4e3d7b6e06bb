import PushModel

/// A reader with a request that it reads into again and again, as the worker does.
struct Reading {
    var request = PushRequest()
    var headers = RecordHeaders()
    var origin = RecordOrigin(topic: "push.requests.v1", partition: 3, offset: 42, timestamp: Timestamp(milliseconds: recordTime))
    var strictness = RequestReader.Strictness.tolerant
    /// Most of what is tested is the same everywhere; in a topic of our own everything may be said.
    var topic = RequestReader.Topic.own

    static let recordTime: Int64 = 1_795_176_000_000

    init(_ headers: [(String, String)] = [], _ strictness: RequestReader.Strictness = .tolerant) {
        for (name, value) in headers { self.headers.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        self.strictness = strictness
    }

    mutating func read(_ value: [UInt8]) -> RequestReader.Reading {
        RequestReader(strictness, from: topic).read(value.span, headers: headers, origin: origin, into: &request)
    }

    mutating func read(_ value: String) -> RequestReader.Reading { read(Array(value.utf8)) }

    /// The faults of a rejected record; empty when it is a request or unreadable.
    mutating func faults(_ value: String) -> [RequestFault] {
        if case .rejected(let faults) = read(value) { faults } else { [] }
    }

    func string(_ text: PushRequest.Text?) -> String? { text.map { request.document.string($0) } }

    func string(_ node: PushRequest.Node?) -> String? { string(node.map { request.document.text(of: $0) }) }
}

/// The smallest record with `fragment` in it; what the fragment names itself is left out.
func record(_ fragment: String = "") -> String {
    var members = fragment.isEmpty ? [] : [fragment]
    if !fragment.contains("\"audience\"") { members.append(#""audience":{"users":["alice"]}"#) }
    if !["\"message\"", "\"template\"", "\"payloads\""].contains(where: { fragment.contains($0) }) {
        members.append(#""message":{"title":"Order shipped","body":"Your parcel is on its way"}"#)
    }
    return "{" + members.joined(separator: ",") + "}"
}

/// A record with fields of every kind (page Requests, "Fields").
let fullRecord = #"""
    {"schema_version": 1, "id": "01J8Z6Q7X1J3N5V7B9D1F3H5K7", "source": "/orders", "hub": "prod-shop",
     "audience": {"tag_expression": "(follows_RedSox || follows_Cardinals) && location_Boston"},
     "platforms": ["apple", "fcmv1", "windows"],
     "message": {"title": "Game tonight", "body": "19:05", "deep_link": "app://games/42", "data": {"game_id": "42"}},
     "payloads": {"windows": {
       "body": "<toast><visual><binding template=\"ToastGeneric\"><text>Game tonight</text></binding></visual></toast>",
       "content_type": "application/xml", "headers": {"X-WNS-Type": "wns/toast"}}},
     "ttl_seconds": 3600, "not_before": "2026-11-21T17:00:00Z", "priority": "high", "collapse_key": "game-42",
     "dedupe": {"key": "game-42-reminder", "window_seconds": 86400}, "ordering_key": "game-42",
     "options": {"max_attempts": 6, "on_ambiguous": "stop", "result_detail": "attempts", "track_outcome": true},
     "labels": {"campaign": "mlb"}}
    """#
