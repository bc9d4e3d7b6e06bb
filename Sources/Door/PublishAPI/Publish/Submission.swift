import HTTPServing

/// A request as a call brings it: alone, or as one of a batch.
struct Submission: Sendable {
    /// The request, or the event that holds it.
    let body: [UInt8]
    /// How `body` holds it.
    let form: PublishForm
    /// The call's header fields: trace context, and the attributes of an event in binary mode.
    let headers: HTTPFields
    /// The call's `Idempotency-Key`, or nil for none.
    let key: IdempotencyKey?
    /// Its place in the batch, from 0; nil for one that comes alone.
    var index: Int?
    /// The line of the call's body on which it begins, from 1.
    var line = 1
}
