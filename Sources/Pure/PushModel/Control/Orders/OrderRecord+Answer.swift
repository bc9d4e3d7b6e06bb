// The form in answers of commands and of the gateway.
extension OrderRecord {
    /// The word for its state: `standing`, `ended` or `released`.
    public func state(at now: Timestamp) -> String {
        release != nil ? "released" : stands(at: now) ? "standing" : "ended"
    }

    /// The seconds until its end, begun ones included, 0 afterwards.
    public func secondsLeft(at now: Timestamp) -> Int64 {
        stands(at: now) ? (until.milliseconds(since: now) + 999) / 1000 : 0
    }

    /// The order as a JSON object: its record, its state, its scope as text, and the seconds until its end.
    public func object(at now: Timestamp) -> JSONObject {
        var record = ByteWriter()
        append(to: &record)
        var object = JSONObject(continuing: record.bytes)
        object.add("state", value: state(at: now))
        object.add("text", value: scope.text)
        object.add("seconds_left", value: Int(clamping: secondsLeft(at: now)))
        return object
    }
}
