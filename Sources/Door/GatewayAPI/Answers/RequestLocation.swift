package import PushModel

/// Where a request can be asked about.
package enum RequestLocation {
    /// The path of a request (`Location`).
    ///
    /// - Parameters:
    ///   - id: The request's id: letters, digits and `. _ : -`.
    ///   - place: The place of its record, as far as that is known; so a look-up can tell that it is there.
    ///   - time: The record's own, as far as that is known; so a look-up can tell it from one of the same id in a topic that was made again.
    /// - Returns: `/v1/requests/ID`, with `?at=TOPIC/PARTITION/OFFSET` where the place is known, and `&time=MILLISECONDS` with the time.
    package static func of(
        _ id: String, at place: (topic: String, partition: Int32, offset: Int64)? = nil, time: Timestamp? = nil
    ) -> String {
        let path = "/v1/requests/\(PathSegment.text(of: id))"
        guard let place else { return path }
        return "\(path)?at=\(place.topic)/\(place.partition)/\(place.offset)" + (time.map { "&time=\($0.milliseconds)" } ?? "")
    }
}
