package import GroupPositions
package import JobSupport
package import ResultQuery

/// Searches requests as they were published, joined with their results. Several threads may use one value at once.
package struct RequestSearch: Sendable {
    /// So many requests of an index fill a first page of everything, parts of large ones among them.
    private static let plenty = 10_000

    let context: JobContext
    let terms: GroupTerms
    let answers: ResultAnswers
    let index: RequestIndexKeeper?

    /// A search in the topics of `terms`, which asks an index first where there is one.
    package init(_ context: JobContext, terms: GroupTerms, answers: ResultAnswers, index: RequestIndexKeeper? = nil) {
        (self.context, self.terms, self.answers, self.index) = (context, terms, answers, index)
    }

    /// The same, whose searches end by another condition, too.
    package func ending(when isOver: @escaping @Sendable () -> Bool) -> RequestSearch {
        RequestSearch(
            context.ending(when: isOver), terms: terms, answers: answers.ending(when: isOver), index: index)
    }

    /// True if a list of a filter may go on at a place: results say nothing of what is sought in requests, and a list of results does not
    /// go on in requests.
    package static func admits(_ next: SearchPage.Next, for filter: ResultFilter) -> Bool {
        switch next {
        case .requests: SearchPlan(filter) != .results
        case .results: !filter.isAboutRequests && !filter.asksForOpen
        }
    }

    /// True if indexes alone answer a page, so that it takes some milliseconds. Everything else may read topics for seconds.
    ///
    /// - Parameters:
    ///   - filter: What is wanted.
    ///   - next: The place where it goes on, or nil for the first page.
    /// - Returns: True for such a page.
    package func isCheap(_ filter: ResultFilter, after next: SearchPage.Next? = nil) -> Bool {
        guard answers.keeper?.counts != nil, let index, case .current(let count, _) = index.condition, let reach = index.since
        else { return false }
        return Self.isCheap(
            filter, after: next, count: count, since: reach, isDecided: index.answer { $0.decides(filter) } ?? false)
    }

    /// The same for an index that has so many requests since a moment, and decides which of them match or not.
    static func isCheap(
        _ filter: ResultFilter, after next: SearchPage.Next?, count: Int, since reach: Int64, isDecided: @autoclosure () -> Bool
    ) -> Bool {
        switch next {
        // The facts of older requests are read from topics.
        case .results(let place): place.time > reach
        case nil where SearchPlan(filter) == .results: filter.until ?? .max > reach
        case nil where filter == ResultFilter() && count >= plenty: true
        case .requests, nil: filter.since ?? .min >= reach && isDecided()
        }
    }

    /// Finds one page of the requests that match, newest first.
    ///
    /// - Parameters:
    ///   - limit: The most requests of the page.
    ///   - filter: What is wanted.
    ///   - next: The place where it goes on, or nil for the first page.
    ///   - patience: The longest reading of topics, beyond which the page ends with what was found, or nil for no limit.
    ///   - readsTitles: False for an asker who may not see titles, so that no word is one of a title.
    ///   - isVisible: True for a request that the asker may see.
    /// - Returns: The page.
    /// - Throws: `cursor` for a place in a list of the other order, brokers cannot be asked, or the job was cancelled.
    package func page(
        of limit: Int, matching filter: ResultFilter, after next: SearchPage.Next? = nil, patience: Duration? = nil,
        readingTitles readsTitles: Bool = true, isVisible: @escaping @Sendable (SearchRow) -> Bool = { _ in true }
    ) throws(JobFailure) -> SearchPage {
        let limit = max(1, limit)
        var (cursor, results): (SearchCursor?, ResultCursor?) = (nil, nil)
        switch next {
        case .requests(let place): cursor = place
        case .results(let place): results = place
        case nil: break
        }
        let plan = SearchPlan(filter)
        guard next.map({ Self.admits($0, for: filter) }) ?? true else { throw .cursor }
        // A list that began before requests were listed goes on in results.
        if plan == .results || results != nil {
            return try finished(limit, matching: filter, after: results, patience: patience, isVisible: isVisible)
        }
        if plan == .deadLetters {
            return try deadLetters(limit, matching: filter, after: cursor, patience: patience, isVisible: isVisible)
        }
        var search = PublishedSearch(
            self, by: plan, for: filter, readingTitles: readsTitles, isFirstPage: cursor == nil, isVisible: isVisible)
        return try search.page(of: limit, after: cursor, patience: patience)
    }
}
