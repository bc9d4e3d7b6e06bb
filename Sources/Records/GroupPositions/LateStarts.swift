public import Delivery
import Kafka

/// Decides where partitions begin once their records have answered. Belongs to one thread.
public final class LateStarts {
    /// The place where a partition begins.
    public struct Start: Sendable {
        /// The ruling, or nil if it begins at the group's position.
        public let ruling: AssignmentPlan.Ruling?
        /// The partition's end, or nil if that is not known.
        public let end: Int64?
    }

    private let rule: StartRule
    private let prober: LogProber

    /// Nothing was asked yet.
    public convenience init(_ terms: GroupTerms) {
        self.init(rule: terms.start, asking: LogProber(terms.kafka, limit: StartFinder.Limits().answer))
    }

    init(rule: StartRule, asking prober: LogProber) {
        self.rule = rule
        self.prober = prober
    }

    /// The places where partitions begin, all asked about at once.
    ///
    /// - Parameter probes: Their probes, which are answered.
    /// - Returns: One for each, in order, or nil where what else has to be known could not be learnt.
    public func starts(of probes: [PartitionProbe]) -> [Start?] {
        let completed = completed(probes.filter(\.isDoubtful))
        return probes.map { probe in
            guard let probe = probe.isDoubtful ? completed[probe.partition] : probe else { return nil }
            return Start(ruling: PartitionStarts([probe], rule: rule).rulings[probe.partition], end: probe.end)
        }
    }

    /// The probes with their ends and beginnings, but for those of which these could not be learnt.
    private func completed(_ probes: [PartitionProbe]) -> [TopicPartition: PartitionProbe] {
        var probes = probes
        do throws(KafkaError) {
            for (index, end) in prober.knownEnds(of: probes.map(\.partition)).enumerated() { probes[index].end = end }
            probes.removeAll { $0.end == nil }
            _ = try prober.complete(&probes, since: nil)
        } catch {
            return [:]
        }
        return Dictionary(uniqueKeysWithValues: probes.lazy.filter { $0.end != nil }.map { ($0.partition, $0) })
    }
}
