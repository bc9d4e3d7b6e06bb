import Groups
package import JobSupport
import Kafka
package import PushModel

extension WhereaboutsReport {
    /// The time of the request's cancellation, if it has not ended.
    package var cancelledAt: Timestamp? { whereabouts.state == .done ? nil : whereabouts.found?.request.cancelledAt }

    /// The end of a request that was cancelled.
    package var ending: String {
        switch whereabouts.state {
        case .delayed: "ends when its record is checked, at the latest when it is due"
        case .held: "ends when its key has its turn"
        case .inParts: "ends as its parts have their turns"
        default: "ends when it has its turn"
        }
    }

    /// The report as one JSON object (page Results, "Requests without a result").
    ///
    /// - Parameter gap: Puts a failed query into one line without secrets.
    /// - Returns: The object.
    package func json(describing gap: (ReportGap) -> String) -> [UInt8] {
        var object = JSONObject(["request_id": id, "state": whereabouts.state.rawValue])
        if let sighting = whereabouts.found {
            object.add([
                "topic": sighting.partition.topic, "partition": Int(sighting.partition.partition), "offset": Int(sighting.offset),
                "due": sighting.request.due?.text, "group_position": Int(sighting.position), "reading": sighting.reading.rawValue,
                "attempts": Int(sighting.request.attempts),
            ])
        }
        if let divided = whereabouts.divided {
            object.add("parts", raw: JSONObject(["count": divided.count, "ended": divided.endedCount]).bytes)
        }
        if let origin = whereabouts.origin { object.add("published", raw: Self.json(origin)) }
        object.add("cancelled_at", value: cancelledAt?.text)
        if cancelledAt != nil { object.add("cancelled", value: ending) }
        object.add("searched", array: extents.map(Self.json))
        object.add("not_searched", texts: gaps.map(gap))
        return object.bytes
    }

    private static func json(_ origin: RecordOrigin) -> [UInt8] {
        JSONObject([
            "topic": origin.topic, "partition": Int(origin.partition), "offset": Int(origin.offset), "at": origin.timestamp.text,
        ]).bytes
    }

    private static func json(_ extent: Extent) -> [UInt8] {
        JSONObject(["topic": extent.topic, "offsets": Int(extent.searched), "of": Int(extent.total)]).bytes
    }
}
