public import PushModel

/// Finds the records of the results topic that a filter wants. A matcher is made once and used for all of them.
public struct ResultMatcher: Sendable {
    /// The filter for what is wanted.
    public let filter: ResultFilter
    /// After a match, the result.
    public private(set) var document = JSONDocument()
    private let glance: ResultGlance

    /// A matcher for the results that `filter` wants.
    public init(_ filter: ResultFilter) {
        self.filter = filter
        glance = ResultGlance(filter)
    }

    /// True if a record is a result, and a wanted one.
    ///
    /// - Parameters:
    ///   - json: The record's value.
    ///   - time: When it was written, in milliseconds since 1970.
    /// - Returns: False also for what is no result at all.
    public mutating func matches(_ json: Span<UInt8>, writtenAt time: Int64) -> Bool {
        guard filter.covers(time), !glance.rulesOut(json) else { return false }
        return document.readResult(json) && filter.matches(document)
    }
}

extension JSONDocument {
    /// Reads a record of the results topic.
    ///
    /// - Parameter json: The record's value.
    /// - Returns: Whether it is a result: an object with a `request_id`.
    public mutating func readResult(_ json: Span<UInt8>) -> Bool {
        do { try read(json) } catch { return false }
        guard let id = member("request_id", of: root) else { return false }
        return kind(of: id) == .string
    }
}
