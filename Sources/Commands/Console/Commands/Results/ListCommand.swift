import JobSupport
import Kafka
import Publishing
import PushModel
import ResultQuery
import Results

/// `pushfan results list`.
enum ListCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let filter = try invocation.filter(invocation.arguments.operands)
        let limit = try invocation.arguments.integer("limit", in: 1...1_000_000) ?? 20
        let (settings, context) = try invocation.job()
        let answers = try invocation.results(context)
        let page = try invocation.perform(settings) { () throws(JobFailure) in
            // Programs read results where a filter is about results alone.
            guard filter.needsRequests || invocation.showsRows else { return nil as SearchPage? }
            let search = RequestSearch(context, terms: settings.groupTerms, answers: answers)
            return try Self.page(of: limit, matching: filter, by: search)
        }
        if let page, !page.rows.isEmpty || filter.needsRequests { return try write(page, of: filter, for: invocation) }
        let records = try invocation.perform(answers.newest(limit, filter), with: settings)
        guard !records.isEmpty else { throw CommandFailure(.nothingMatched, "no result matches") }
        guard !invocation.showsRows else {
            try write(records.map { SearchRow($0) }, of: filter, for: invocation)
            return .done
        }
        let shown = invocation.isNewestFirst ? records.reversed() : records
        try invocation.streams.out(invocation.arguments.format(), ResultTable.of(shown), shown.map(\.line))
        return .done
    }

    /// A page of requests, or nil where they cannot be read and results alone say enough.
    private static func page(
        of limit: Int, matching filter: ResultFilter, by search: RequestSearch
    ) throws(JobFailure) -> SearchPage? {
        do throws(JobFailure) {
            return try search.page(of: limit, matching: filter)
        } catch {
            guard !filter.needsRequests, case .kafka(let failure, _) = error,
                failure.isAuthorization || failure.isUnknownTopicOrPartition
            else { throw error }
            return nil
        }
    }

    private static func write(
        _ page: SearchPage, of filter: ResultFilter, for invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        if !page.rows.isEmpty { try write(page.rows.reversed(), of: filter, for: invocation) }
        if invocation.showsRows || invocation.arguments.format().isForPeople {
            let ending = SearchEnding(
                page: page, filter: filter, zone: invocation.zone, now: invocation.surroundings.now())
            invocation.streams.note(ending.text)
        }
        guard !page.rows.isEmpty else { throw CommandFailure(.nothingMatched, "no request matches") }
        return .done
    }

    /// Writes rows, of which the newest is the last.
    private static func write(
        _ rows: [SearchRow], of filter: ResultFilter, for invocation: Invocation
    ) throws(CommandFailure) {
        let rows = invocation.isNewestFirst ? rows.reversed() : rows
        let format = invocation.arguments.has("json") ? .ndjson : invocation.arguments.format()
        let now = invocation.surroundings.now()
        let times = RowTimes(zone: format == .table ? invocation.zone : nil, now: now)
        try invocation.streams.out(
            format, RowTable.of(rows, times: times, isCut: format == .table),
            rows.map { $0.json(revealing: [], isPayloadVisible: true, isSought: filter.isAboutRequests, at: now) })
    }
}

extension ResultFilter {
    /// True if results alone cannot say what it asks for.
    fileprivate var needsRequests: Bool { isAboutRequests || asksForOpen }
}

extension Invocation {
    /// The terminal's time zone.
    var zone: LocalZone { LocalZone.current(environment: surroundings.environment) }

    fileprivate var isNewestFirst: Bool { arguments.value("newest") == "first" }

    /// Requests with whom they went to are shown whatever the filter is. Other formats have results, as programs know them.
    fileprivate var showsRows: Bool { arguments.has("json") || arguments.format() == .table }
}

extension SearchRow {
    /// A result whose request is not known.
    fileprivate init(_ result: ResultRecord) {
        self.init(id: result.requestID, publishedAt: result.publishedAt ?? result.timestamp)
        self.result = result
    }
}

extension ResultRecord {
    /// The moment of the request's publication, in milliseconds since 1970, or nil where it does not say.
    private var published: String? {
        var document = JSONDocument()
        guard document.readResult(json.span) else { return nil }
        return document.member("timings", of: document.root).flatMap { document.text("published_at", of: $0) }
    }

    fileprivate var publishedAt: Int64? { published.flatMap { Timestamp($0.utf8.span)?.milliseconds } }
}
