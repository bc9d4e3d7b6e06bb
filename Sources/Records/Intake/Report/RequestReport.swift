public import PushModel

/// The report on a request before it is sent: the one answer of `pushfan explain` and of `POST /v1/requests:explain`.
public struct RequestReport: Sendable, Equatable {
    /// The fate of the request.
    public enum Fate: Sendable, Equatable {
        /// Calls are made.
        case sent(Sending)
        /// Nothing is sent.
        case refused(RequestFault)
    }

    /// The calls that are sent, and their terms.
    public struct Sending: Sendable, Equatable {
        /// The name of the hub, or of the hubs that share it, or nil for one without a name.
        public let hub: String?
        /// The hubs that share it, or none when one hub gets all.
        public let hubs: [String]
        /// The cost of its calls.
        public let estimate: PlanEstimate
        /// The calls in their order. Of a request that is sent in parts, the first of each platform.
        public let calls: [CallPreview]
        /// Further notes for a person, each a clause without a full stop.
        public let notes: [String]
    }

    /// Its id, or nil if one would be made.
    public internal(set) var id: String?
    /// The lane: `high`, `normal` or `bulk`.
    public let lane: String
    /// The topic that it is written to.
    public let topic: String
    /// The key of its record, or nil if that would be the id that is made.
    public internal(set) var recordKey: String?
    /// The time before which it is not sent, or nil for none.
    public internal(set) var notBefore: Timestamp?
    /// The time after which it is not sent, or nil for none.
    public internal(set) var expiresAt: Timestamp?
    /// The fate of the request.
    public internal(set) var fate: Fate

    /// The same without an id that was made for the report alone.
    ///
    /// - Parameter id: The id. Another one stays.
    /// - Returns: The report.
    public func leavingOut(id: String) -> RequestReport {
        var report = self
        if report.id == id { report.id = nil }
        if report.recordKey == id { report.recordKey = nil }
        return report
    }

    /// The report as a JSON object (page Publish, "Explaining").
    public var json: [UInt8] {
        var object = JSONObject()
        object.add("id", value: id)
        object.add("lane", value: lane)
        object.add("topic", value: topic)
        object.add("record_key", value: recordKey)
        object.add("not_before", value: notBefore?.text)
        object.add("expires_at", value: expiresAt?.text)
        switch fate {
        case .refused(let fault): object.add("error", raw: Self.json(of: fault))
        case .sent(let sending):
            object.add("hub", value: sending.hub)
            object.add("hubs", texts: sending.hubs)
            object.add("plan", raw: sending.estimate.json)
            object.add("calls", array: sending.calls.map(\.json))
            object.add("notes", texts: sending.notes)
        }
        return object.bytes
    }

    private static func json(of fault: RequestFault) -> [UInt8] {
        var object = JSONObject()
        object.add("code", value: fault.code.rawValue)
        object.add("pointer", value: fault.pointer)
        object.add("message", value: fault.message)
        return object.bytes
    }
}
