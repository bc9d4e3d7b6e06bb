import PushModel

/// The bounds of calls and answers that the description names, too.
enum APILimit {
    /// The most bytes of the body of a request, and of a plan, which may have a record in it.
    static let requestByteCount = RequestReader.maximumRecordByteCount
    /// The most bytes of the body of a batch.
    static let batchByteCount = 4 << 20
    /// The most requests of a batch.
    static let batchCount = 1000
    /// The most bytes of the body of an order. The key of its record has no more.
    static let orderByteCount = OrderRecord.maximumKeyByteCount
    /// The most bytes of the body that begins a session of the page.
    static let sessionByteCount = 1024
    /// The most bytes of an idempotency key.
    static let idempotencyKeyByteCount = 255
    /// The longest wait for the end of a request, in seconds.
    static let wait = 30
    /// The minutes of the history that are kept.
    static let historyMinutes = 60
    /// The most incidents of an answer.
    static let incidentCount = 200
    /// The most orders of an answer.
    static let orderCount = 1000
    /// The limits of pages in words.
    static let pageText = "100 by default; at most 500 results, 100 dead letters (50 by default), or 1,000 of others"
}
