import Basics
import HTTPServing
import Jobs
import Kafka
import Keys
import Publishing
import PushModel
import Replay
import ResultQuery

/// Answers what was published and what became of it: lists, failures, dead letters and whole lives. Every call is carried out on a thread for
/// jobs, which it blocks.
struct ResultDesk: Sendable {
    /// The longest search of a list, in which a topic without index is read.
    private static let patience = Duration.seconds(5)
    /// The most items of a page, and the bytes of results beyond which it ends.
    private static let limits = (items: 1...500, byteCount: 8 << 20)
    /// The limits of pages in words.
    static let limitText = "100 by default; at most 500 results, 100 dead letters (50 by default), or 1,000 of others"
    /// The longest `Link` to a next page. It leaves as much room in a head as header fields need.
    private static let longestLink = 6 << 10
    private static let listNames: Set<String> = ["filter", "limit", "cursor"]
    private static let letterNames: Set<String> = ["since", "until", "code", "limit", "cursor", "payload", "id"]

    let context: JobContext
    let answers: ResultAnswers
    let isIndexed: @Sendable () -> Bool

    /// The same, whose work ends by another condition, too.
    func ending(when isOver: @escaping @Sendable () -> Bool) -> ResultDesk {
        ResultDesk(context: context.ending(when: isOver), answers: answers.ending(when: isOver), isIndexed: isIndexed)
    }

    /// One page of results, newest first.
    func list(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query(Self.listNames)
        let limit = try query.integer("limit", in: Self.limits.items, default: 100)
        let cursor = try query["cursor"].map { text throws(APIProblem) in
            guard let cursor = ListCursor(text) else { throw .badCursor }
            return cursor
        }
        let filter = try CallerFilter(query["filter"] ?? "", at: cursor?.now ?? context.now(), tenant: call.publisher.tenant)
        guard cursor.map({ $0.filter == filter.hash }) ?? true else { throw .badCursor }
        let page = try APIProblem.catching { () throws(JobFailure) in
            try answers.page(limit, filter.filter, after: cursor?.place, patience: Self.patience)
        }
        let shown = Self.fitting(page.results)
        let place = shown.count < page.results.count ? shown.last.map { ResultCursor($0) } : page.next
        let next = place.map { ListCursor(now: filter.now, place: $0, filter: filter.hash).text }
        var json = JSONObject()
        let items = filter.filter.asksForRepetitions ? Array(shown) : shown.filter { !$0.repeatsItsID }
        json.add("items", array: items.map(Self.item))
        json.add("next", value: next)
        json.add("searched", raw: Self.extent(page.searched, for: call.publisher))
        var answer = APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
        if let next {
            answer.headers.append("Link", value: Self.link(to: next, filter: query["filter"], limit: limit))
        }
        return answer
    }

    /// The link to a next page. One that would be too long for a head names the search, which takes the same members as a body.
    static func link(to next: String, filter: String?, limit: Int) -> String {
        let filter = filter.map { "filter=\(PercentEncoding.encoded($0))&" } ?? ""
        let target = "/v1/requests?\(filter)limit=\(limit)&cursor=\(next)"
        return "<\(target.utf8.count <= longestLink ? target : "/v1/requests:search")>; rel=\"next\""
    }

    /// The first results that have room in a page, at least one.
    private static func fitting(_ results: [ResultRecord]) -> ArraySlice<ResultRecord> {
        var byteCount = 0
        let count = results.prefix { result in
            byteCount += result.json.count
            return byteCount <= limits.byteCount
        }.count
        return results.prefix(max(1, count))
    }

    /// The extent of a search. The numbers are of all tenants together, which a tenant does not get.
    private static func extent(_ searched: SearchExtent, for publisher: Publisher) -> [UInt8] {
        guard publisher.tenant != nil else { return searched.json }
        return JSONObject(["by": searched.source.rawValue, "since": searched.since?.text, "complete": searched.isComplete]).bytes
    }

    private static func item(_ record: ResultRecord) -> [UInt8] {
        var json = JSONObject(["id": record.requestID, "state": record.state])
        json.add("result", raw: record.line)
        return json.bytes
    }

    /// Failures by cause, as `pushfan failed --all` groups them.
    func failures(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query(["filter"])
        let filter = try CallerFilter(query["filter"] ?? "", at: context.now(), tenant: call.publisher.tenant)
        let report = try APIProblem.catching { () throws(JobFailure) in
            try answers.failureReport(filter.filter, keepingSettled: true)
        }
        var json = JSONObject(continuing: report.json(withTotal: call.publisher.tenant == nil))
        json.add("searched", raw: JSONObject(["by": isIndexed() ? "index" : "scan", "complete": true]).bytes)
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// One page of dead letters, newest first.
    func deadLetters(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query(Self.letterNames)
        let isWhole = try query.isTrue("payload")
        guard !isWhole || call.publisher.scopes.contains(.payload) else { throw .forbiddenScope(.payload) }
        let terms = DeadLetterPage.Terms(limit: try query.integer("limit", in: 1...100, default: 50), withValues: isWhole)
        let one = try query["id"].map { text throws(APIProblem) in
            guard let one = Original(text), query.keys.allSatisfy(["id", "payload"].contains) else { throw .badLetterID }
            return one
        }
        let words = ["since", "until"].compactMap { name in query[name].map { "\(name):\($0)" } }
        let times = try CallerFilter(words.joined(separator: " "), at: context.now(), tenant: nil).filter
        let codes = query["code"]?.byteParts(between: ",").filter { !$0.isEmpty }.map(String.init) ?? []
        guard codes.count <= PlanOrder.maximumCodes else { throw .invalid("code has at most \(PlanOrder.maximumCodes) codes.") }
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

extension ResultFilter {
    /// True if it says something of states, so that a `duplicate` is wanted. Else the result of the first request with the id stands for it.
    fileprivate var asksForRepetitions: Bool { [.state, .outcome, .error].contains { mentions($0) } }
}

extension APIProblem {
    /// 400: the id is none of a dead letter, or something else is asked for besides.
    static let badLetterID = APIProblem.invalid(
        "id is that of a dead letter, TOPIC:PARTITION:OFFSET@TIME, and stands alone but for payload.")

    /// 400: the cursor is none of this list.
    static let badCursor = APIProblem.invalid("The cursor is none that this list with this filter has given.")
}
