package import GroupPositions
import Groups
package import JobSupport
package import Kafka

/// Queries from Kafka the time that is left until it may delete requests without a result, read by a worker or by none.
package struct RetentionSurvey: Sendable {
    private let context: JobContext
    private let terms: GroupTerms

    /// A survey of a group's topics. The context's time-out holds for each query.
    package init(_ context: JobContext, terms: GroupTerms) {
        self.context = context
        self.terms = terms
    }

    /// The outlook of each topic that deletes by age and whose settings may be read. Blocks until the last query is answered.
    ///
    /// - Throws: The first query that Kafka did not answer, or refused.
    package func outlooks() throws(KafkaError) -> [RetentionOutlook] {
        let admin = try TopicAdmin(context.kafka, seesUncommitted: true)
        let names = terms.requests + terms.delays + [terms.held]
        // Only those whose settings are known are asked about further: the library's embedded cluster makes what it is asked for.
        let answers = try admin.settings(ofTopics: names, timeout: context.timeout)
        let known = zip(names, answers).compactMap { name, answer in (try? answer.get()).map { (name, $0) } }
            .filter { RetentionOutlook($0, settings: $1, oldest: nil, now: 0) != nil }
        guard !known.isEmpty else {
            for case .failure(let error) in answers where !error.isAuthorization { throw error }
            return []
        }
        let described = try admin.describe(topics: known.map(\.0), timeout: context.timeout)
        let topics = zip(known, described.topics).compactMap { topic, description in
            if case .existing(let count) = description { (topic: topic.0, partitionCount: count) } else { nil }
        }
        let positions = try GroupExamination(terms, admin: admin, context: context).positions(in: topics)
        return try outlooks(Dictionary(known) { first, _ in first }, positions: positions)
    }

    /// The outlooks of topics whose settings and positions are known.
    func outlooks(_ settings: [String: [TopicSetting]], positions: [GroupPosition]) throws(KafkaError) -> [RetentionOutlook] {
        let now = context.now()
        let oldest = try oldest(positions.filter { settings[$0.partition.topic] != nil })
        return settings.keys.sorted().compactMap { topic in
            RetentionOutlook(topic, settings: settings[topic] ?? [], oldest: oldest[topic], now: now)
        }
    }

    /// The time of the oldest record from the group's position on, of each topic that has one. A partition without a position has none:
    /// it is not known whether anything there is the group's. Records of aborted transactions do not wait, those of open ones do.
    private func oldest(_ positions: [GroupPosition]) throws(KafkaError) -> [String: Int64] {
        let waiting = positions.filter { $0.committed != nil && $0.lag > 0 }
        guard !waiting.isEmpty else { return [:] }
        let reader = try RangeReader(context.kafka, readAhead: 1 << 20)
        let ends = zip(waiting, try reader.ends(of: waiting.map(\.partition), timeout: context.timeout))
            .map { position, end in min(max(end, position.start), position.high) }
        var times: [String: Int64] = [:]
        try note(zip(waiting, ends).map { RangeReader.Part($0.partition, offsets: $0.start..<$1) }, by: reader, in: &times)
        let open = zip(waiting, ends).filter { $1 < $0.high }.map { RangeReader.Part($0.partition, offsets: $1..<$0.high) }
        guard !open.isEmpty else { return times }
        try note(open, by: RangeReader(context.kafka, readAhead: 1 << 20, seesUncommitted: true), in: &times)
        return times
    }

    /// Notes the time of the first record in each of the ranges, the least for each topic.
    private func note(
        _ parts: [RangeReader.Part], by reader: RangeReader, in times: inout [String: Int64]
    ) throws(KafkaError) {
        try reader.read(parts, timeout: context.timeout, unless: context.isCancelled) { index, record in
            guard let time = record.timestamp else { return false }
            let topic = parts[index].partition.topic
            times[topic] = min(times[topic] ?? time, time)
            return false
        }
    }
}
