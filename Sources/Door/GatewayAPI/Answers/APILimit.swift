import PushModel

/// The bounds of calls and answers that the description names, too.
package enum APILimit {
    /// The most bytes of the body of a request, and of a plan, which may have a record in it.
    package static let requestByteCount = RequestReader.maximumRecordByteCount
    /// The most bytes of the body of a batch.
    package static let batchByteCount = 4 << 20
    /// The most requests of a batch.
    package static let batchCount = 1000
    /// The most bytes of the body of an order. The key of its record has no more.
    package static let orderByteCount = OrderRecord.maximumKeyByteCount
    /// The most bytes of the body that begins a session of the page.
    package static let sessionByteCount = 1024
    /// The most bytes of an idempotency key.
    package static let idempotencyKeyByteCount = 255
    /// The longest wait for the end of a request, in seconds.
    package static let wait = 30
    /// The minutes of the history that are kept.
    package static let historyMinutes = 60
    /// The most incidents of an answer.
    package static let incidentCount = 200
    /// The most orders of an answer.
    package static let orderCount = 1000
    /// The limits of pages in words.
    static let pageText = "100 by default; at most 500 results, 100 dead letters (50 by default), or 1,000 of others"
}
