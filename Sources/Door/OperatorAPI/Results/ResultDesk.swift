import Basics
import GatewayAPI
import HTTPServing
import JobSupport
import Keys
import Publishing
import PushModel
import Replay
import Replays
import ResultQuery
import Results

/// Answers what was published and what became of it: lists, failures, dead letters and whole lives. Every call is carried out on a thread for
/// jobs, which it blocks.
struct ResultDesk: Sendable {
    /// The longest search of a list, in which a topic without index is read.
    private static let patience = Duration.seconds(5)
    /// The most items of a page, and the bytes of results beyond which it ends.
    private static let limits = (items: 1...500, byteCount: 8 << 20)
    /// The longest `Link` to a next page. It leaves as much room in a head as header fields need.
    private static let longestLink = 6 << 10

    let context: JobContext
    package let answers: ResultAnswers
    let search: RequestSearch
    let isIndexed: @Sendable () -> Bool

    /// The same, whose work ends by another condition, too.
    func ending(when isOver: @escaping @Sendable () -> Bool) -> ResultDesk {
        ResultDesk(
            context: context.ending(when: isOver), answers: answers.ending(when: isOver), search: search.ending(when: isOver),
            isIndexed: isIndexed)
    }

    /// A list that is asked for.
    struct Wanted: Sendable {
        fileprivate let query: [String: String]
        fileprivate let limit: Int
        fileprivate let cursor: ListCursor?
        fileprivate let filter: CallerFilter
    }

    /// Reads what list a call wants. Nothing is searched for that.
    func wanted(by call: OperatorCall) throws(APIProblem) -> Wanted {
        let query = try call.query()
        let limit = try query.integer("limit", in: Self.limits.items, default: 100)
        let cursor = try query["cursor"].map { text throws(APIProblem) in
            guard let cursor = ListCursor(text) else { throw .badCursor }
            return cursor
        }
        let text = CallerFilter.Text(query, zone: cursor?.zone)
        let filter = try CallerFilter(text, at: cursor?.now ?? context.now(), for: call.publisher)
        guard cursor?.isPlace(in: filter) ?? true else { throw .badCursor }
        return Wanted(query: query, limit: limit, cursor: cursor, filter: filter)
    }

    /// True if a list is found in milliseconds.
    func isCheap(_ wanted: Wanted) -> Bool { search.isCheap(wanted.filter.filter, after: wanted.cursor?.place) }

    /// One page of requests or results, newest first.
    func list(_ call: OperatorCall) throws(APIProblem) -> APIAnswer { try list(try wanted(by: call), for: call) }

    /// One page of a list that a call wants.
    func list(_ wanted: Wanted, for call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let (query, limit, cursor, filter) = (wanted.query, wanted.limit, wanted.cursor, wanted.filter)
        let page = try APIProblem.catching { () throws(JobFailure) in
            try search.page(
                of: limit, matching: filter.filter, after: cursor?.place, patience: Self.patience,
                isVisible: filter.isVisible(to: call.publisher))
        }
        let (body, next) = Self.body(of: page, for: call.publisher, by: filter, isFirst: cursor == nil)
        var answer = APIAnswer(status: 200, json: body, headers: ["Cache-Control": "no-store"])
        if let next {
            answer.headers.append(
                "Link", value: Self.link(to: next, filter: query["filter"], with: query, limit: limit))
        }
        return answer
    }

    /// The body of an answer with a page, and the cursor of the next one.
    static func body(
        of page: SearchPage, for publisher: Publisher, by filter: CallerFilter, isFirst: Bool
    ) -> (json: [UInt8], next: String?) {
        let shown = fitting(page.rows)
        let place = shown.count < page.rows.count ? shown.last?.next : page.next
        let next = place.map { ListCursor(now: filter.now, place: $0, filter: filter.hash, zone: filter.zone.name).text }
        var json = JSONObject()
        let wanted = filter.filter.asksForRepetitions ? Array(shown) : shown.filter { $0.result?.repeatsItsID != true }
        json.add("items", array: wanted.map { filter.item($0, for: publisher) })
        json.add("next", value: next)
        if isFirst, filter.isSought {
            var possible = JSONObject()
            possible.add("items", array: page.possible.map { filter.item($0, for: publisher) })
            possible.add("more", value: page.hasMorePossible)
            json.add("possible", raw: possible.bytes)
        }
        var searched = JSONObject(continuing: extent(page.searched, for: publisher))
        filter.describe(in: page.order, to: &searched)
        json.add("searched", raw: searched.bytes)
        return (json.bytes, next)
    }

    /// The link to a next page, with the zone and the times of the query. One that would be too long for a head names the search, which takes
    /// the same members as a body.
    static func link(to next: String, filter: String?, with query: [String: String] = [:], limit: Int) -> String {
        let members = [("filter", filter)] + ["zone", "from", "to", "times"].map { ($0, query[$0]) }
        let texts = members.map { name, text in text.map { "\(name)=\(PercentEncoding.encoded($0))&" } ?? "" }
        let target = "/v1/requests?\(texts.joined())limit=\(limit)&cursor=\(next)"
        return "<\(target.utf8.count <= longestLink ? target : "/v1/requests:search")>; rel=\"next\""
    }

    /// The first rows that have room in a page, at least one.
    private static func fitting(_ rows: [SearchRow]) -> ArraySlice<SearchRow> {
        var byteCount = 0
        let count = rows.prefix { row in
            byteCount += row.result?.json.count ?? 0
            return byteCount <= limits.byteCount
        }.count
        return rows.prefix(max(1, count))
    }

    /// The extent of a search. The numbers are of all tenants together, which a tenant does not get.
    private static func extent(_ searched: SearchExtent, for publisher: Publisher) -> [UInt8] {
        guard publisher.tenant != nil else { return searched.json }
        return JSONObject(["by": searched.source.rawValue, "since": searched.since?.text, "complete": searched.isComplete]).bytes
    }

    /// Failures by cause, as `pushfan failed --all` groups them.
    func failures(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query()
        let filter = try CallerFilter(CallerFilter.Text(query), at: context.now(), for: call.publisher)
        try filter.requireResults(of: "failures")
        let report = try APIProblem.catching { () throws(JobFailure) in
            try answers.failureReport(filter.filter, keepingSettled: true)
        }
        var json = JSONObject(continuing: report.json(withTotal: call.publisher.tenant == nil))
        json.add("searched", raw: JSONObject(["by": isIndexed() ? "index" : "scan", "complete": true]).bytes)
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// One page of dead letters, newest first.
    func deadLetters(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query()
        let isWhole = try query.isTrue("payload")
        guard !isWhole || call.publisher.scopes.contains(.payload) else { throw .forbiddenScope(.payload) }
        let terms = DeadLetterPage.Terms(limit: try query.integer("limit", in: 1...100, default: 50), withValues: isWhole)
        let one = try query["id"].map { text throws(APIProblem) in
            guard let one = Original(text), query.keys.allSatisfy(["id", "payload"].contains) else { throw .badLetterID }
            return one
        }
        let words = ["since", "until"].compactMap { name in query[name].map { "\(name):\($0)" } }
        let asked = try CallerFilter(words.joined(separator: " "), at: context.now(), tenant: nil)
        try asked.requireResults(of: "dead letters")
        let times = asked.filter
        let codes = query["code"]?.byteParts(between: ",").filter { !$0.isEmpty }.map(String.init) ?? []
        guard codes.count <= CallerFilter.maximumCodes else {
            throw .invalid("code has at most \(CallerFilter.maximumCodes) codes.")
        }
        let page = try APIProblem.catching { () throws(JobFailure) in
            if let one { return try context.deadLetter(one, withValue: isWhole, patience: Self.patience) }
            return try context.deadLetters(times, codes: codes, terms: terms, after: query["cursor"], patience: Self.patience)
        }
        var json = JSONObject()
        json.add("items", array: page.rows.map(\.json))
        json.add("next", value: page.next)
        json.add("searched", value: page.searched)
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }
}

extension CallerFilter.Text {
    /// The members of a query, or of a search's body, where a cursor knows the zone of the first page.
    init(_ query: [String: String], zone: String? = nil) {
        self.init(
            filter: query["filter"] ?? "", zone: query["zone"] ?? zone ?? LocalZone.utc.name, from: query["from"],
            to: query["to"],
            times: query["times"])
    }
}

extension SearchRow {
    /// The place behind it in its list.
    fileprivate var next: SearchPage.Next? { resultCursor.map { .results($0) } ?? cursor.map { .requests($0) } }
}

extension ListCursor {
    /// True if it is a place in the list of a filter.
    func isPlace(in list: CallerFilter) -> Bool {
        filter == list.hash && zone == list.zone.name && RequestSearch.admits(place, for: list.filter)
    }
}

extension CallerFilter {
    /// Says which rows a publisher may see. A record that no reader understood is compared byte by byte, so that all of it would be known by
    /// and by. A large request of which no part was read has no record here.
    func isVisible(to publisher: Publisher) -> @Sendable (SearchRow) -> Bool {
        let hidesUnread = filter.isAboutRequests && !publisher.scopes.contains(.payload)
        return { [tenant = publisher.tenant] row in
            (tenant == nil || row.tenant == tenant) && !(hidesUnread && row.facts == nil && row.place != nil)
        }
    }

    /// A row of a list as a publisher may see it.
    fileprivate func item(_ row: SearchRow, for publisher: Publisher) -> [UInt8] {
        row.json(
            revealing: meaning.givenNames, isPayloadVisible: publisher.scopes.contains(.payload), isSought: isSought,
            at: now)
    }

    /// Adds the order of a list, and how the filter was understood.
    fileprivate func describe(in order: SearchPage.Order, to json: inout JSONObject) {
        json.add([
            "order": order.rawValue, "from": filter.since.map { Timestamp(milliseconds: $0).text },
            "to": filter.until.map { Timestamp(milliseconds: $0).text }, "zone": zone.name, "read_as": meaning.description,
        ])
    }
}

extension ResultFilter {
    /// True if it says something of states, so that a `duplicate` is wanted. Else the result of the first request with the id stands for it.
    fileprivate var asksForRepetitions: Bool { [.state, .outcome, .error].contains { mentions($0) } }
}

extension APIProblem {
    /// 400: the id is none of a dead letter, or something else is asked for besides.
    static let badLetterID = APIProblem.invalid(
        "id is that of a dead letter, TOPIC:PARTITION:OFFSET@TIME, and stands alone but for payload.")
}
