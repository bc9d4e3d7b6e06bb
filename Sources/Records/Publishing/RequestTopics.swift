public import PushModel

/// The topics of requests that publishers write to, one for each lane (page Scheduling, "Lanes").
public struct RequestTopics: Sendable, Equatable {
    /// The topic of urgent requests.
    public var high: String
    /// The topic of all others (`kafka.topics.requests`).
    public var normal: String
    /// The topic of requests that may wait.
    public var bulk: String

    /// The topics by their names.
    public init(high: String, normal: String, bulk: String) {
        self.high = high
        self.normal = normal
        self.bulk = bulk
    }

    /// The topic that a request belongs to: its priority chooses the lane.
    ///
    /// - Parameter priority: The request's priority, or `normal` if it names none.
    /// - Returns: The topic's name.
    public func name(for priority: PushRequest.Priority) -> String {
        switch priority {
        case .high: high
        case .normal: normal
        case .low: bulk
        }
    }

    /// The names that there are, the most urgent first.
    public var all: [String] { [high, normal, bulk] }
}
