import PushModel

@testable import ResultQuery

/// 2026-11-21T12:00:00Z.
let noon: Int64 = 1_795_262_400_000

/// Results that the tests ask about.
enum Records {
    /// One platform sent, one throttled to the end, of a replay.
    static let partial = """
        {"schema_version":1,"result_id":"r1","request_id":"p-1","source":"/orders","hub":"prod-shop","kind":"final","state":"partial",\
        "outcome":"throttled","hub_state":"Enqueued","replay_safety":"safe","error":{"code":"hub_throttled",\
        "message":"429 \\"four\\" times","retryable":true,"http_status":429},"attempt_count":4,\
        "sends":[{"index":0,"platform":"apple","outcome":"success","http_status":201},\
        {"index":1,"platform":"fcmv1","outcome":"throttled","http_status":429}],\
        "timings":{"queue_ms":200,"total_ms":91100},"origin":{"topic":"push.requests.v1","partition":7,"offset":"181920"},\
        "replay":{"root_request_id":"root-1","parent_request_id":"parent-1","generation":2,"job_id":"j-1","actor":"ann"},\
        "labels":{"campaign":"new year, 2027","plain":"mlb"},"worker":{"id":"w-3","version":"0.1.0"},"at":"2026-11-20T12:01:31.000Z"}
        """

    /// Nothing but what makes a result.
    static let least = #"{"request_id":"least"}"#

    /// The result in a document.
    static func read(_ json: String) -> JSONDocument? {
        var document = JSONDocument()
        return document.readResult(Array(json.utf8).span) ? document : nil
    }

    /// The result with its members found.
    static func members(_ json: String) -> ResultMembers? {
        var members = ResultMembers()
        return members.read(Array(json.utf8).span) ? members : nil
    }
}

extension ResultFilter {
    /// Whether a matcher finds a record.
    func finds(_ json: String, at time: Int64 = noon) -> Bool {
        var matcher = ResultMatcher(self)
        return matcher.matches(Array(json.utf8).span, writtenAt: time)
    }
}
