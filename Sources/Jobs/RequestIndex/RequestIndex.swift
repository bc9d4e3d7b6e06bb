import Replay
import ResultQuery
import SQLite

/// The requests of some topics in a folder on this machine, so that a search need not read them all again. It is a cache: everything in it
/// is in Kafka.
final class RequestIndex {
    /// Every request published at this moment or later is in it, in milliseconds since 1970.
    var reach: Int64 { .max }

    /// True if it has what a filter seeks. Values with `*`, for one, are in no index.
    func knows(_ filter: ResultFilter) -> Bool { false }

    /// Finds the newest requests that may match.
    ///
    /// - Parameters:
    ///   - filter: What is sought. Its terms that a request alone decides are looked at, its times are not.
    ///   - since: The first moment of publication, in milliseconds since 1970.
    ///   - until: The last moment, which is included.
    ///   - isPossible: Sends to tags or all that fit but for whom they went to, in place of those that name it.
    ///   - limit: The number that is wanted.
    /// - Returns: The requests, newest first: at least `limit` if there are so many, and all of the last millisecond.
    /// - Throws: The failure of the database.
    func rows(
        matching filter: ResultFilter, since: Int64, through until: Int64, isPossible: Bool, limit: Int
    ) throws(SQLiteError) -> [IndexedRequest] { [] }

    /// The facts of the request whose record stands at a place and was published about then, or nil.
    func facts(at place: RecordPlace, publishedAt: Int64) throws(SQLiteError) -> RequestFacts? { nil }
}
