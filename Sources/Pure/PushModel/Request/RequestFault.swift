/// One thing that is wrong with a request that could be read.
public struct RequestFault: Sendable, Equatable {
    /// The most faults that are named of one request or call. A hostile one may be wrong in ten thousand places.
    public static let maximumCount = 32

    /// The class of the fault.
    public var code: ErrorCode
    /// The JSON Pointer (RFC 6901) of what is wrong, empty for the record as a whole.
    public var pointer: String
    /// A plain sentence of what is wrong and what is allowed. Never quotes a device handle.
    public var message: String

    /// A fault of the given class at `pointer`.
    public init(_ code: ErrorCode, at pointer: String, message: String) {
        self.code = code
        self.pointer = pointer
        self.message = message
    }
}

extension [RequestFault] {
    /// Adds a fault to the first of a call, which say enough. Beyond them it is not even made: its pointer takes a way through all that
    /// stands before it.
    public mutating func note(_ fault: @autoclosure () -> RequestFault) {
        if count < RequestFault.maximumCount { append(fault()) }
    }
}

/// The reason why a record cannot be understood at all. The record goes to the dead-letter topic.
public enum UnreadableRecord: Error, Sendable, Equatable {
    /// There is no value: a tombstone, or zero bytes.
    case noValue
    /// The value is no JSON.
    case notJSON(JSONError)
    /// The value is JSON, but no object.
    case notAnObject
    /// It is in a delay lane and does not say what it waits for.
    case notDelayed
    /// Brokers reject its result for good. Comes with Kafka's name of their error.
    case notTaken(String)

    /// The reason in a bounded vocabulary, for headers and metrics.
    public var reason: String {
        switch self {
        case .noValue: "empty"
        case .notJSON(let error): error.reason.rawValue
        case .notAnObject: "not_an_object"
        case .notDelayed: "not_delayed"
        case .notTaken: "not_taken"
        }
    }

    /// A plain sentence.
    public var message: String {
        switch self {
        case .noValue: "The record has no value."
        case .notJSON(let error): error.sentence
        case .notAnObject: "The value is JSON, but not an object."
        case .notDelayed: "The record is in a delay lane, and its headers do not say what it waits for."
        case .notTaken(let error): "Brokers reject the result of this record (\(error)); this dead letter replaces it."
        }
    }
}

extension RequestFault: Error {}
