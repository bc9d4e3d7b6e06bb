public import HTTP1

/// The end of one exchange.
public struct Completion: Sendable {
    /// The end of an exchange.
    public enum Outcome: Sendable {
        /// The peer answered, with any status.
        case answer(Answer)
        /// There is no answer.
        case failure(TransportFailure)
    }

    /// The caller's number of the exchange.
    public let id: Int
    /// The request's memory, given back for the next one.
    public var request: [UInt8]
    /// The end of the exchange.
    public let outcome: Outcome

    /// Takes the completion apart, so that neither the request's memory nor the answer's has to be copied or counted.
    public consuming func parts() -> (id: Int, request: [UInt8], outcome: Outcome) { (id, request, outcome) }
}
