import Basics
import Jobs
import PushModel
import ResultQuery

/// The place from which a list of results goes on: behind the last result of a page, for the same filter, whose relative times count from the first page.
///
/// Callers hand it back as they got it, and need not understand it.
struct ListCursor: Sendable, Equatable {
    /// The moment of the first page, in milliseconds since 1970.
    let now: Int64
    let place: ResultCursor
    /// The hash of the filter as it was written, and of the tenant.
    let filter: UInt64

    /// The text for callers.
    var text: String {
        let parts = "1.\(now).\(place.time).\(place.partition).\(place.offset).\(String(filter, radix: 16))"
        return String(decoding: Base64.encode(Array(parts.utf8)), as: UTF8.self)
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The hash of a filter's text and the caller's tenant.
    static func hash(_ text: String, tenant: String?) -> UInt64 {
        FNV1a.hash(of: Array("\(tenant ?? "")\n\(text)".utf8))
    }

    init(now: Int64, place: ResultCursor, filter: UInt64) {
        (self.now, self.place, self.filter) = (now, place, filter)
    }

    /// Reads a cursor. Anything else is nil.
    init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let bytes = Base64.decode(Array(padded.utf8)) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "1", let now = Int64(parts[1]), let time = Int64(parts[2]),
            let partition = Int32(parts[3]), let offset = Int64(parts[4]), let filter = UInt64(parts[5], radix: 16)
        else { return nil }
        self.init(now: now, place: ResultCursor(time: time, partition: partition, offset: offset), filter: filter)
    }
}

/// A filter as a caller wrote it, narrowed to what the caller may see.
struct CallerFilter: Sendable {
    let filter: ResultFilter
    /// The moment from which its relative times count, in milliseconds since 1970.
    let now: Int64
    let hash: UInt64

    /// Reads the language of the commands.
    ///
    /// - Throws: 400 that names the place of the fault and what is allowed there.
    init(_ text: String, at now: Int64, tenant: String?) throws(APIProblem) {
        do throws(FilterError) {
            var filter = try ResultFilter(text, now: now)
            if let tenant { filter.require(.tenant, among: [tenant]) }
            self.filter = filter
        } catch {
            let hint = Spelling.nearest(to: error.word, among: error.allowed).map { " Was \($0) meant?" } ?? ""
            throw .invalid("filter, position \(error.position): the word there \(error.reason).\(hint)")
        }
        self.now = now
        hash = ListCursor.hash(text, tenant: tenant)
    }
}
