/// The cluster that a process works with: the first that it has seen. A pure value.
///
/// An address can come to lead to another cluster: it is given away again, or a name points elsewhere. What was read of the first must not
/// be written to that one.
public struct ClusterIdentity: Sendable, Equatable {
    /// The id of the first cluster, or nil before any broker has told one.
    public private(set) var first: String?
    /// The id of another cluster that has answered since, or nil while none has.
    public private(set) var other: String?

    /// One that has seen no cluster.
    public init() {}

    /// Notes the id that a broker told. Clusters without one are not told apart.
    ///
    /// - Parameter id: The id.
    /// - Returns: Whether it is the first sign of another cluster.
    public mutating func note(_ id: String) -> Bool {
        guard !id.isEmpty else { return false }
        guard let first else {
            first = id
            return false
        }
        guard id != first, other == nil else { return false }
        other = id
        return true
    }

    /// The change in one sentence, or nil while there is none.
    public var change: String? {
        guard let first, let other else { return nil }
        return "another Kafka cluster answers at the same address: its id is \(other), and that of the first is \(first)"
    }
}
