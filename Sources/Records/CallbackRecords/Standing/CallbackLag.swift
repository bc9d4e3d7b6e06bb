package import JobSupport
import Kafka

/// Finds out how far receivers are behind, from the positions of their groups and the ends of the topics.
package struct CallbackLag: Sendable {
    /// The longest time for the ages of what waits, which take a reading for each place in a partition.
    private static let ageLimit = Duration.seconds(1)
    /// The longest wait for the settings of the topic, without which the rest is known.
    private static let settingsLimit = Duration.seconds(2)

    private let context: JobContext
    private let topics: CallbackTopics

    /// A survey that has asked nothing yet.
    ///
    /// - Parameters:
    ///   - topics: The names of the topics.
    ///   - context: The brokers, the longest wait for each answer, and the clock.
    package init(_ topics: CallbackTopics, by context: JobContext) { (self.topics, self.context) = (topics, context) }

    /// The standing of each receiver, in the order of their names as given.
    ///
    /// - Parameter receivers: The names.
    /// - Returns: One element for each name.
    /// - Throws: Kafka did not answer, or refused it, or the job was cancelled.
    package func standings(of receivers: [String]) throws(JobFailure) -> [CallbackStanding] {
        let found = try JobFailure.naming(.readPositions) { () throws(KafkaError) in try find(receivers) }
        guard !context.isCancelled() else { throw .cancelled }
        return found
    }

    private func find(_ receivers: [String]) throws(KafkaError) -> [CallbackStanding] {
        let admin = try TopicAdmin(context.kafka)
        let partitions = try partitions(admin)
        let survey = PositionSurvey(receivers.map { CallbackTopics.group(of: $0) }, partitions: partitions, context: context)
        let positions = try survey.positions()
        // Ends are asked for last, so that no position lies behind them.
        let marks = try admin.watermarks(of: partitions, timeout: context.timeout)
        let ends = Dictionary(zip(partitions, marks.map(\.high))) { first, _ in first }
        var standings = receivers.map { CallbackStanding($0) }
        var waiting: [TopicPartition: [Int64: [Int]]] = [:]
        for index in receivers.indices {
            for ((position, partition), mark) in zip(zip(positions[index], partitions), marks) {
                guard partition.topic == topics.results else {
                    standings[index].addReplays(position: position, low: mark.low, high: mark.high)
                    continue
                }
                guard let position else { continue }
                standings[index].add(position: position, low: mark.low, high: mark.high)
                let next = max(position, mark.low)
                if next < mark.high { waiting[partition, default: [:]][next, default: []].append(index) }
            }
        }
        try noteAges(of: waiting, ends: ends, in: &standings)
        let kept = waiting.isEmpty ? nil : retention(admin)
        for index in standings.indices { standings[index].measure(kept: kept, now: context.now()) }
        return standings
    }

    /// The partitions of results, and of what is sent once more if there is such a topic.
    private func partitions(_ admin: TopicAdmin) throws(KafkaError) -> [TopicPartition] {
        let names = [topics.results, topics.replays]
        var found: [TopicPartition] = []
        for (name, topic) in zip(names, try admin.describe(topics: names, timeout: context.timeout).topics) {
            switch topic {
            case .existing(let count):
                found += (0..<Int32(clamping: count)).map { TopicPartition(topic: name, partition: $0) }
            case .failed(let error): throw error
            case .missing: if name == topics.results { throw .unknownTopic(name) }
            }
        }
        return found
    }

    /// Notes the age of the first record at each place where receivers wait. In each round every partition is read at one place, the places
    /// with the most receivers first. What is not reached in time has no age.
    private func noteAges(
        of waiting: [TopicPartition: [Int64: [Int]]], ends: [TopicPartition: Int64], in standings: inout [CallbackStanding]
    ) throws(KafkaError) {
        guard !waiting.isEmpty else { return }
        let end = ContinuousClock.now + Self.ageLimit
        let reader = try RangeReader(context.kafka, portion: 16 << 10, readAhead: 1 << 20)
        var rest = waiting.mapValues { places in places.sorted { ($0.value.count, $1.key) < ($1.value.count, $0.key) } }
        while !rest.isEmpty, ContinuousClock.now < end {
            var (parts, owners): ([RangeReader.Part], [[Int]]) = ([], [])
            for (partition, places) in rest {
                guard let place = places.last, let high = ends[partition] else { continue }
                parts.append(RangeReader.Part(partition, offsets: place.key..<max(place.key, high)))
                owners.append(place.value)
            }
            rest = rest.mapValues { $0.dropLast() }.filter { !$0.value.isEmpty }
            let isWhole = try reader.read(
                parts, timeout: context.timeout, unless: { context.isCancelled() || ContinuousClock.now >= end }
            ) { index, record in
                if let time = record.timestamp { for owner in owners[index] { standings[owner].note(waitingSince: time) } }
                return false
            }
            guard isWhole else { return }
        }
    }

    /// The time for which results are kept, in milliseconds. Nil if brokers delete nothing by age, or do not say, as the embedded one.
    private func retention(_ admin: TopicAdmin) -> Int64? {
        let limit = min(context.timeout, Self.settingsLimit)
        guard let settings = try? admin.settings(ofTopic: topics.results, timeout: limit) else { return nil }
        func value(_ name: String) -> String? { settings.first { $0.name == name }?.value }
        guard value("cleanup.policy")?.contains("delete") == true else { return nil }
        return value("retention.ms").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
