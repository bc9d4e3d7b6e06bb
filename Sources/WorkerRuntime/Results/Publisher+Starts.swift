import Delivery
import Kafka
import PushModel

/// Where partitions of requests begin that cannot begin at the group's position: there is none, or the partition ends before it.
extension Publisher {
    /// Finds out where partitions begin elsewhere than at the group's position.
    ///
    /// - Parameters:
    ///   - positions: The group's positions.
    ///   - partitionsBehindCommit: Partitions that were seen to end before their position, whatever they end at now.
    ///   - admin: Sees what is not committed.
    ///   - found: Takes what to do with each of those, and where partitions end. The others begin at their position, or with all that is
    ///     retained if there is none.
    /// - Throws: It could not be learnt, of a partition that cannot be read before.
    func findStarts(
        of positions: [CommittedOffset], _ partitionsBehindCommit: Set<TopicPartition>, _ admin: TopicAdmin,
        into found: inout Committer.PartitionEnds
    ) throws(KafkaError) {
        for lane in Lane.allCases {
            let topic = configuration.topics.requests(of: lane)
            let asked = positions.filter { $0.partition.topic == topic && isWorthAsking($0) }
            guard !asked.isEmpty else { continue }
            let numbers = asked.map(\.partition.partition)
            let mustKnow = asked.contains { $0.offset == nil || partitionsBehindCommit.contains($0.partition) }
            let limit = Duration.seconds(mustKnow ? 5 : 1)
            let ends: [Int64]
            do throws(KafkaError) {
                ends = try admin.ends(of: numbers, in: topic, timeout: limit)
            } catch {
                // Of one that is away nothing is known; when it is back, what is read of it tells.
                guard mustKnow else { continue }
                throw error
            }
            let unplaced = asked.filter { $0.offset == nil }.map(\.partition.partition)
            let decisions = try configuration.start == .safe ? safeDecisions(in: topic, of: unplaced, admin) : []
            for (position, end) in zip(asked, ends) {
                found.requests[position.partition] = end
                let isBeyond = position.offset.map { $0 > end || partitionsBehindCommit.contains(position.partition) }
                guard isBeyond ?? true else { continue }
                found.starts[position.partition] = try start(of: position, end: end, decisions, admin)
            }
        }
    }

    /// Without a position, everything is begun with when that is wanted, and nothing has to be asked.
    private func isWorthAsking(_ position: CommittedOffset) -> Bool {
        position.offset != nil || configuration.start != .beginning
    }

    /// What `safe` decides about partitions of a topic without a position, for which those of other workers matter as well.
    private func safeDecisions(
        in topic: String, of unplaced: [Int32], _ admin: TopicAdmin
    ) throws(KafkaError) -> [StartRule.Decision?] {
        guard let last = unplaced.max() else { return [] }
        let limit = Duration.seconds(5)
        // What was assigned is there, even if the consumer has not heard of it yet.
        let count = try max(Int(last) + 1, group.partitionCounts(of: [topic], timeout: limit).first ?? 0)
        let partitions = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        let isKnown = try group.committed([partitions[0]], timeout: limit).first?.offset != nil
        var isPlaced = partitions.map { !unplaced.contains($0.partition) }
        // Where the topic is known, no other partition is asked about: each is held back while its worker commits.
        if !isKnown { isPlaced = try group.committed(partitions, timeout: limit).map { $0.offset != nil } }
        let marks = try admin.watermarks(ofTopic: topic, partitionCount: count, timeout: limit)
        let time = StartRule.safe.time(now: clock.millisecondsSince1970) ?? 0
        let young = try admin.offsets(since: time, ofTopic: topic, partitionCount: count, timeout: limit)
        return StartRule.safe.decisions(
            in: isPlaced.indices.map {
                StartRule.Partition(
                    low: marks[$0].low, high: marks[$0].high, since: young[$0], hasPosition: isPlaced[$0])
            })
    }

    private func start(
        of position: CommittedOffset, end: Int64, _ decisions: [StartRule.Decision?], _ admin: TopicAdmin
    ) throws(KafkaError) -> PartitionStart {
        let (partition, limit) = (position.partition, Duration.seconds(5))
        let rule = configuration.start
        let low = try admin.beginnings(of: [partition.partition], in: partition.topic, timeout: limit).first ?? 0
        let waiting = max(0, end - low)
        let number = Int(partition.partition)
        if position.offset == nil, decisions.indices.contains(number), let decision = decisions[number] {
            return PartitionStart(decision: decision, cause: .noPosition, end: end, waiting: waiting)
        }
        let latest = position.offset == nil ? nil : (try? FinishedOffsets(decoding: position.metadata))?.latest
        var since: Int64?
        let ruled = rule.time(now: clock.millisecondsSince1970)
        if let time = latest.map({ $0 == .max ? $0 : $0 + 1 }) ?? ruled, low < end {
            since = try admin.offset(since: time, in: partition, timeout: limit)
        }
        guard let committed = position.offset else {
            let decision = rule.decision(low: low, high: end, since: since)
            return PartitionStart(decision: decision, cause: .noPosition, end: end, waiting: waiting)
        }
        let (decision, cause) = rule.decisionBeyondEnd(low: low, high: end, latest: latest, since: since)
        return PartitionStart(decision: decision, cause: cause, committed: committed, end: end, waiting: waiting)
    }
}

/// Where a partition begins that cannot begin at the group's position.
struct PartitionStart {
    var decision: StartRule.Decision
    var cause: StartRule.Cause
    /// The group's position, if it has one.
    var committed: Int64?
    /// Where the partition ended.
    var end: Int64
    /// How many records it holds, at most: ends of transactions count as well.
    var waiting: Int64
}
