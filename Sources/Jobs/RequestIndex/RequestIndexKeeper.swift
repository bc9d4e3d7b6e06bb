import SQLite

/// Keeps an index of the requests current. It follows the topics on a thread of its caller, and any thread may query the index meanwhile.
package final class RequestIndexKeeper: Sendable {
    private let context: JobContext

    /// Keeps the index in a folder. Nothing is done before `run`.
    package init(folder: String, in context: JobContext) { self.context = context }

    /// Keeps the index until the context is cancelled.
    package func run() {}

    /// Lets the index answer a query, without a broker. Returns nil while it is of no use, and once `isOver` has ended the query.
    func answer<Answer>(
        unless isOver: @escaping @Sendable () -> Bool = { false }, question: (RequestIndex) throws(SQLiteError) -> Answer
    ) -> Answer? { nil }
}
