import Delivery
import Kafka
import PushModel

extension AssignmentPlan.RefusedPartitions {
    /// The things that an operator has to know and to do. `partition` finds the partition of a slot.
    func reason(group: String, partition: (Int) -> (id: TopicPartition, role: PartitionRole)) -> String {
        let waiting = zip(slots, counts).filter { $0.1 > 0 }
        let names = waiting.prefix(3).map { "\(partition($0.0).id) (\($0.1))" }.joined(separator: ", ")
        let all = names + (waiting.count > 3 ? " and \(waiting.count - 3) more" : "")
        let count = waiting.reduce(Int64(0)) { $0.addingSaturated($1.1) }
        let places = waiting.prefix(3).map { partition($0.0).id }.map { "\($0.topic):\($0.partition)" }.joined(separator: " ")
        let command = "stop the group's workers and run `pushfan group start --at finished"
        let effect = ", which sends what has no result (--dry-run shows it; --at beginning sends all, --at end nothing)"
        let otherwise =
            ", or start a lone worker once with --kafka.start beginning or --kafka.start end;"
            + " if the group had another name before, `pushfan group adopt NAME` goes on where that one was"
        switch cause {
        case .noPosition:
            return
                "\(count) requests wait in \(all), where the group '\(group)' has no position, "
                + (partition(slots[0]).role.hasRequests ? "some for more than ten minutes: " : "and some may have been sent: ")
                + "\(command)`\(effect)\(otherwise)"
        case .lostRecord:
            return "\(all): the last record that the group '\(group)' had read is gone; it lost records or was recreated: "
                + "\(command) --replace \(places)`\(effect)"
        case .recreated, .lostEnd, .unknownEnd:
            return
                "\(count) records are in \(all), which ended before the position of the group '\(group)'; it lost records or was "
                + "recreated: \(command) --replace \(places)`\(effect)\(otherwise)"
        }
    }
}
