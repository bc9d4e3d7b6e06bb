import Basics
import GatewayAPI
import JobSupport
import Keys
import PushModel
import ResultQuery

/// A filter as a caller wrote it, narrowed to what the caller may see.
struct CallerFilter: Sendable {
    /// The most codes of dead letters, each of which is compared with every letter.
    static let maximumCodes = 64

    /// The texts of a caller that make a filter.
    struct Text: Sendable, Equatable {
        var filter = ""
        /// The name of the zone in which times without one are read.
        var zone = LocalZone.utc.name
        /// The first moment and the first one too late, beside those of the filter.
        var from: String?
        var to: String?
        /// `published` where times are those of publication alone.
        var times: String?

        /// The text that is hashed, which is the filter alone where nothing else is there.
        fileprivate var whole: String {
            (from == nil && to == nil ? filter : "\(filter)\nfrom:\(from ?? "")\nto:\(to ?? "")")
                + (times.map { $0.isEmpty ? "" : "\ntimes:\($0)" } ?? "")
        }
    }

    let filter: ResultFilter
    /// The moment from which its relative times count, in milliseconds since 1970.
    let now: Int64
    let hash: UInt64
    /// The zone in which times without one were read.
    let zone: LocalZone
    /// The filter as it was understood, without what a caller's rights add.
    let meaning: ResultFilter

    /// Reads the language of the commands.
    ///
    /// - Throws: 400 that names the place of the fault and what is allowed there.
    init(_ text: String, at now: Int64, tenant: String?) throws(APIProblem) {
        try self.init(Text(filter: text), at: now, tenant: tenant)
    }

    /// The same, and 403 for a key that may not know what the filter would tell.
    init(_ text: Text, at now: Int64, for publisher: Publisher) throws(APIProblem) {
        let read = try Self(text, at: now, tenant: publisher.tenant)
        let isPayloadVisible = publisher.scopes.contains(.payload)
        // Names that fit a pattern, and titles with a word, would be known by and by.
        guard isPayloadVisible || !read.filter.asksForTitles && !read.filter.guessesNames else { throw .forbiddenScope(.payload) }
        self.init(read, narrowedTo: isPayloadVisible ? read.filter : read.filter.withoutTitles)
    }

    private init(_ read: Self, narrowedTo filter: ResultFilter) {
        (self.filter, now, hash, zone, meaning) = (filter, read.now, read.hash, read.zone, read.meaning)
    }

    private init(_ text: Text, at now: Int64, tenant: String?) throws(APIProblem) {
        guard let zone = LocalZone(named: text.zone) else { throw .badZone }
        var filter: ResultFilter
        do throws(FilterError) {
            filter = try ResultFilter(text.filter, now: now, zone: zone)
        } catch {
            let hint = Spelling.nearest(to: error.word, among: error.allowed).map { " Was \($0) meant?" } ?? ""
            throw .invalid("filter, position \(error.position): the word there \(error.reason).\(hint)")
        }
        if let from = try Self.moment(text.from, named: "from", now: now, zone: zone) { filter.add(since: from) }
        if let to = try Self.moment(text.to, named: "to", now: now, zone: zone) { filter.add(until: to) }
        filter.isByPublication = text.times == "published"
        guard text.times ?? "" == "" || filter.isByPublication else { throw .invalid("times: published is all that it may be.") }
        meaning = filter
        if let tenant { filter.require(.tenant, among: [tenant]) }
        (self.filter, self.now, self.zone) = (filter, now, zone)
        hash = ListCursor.hash(text.whole, tenant: tenant)
    }

    /// A time of a field of its own, nil where nothing is in it.
    private static func moment(
        _ text: String?, named name: String, now: Int64, zone: LocalZone
    ) throws(APIProblem) -> Int64? {
        guard let text, !text.isEmpty else { return nil }
        guard let moment = TimeWords.moment(text, now: now, isPast: true, zone: zone) else {
            throw .invalid("\(name): it is no time. 14:05, 2026-11-21 14:05, 2026-11-21T14:05Z and 1h are some.")
        }
        return moment.milliseconds
    }

    /// A person is looked for, or a word that may name one.
    var isSought: Bool { filter.sought.contains { !$0.isNegated && $0.mayBePerson } }

    /// Fails with 400 for what no result says.
    func requireResults(of what: String) throws(APIProblem) {
        guard !filter.isAboutRequests, !filter.asksForOpen else {
            throw .invalid(
                "filter: \(what) are found by their results. These name no users, devices and titles, and no request without a result. "
                    + "GET /v1/requests finds such requests.")
        }
    }

    /// Fails with 400 for requests that have not ended.
    func requireEnded() throws(APIProblem) {
        guard !filter.asksForOpen else {
            throw .invalid("filter: it asks for requests that have no result yet, of which there is nothing to replay.")
        }
    }
}

extension APIProblem {
    /// 400: there is no such time zone.
    static let badZone = APIProblem.invalid("zone: no time zone has this name. Europe/Berlin and +01:00 are such names.")
}
