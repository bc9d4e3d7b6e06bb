public import PushModel

/// Compares requests as they were published with the conditions of a filter. A matcher is made once and used for many records.
public struct RequestMatcher: Sendable {
    /// The relation of a request to what is sought.
    public enum Match: Sendable, Equatable {
        /// It is another one.
        case none
        /// It went to a tag or to all, and fits but for whom it went to, which the hub alone knows.
        case possible
        /// It fits. `asPerson` is true if a user, an installation or a device that was sought is named by its audience.
        case named(asPerson: Bool)
    }

    /// The filter.
    public let filter: ResultFilter

    /// A matcher for a filter.
    public init(_ filter: ResultFilter) { self.filter = filter }

    /// True if a record cannot match, as its bytes show without reading it. False in every doubt.
    public func rulesOut(_ json: Span<UInt8>) -> Bool { false }

    /// The relation of a request to the filter's `sought`, and to its terms that a request alone decides: its id, source, tenant, topic,
    /// partition, labels and replay. All others, times included, are not looked at.
    public func match(_ request: borrowing PushRequest, from topic: String, partition: Int32) -> Match {
        .named(asPerson: false)
    }
}
