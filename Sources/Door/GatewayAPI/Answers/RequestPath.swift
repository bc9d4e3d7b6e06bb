import Basics
package import PushModel

/// Where a request can be asked about.
package enum RequestPath {
    /// The path of a request (`Location`).
    ///
    /// - Parameters:
    ///   - id: The request's id: letters, digits and `. _ : -`.
    ///   - place: The place of its record, as far as that is known; so a look-up can tell that it is there.
    ///   - time: The record's own, as far as that is known; so a look-up can tell it from one of the same id in a topic that was made again.
    /// - Returns: `/v1/requests/ID`, with `?at=TOPIC/PARTITION/OFFSET` where the place is known, and `&time=MILLISECONDS` with the time.
    package static func of(_ id: String, at place: (topic: String, partition: Int32, offset: Int64)? = nil, time: Timestamp? = nil) -> String {
        let path = "/v1/requests/\(PathSegment.text(of: id))"
        guard let place else { return path }
        return "\(path)?at=\(place.topic)/\(place.partition)/\(place.offset)" + (time.map { "&time=\($0.milliseconds)" } ?? "")
    }
}

/// An id as one segment of a path, from which every id comes back.
///
/// A colon is escaped, or an id could end like a call (`:cancel`). Clients drop `.` and `..`, some of them escaped, too (RFC 3986, section
/// 5.2.4, and the URL standard), so a tilde stands before these, and before an id that begins with one.
enum PathSegment {
    package static func text(of id: String) -> String {
        (id == "." || id == ".." || id.hasPrefix("~") ? "~" : "") + PercentEncoding.encoded(id)
    }

    package static func id(of text: some StringProtocol) -> String {
        let id = PercentEncoding.decoded(String(text))
        return id.hasPrefix("~") && id.utf8.count > 1 ? String(id.dropFirst()) : id
    }
}
