package import Kafka

/// The partitions that workers of this version leave, because a newer version wrote what comes next there.
package enum NewerRecords {
    /// The remedy for an operator.
    package static let remedy = "start workers of the version that wrote it; see `pushfan help upgrading`"

    /// The names of the partitions, and the reason for which nothing is read there, or nil without any.
    package static func text(_ newer: [TopicPartition]) -> String? {
        guard !newer.isEmpty else { return nil }
        let names = newer.prefix(3).map { "\($0)" }.joined(separator: ", ")
        let rest = newer.count > 3 ? " and \(newer.count - 3) more" : ""
        return "a newer version wrote what comes next in \(names)\(rest): workers of this version leave it"
    }
}
