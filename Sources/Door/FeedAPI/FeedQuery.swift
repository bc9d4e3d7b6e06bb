import Basics
import GatewayAPI
import HTTPServing
import PushModel
import ResultFeed
import ResultQuery

/// The terms of a call for results.
struct FeedQuery: Sendable {
    /// The place at which reading begins.
    enum Start: Sendable, Equatable {
        /// The end of what is known.
        case end
        case places(FeedPlaces)
        /// A moment in milliseconds since 1970, 0 for the first place.
        case time(Int64)
    }

    private static let kinds = ["final", "outcome", "interim"]

    let start: Start
    let limit: Int
    /// Seconds to wait for a result, 0 to 30.
    let wait: Int
    /// True if the wait is a preference (RFC 7240), which the answer must say.
    let isPreferred: Bool
    let kinds: [String]
    /// Nil lets everything through.
    let filter: ResultFilter?
    let source: String?
    /// True for a result on each line, and false for a JSON object.
    let isLines: Bool
    /// The query.
    private let members: [String: String]

    /// Reads the query and the header fields of a call at a time in milliseconds since 1970.
    ///
    /// - Throws: 400 for what cannot be understood.
    init(_ request: HTTPServerRequest, of operation: APIOperation.Feed, at now: Int64) throws(APIProblem) {
        members = try operation.row.query(of: request)
        limit = try members.integer("limit", in: 1...1000, default: 100)
        let asked = try members.integer("wait", in: 0...APILimit.wait)
        let preferred = asked == nil && operation == .listResults ? request.headers.preferredWait : nil
        (wait, isPreferred) = (asked ?? preferred ?? 0, preferred != nil)
        kinds = try Self.kinds(in: members["kinds"])
        filter = try members["filter"].map { text throws(APIProblem) in try Self.filter(text, at: now) }
        source = members["source"]
        isLines = request.headers.members("Accept").contains { $0.mediaType == "application/x-ndjson" }
        let lastID = operation == .followResults ? request.headers.single("Last-Event-ID") : nil
        start = try Self.start(of: members, lastID: lastID, at: now)
    }

    /// The query that goes on behind a cursor.
    func target(after cursor: String) -> String {
        let kept = ["limit", "wait", "kinds", "filter", "source"].compactMap { name in
            members[name].map { "&\(name)=\(PercentEncoding.encoded($0))" }
        }
        return "/v1/results?after=\(cursor)\(kept.joined())"
    }

    private static func start(
        of members: [String: String], lastID: String?, at now: Int64
    ) throws(APIProblem) -> Start {
        guard members["after"] == nil || members["since"] == nil else { throw .invalid("after and since exclude each other.") }
        if let cursor = lastID ?? members["after"] {
            guard let places = FeedPlaces(cursor) else { throw .invalid("after is no cursor of this feed.") }
            return .places(places)
        }
        guard let text = members["since"] else { return .end }
        if text == "first" { return .time(0) }
        guard let moment = TimeWords.moment(text, now: now, isPast: true, zone: .utc) else {
            throw .invalid("since: it is no time. first, 1h, 14:05 and 2026-11-21T14:05Z are some.")
        }
        return .time(max(0, moment.milliseconds))
    }

    private static func kinds(in text: String?) throws(APIProblem) -> [String] {
        let words = text?.byteParts(between: ",").map(String.init) ?? ["final", "outcome"]
        guard words.allSatisfy(kinds.contains) else { throw .invalid("kinds has words of \(kinds.joined(separator: ", ")).") }
        return kinds.filter(words.contains)
    }

    /// Reads the language of lists, as far as results alone can answer it.
    private static func filter(_ text: String, at now: Int64) throws(APIProblem) -> ResultFilter {
        let filter: ResultFilter
        do throws(FilterError) {
            filter = try ResultFilter(text, now: now)
        } catch {
            let hint = Spelling.nearest(to: error.word, among: error.allowed).map { " Was \($0) meant?" } ?? ""
            throw .invalid("filter, position \(error.position): the word there \(error.reason).\(hint)")
        }
        guard !filter.isAboutRequests, !filter.asksForOpen else {
            throw .invalid(
                "filter: results name no users, devices and titles, and no request without a result. "
                    + "GET /v1/requests finds such requests.")
        }
        return filter
    }
}
