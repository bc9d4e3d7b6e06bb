import PushModel
import Results

extension RequestIndexKeeper {
    /// Its condition as JSON, and since when it has all requests.
    var json: [UInt8] {
        var json = JSONObject(continuing: condition.json)
        json.add("since", value: since.map { Timestamp(milliseconds: $0).text })
        return json.bytes
    }
}

extension IndexKeeper {
    /// True if a query needs no topic.
    var isCurrent: Bool { if case .current = condition { true } else { false } }
}

extension IndexKeeper.Condition {
    /// As JSON.
    var json: [UInt8] {
        switch self {
        case .starting: JSONObject(["state": "starting"]).bytes
        case .filling(let records, let total): JSONObject(["state": "filling", "records": records, "of": total]).bytes
        case .current(let records, let behind): JSONObject(["state": "current", "records": records, "behind": behind]).bytes
        // The log has the reason, which names paths and brokers.
        case .failed: JSONObject(["state": "failed"]).bytes
        }
    }
}
