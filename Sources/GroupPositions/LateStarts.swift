public import Delivery
public import Kafka

/// Decides where a partition begins once its records have answered. Belongs to one thread.
public final class LateStarts {
    private let terms: GroupTerms
    private let prober: LogProber

    /// Nothing was asked yet.
    public init(_ terms: GroupTerms) {
        self.terms = terms
        prober = LogProber(terms.kafka, limit: StartFinder.Limits().answer)
    }

    /// The place where a partition begins.
    ///
    /// - Parameter probe: Its probe, which is answered.
    /// - Returns: The ruling, or nil if it begins at the group's position, and its end if that is known.
    /// - Throws: What else has to be known could not be learnt.
    public func start(of probe: PartitionProbe) throws(KafkaError) -> (ruling: AssignmentPlan.Ruling?, end: Int64?) {
        var probes = [probe]
        if probe.isDoubtful {
            let admin = try prober.connected()
            let ends = try admin.ends(of: [probe.partition.partition], in: probe.partition.topic, timeout: prober.limit)
            probes[0].end = ends.first
            try prober.complete(&probes, since: nil)
        }
        let starts = PartitionStarts(probes, rule: terms.start)
        return (starts.rulings[probe.partition], probes[0].end)
    }
}
