import Delivery

/// Where a partition begins that cannot begin at the group's position.
struct PartitionStart {
    var decision: StartRule.Decision
    var cause: StartRule.Cause
    /// The group's position, if it has one.
    var committed: Int64?
    /// Where the partition ended.
    var end: Int64
    /// How many records it held, at most: ends of transactions count as well.
    var waiting: Int64

    /// Of a partition without a position of which nothing is known.
    static let undecided = PartitionStart(decision: .undecided, cause: .noPosition, end: 0, waiting: 0)
}
