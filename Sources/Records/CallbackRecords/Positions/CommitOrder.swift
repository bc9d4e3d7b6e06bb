import Kafka

/// The order in which positions of groups are committed: all together, but one by one where that fails, and last of all those that failed
/// before. So a group whose coordinator is away stops no other.
struct CommitOrder {
    /// The groups that failed when they were committed last.
    private(set) var apart: Set<String> = []

    /// Commits the positions of groups, those that `commit` gets at once together.
    ///
    /// - Parameters:
    ///   - groups: The groups. Where there is no time for all, the first come first.
    ///   - isOver: Says if there is no time for another group.
    ///   - commit: Commits.
    /// - Throws: The last failure, if a group is not committed.
    mutating func run(
        _ groups: [String], unless isOver: () -> Bool, by commit: ([String]) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        var (failure, failed): (KafkaError?, Set<String>) = (nil, [])
        let together = groups.filter { !apart.contains($0) }
        var single = groups.filter(apart.contains)
        do throws(KafkaError) {
            if !together.isEmpty { try commit(together) }
        } catch {
            // Another process has the name, and what this one knows is older.
            if error.isFenced { throw error }
            failure = error
            if together.count == 1 { failed = Set(together) } else { single = together + single }
        }
        for group in single {
            do throws(KafkaError) {
                guard !isOver() else { throw failure ?? .overlongTransaction }
                try commit([group])
            } catch {
                if error.isFenced { throw error }
                failure = error
                failed.insert(group)
            }
        }
        apart = apart.subtracting(groups).union(failed)
        if let failure, !failed.isEmpty { throw failure }
    }
}
