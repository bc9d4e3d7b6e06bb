import Basics
import PushModel

/// Where a request can be asked about.
enum RequestPath {
    /// The path of a request (`Location`).
    ///
    /// - Parameters:
    ///   - id: The request's id: letters, digits and `. _ : -`.
    ///   - record: Where its record is, as far as that is known; so a look-up can tell that it is there.
    ///   - time: The record's own, as far as that is known; so a look-up can tell it from one of the same id in a topic that was made again.
    /// - Returns: `/v1/requests/ID`, with `?at=TOPIC/PARTITION/OFFSET` where the place is known, and `&time=MILLISECONDS` with the time.
    static func of(_ id: String, at record: SendOutcome.Record = .unreported, time: Timestamp? = nil) -> String {
        let path = "/v1/requests/\(PathSegment.text(of: id))"
        guard case .written(let topic, let partition, let offset?) = record else { return path }
        return "\(path)?at=\(topic)/\(partition)/\(offset)" + (time.map { "&time=\($0.milliseconds)" } ?? "")
    }
}
