/// Some of the requests that match, newest first, and where the next ones are.
package struct SearchPage: Sendable {
    /// The orders of lists.
    package enum Order: String, Sendable {
        /// By the moments of publication.
        case published
        /// By the moments of results.
        case finished
    }

    /// The places of next pages.
    package enum Next: Sendable, Equatable {
        case requests(SearchCursor)
        case results(ResultCursor)
    }

    /// The requests.
    package var rows: [SearchRow]
    /// Sends by tag or to all that may have reached what is sought, newest first. On a first page alone.
    package var possible: [SearchRow] = []
    /// There are more of those.
    package var hasMorePossible = false
    /// The place where the next page goes on, or nil when nothing older matches.
    package var next: Next?
    /// The order.
    package var order: Order
    /// The extent of the search.
    package var searched: SearchExtent

    /// A page.
    package init(rows: [SearchRow], next: Next?, order: Order, searched: SearchExtent) {
        (self.rows, self.next, self.order, self.searched) = (rows, next, order, searched)
    }
}
