import Basics

/// An id as one segment of a path, from which every id comes back.
///
/// A colon is escaped, or an id could end like a call (`:cancel`). Clients drop `.` and `..`, some of them escaped, too (RFC 3986, section
/// 5.2.4, and the URL standard), so a tilde stands before these, and before an id that begins with one.
package enum PathSegment {
    package static func text(of id: String) -> String {
        (id == "." || id == ".." || id.hasPrefix("~") ? "~" : "") + PercentEncoding.encoded(id)
    }

    package static func id(of text: some StringProtocol) -> String {
        let id = PercentEncoding.decoded(String(text))
        return id.hasPrefix("~") && id.utf8.count > 1 ? String(id.dropFirst()) : id
    }
}
