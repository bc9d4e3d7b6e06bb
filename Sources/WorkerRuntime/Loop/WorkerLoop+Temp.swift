import Delivery

extension WorkerLoop {
    /// Begins the assignment again if a partition ends before the group's position: then it is found out where to read it.
    func examinePartitionsBehindCommit() {
        guard !membership.behindCommit.isEmpty, membership.ownsPartitions else { return }
        beginAssignmentAgain(because: "a partition ends before the group's position")
    }
}
