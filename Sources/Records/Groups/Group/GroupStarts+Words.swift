import Delivery
import Kafka

extension GroupStarts {
    /// The command that sets the start of a group. Requests that have a result are not repeated.
    package static let command = "pushfan group start --at finished"

    /// The reasons why workers do not read partitions, and what an operator does about each.
    package var obstacles: [(text: String, command: String)] {
        let refused = refused
        func obstacle(_ cause: StartRule.Cause, _ text: (String) -> String) -> (text: String, command: String)? {
            let rows = refused.filter { $0.refusal == cause }
            guard !rows.isEmpty else { return nil }
            let command = cause == .noPosition ? Self.command : Self.replacement(of: rows.map(\.position.partition))
            return (text(Self.names(rows)) + ": workers leave these partitions until you say where the group begins", command)
        }
        return [
            obstacle(.noPosition) {
                "the group has no position in \($0); requests wait there for more than ten minutes, or may have been sent"
            },
            obstacle(.lostRecord) {
                "the last record that the group had read is gone from \($0); Kafka lost it, or the topic was recreated"
            },
            obstacle(.unknownEnd) {
                "the group's position is beyond the log end in \($0); nothing is read there, as it is unknown what was sent"
            },
        ].compactMap(\.self)
    }

    /// The command that replaces unusable positions of the group. Three partitions are named.
    private static func replacement(of partitions: [TopicPartition]) -> String {
        let names = partitions.prefix(3).map { "\($0.topic):\($0.partition)" }.joined(separator: " ")
        return "\(command) --replace \(names)" + (partitions.count > 3 ? " ..." : "")
    }

    /// The names of three partitions, with what waits there, and the number of the rest.
    package static func names(_ rows: [Row]) -> String {
        let names = rows.prefix(3).map { row in
            "\(row.position.partition)" + (row.ruling.map { " (\($0.waiting) wait)" } ?? "")
        }
        return names.joined(separator: ", ") + (rows.count > 3 ? " and \(rows.count - 3) more" : "")
    }
}
