import Kafka
import Replay
import Settings

/// Finds the requests of a plan whose originals retention has removed since it was made.
struct GoneOriginals {
    /// Those that are shown.
    private static let sampleCount = 10

    /// How many of them there are.
    private(set) var count = 0
    /// The first of them.
    private(set) var samples: [ReplayItem] = []
    /// The partitions concerned, and where they begin now.
    private(set) var beginnings: [RecordPlace] = []

    /// Looks where the topics of the originals begin now; no record is read.
    ///
    /// - Parameters:
    ///   - plan: The plan, none of it read yet.
    ///   - number: What lies before this item was dealt with.
    ///   - starts: The first offset of each partition of a topic.
    /// - Throws: The plan is damaged, or what `starts` throws.
    init(
        _ plan: consuming ReplayPlanReader, from number: Int,
        starts: (String) throws(CommandFailure) -> [Int32: Int64]
    ) throws(CommandFailure) {
        var known: [String: [Int32: Int64]] = [:]
        while let item = try plan.nextItem() {
            guard item.number >= number else { continue }
            let topic = item.place.topic
            if known[topic] == nil { known[topic] = try starts(topic) }
            let start = known[topic]?[item.place.partition] ?? .max
            if item.place.offset < start { add(item, start) }
        }
    }

    private mutating func add(_ item: ReplayItem, _ start: Int64) {
        count += 1
        if samples.count < Self.sampleCount { samples.append(item) }
        var place = item.place
        place.offset = start
        if !beginnings.contains(place) { beginnings.append(place) }
    }

    /// What a person has to know before the replay begins; several lines, the last without its end.
    var text: String {
        var lines = ["\(count) of the original requests are gone by retention since the plan was made; they will be left out:"]
        for item in samples { lines.append("  \(Sanitised.line(item.requestID))  \(item.place)") }
        if count > samples.count { lines.append("  and \(count - samples.count) more") }
        for place in beginnings {
            let begin = place.offset == .max ? "is no more" : "begins at offset \(place.offset) now"
            lines.append("partition \(place.partition) of \(Sanitised.line(place.topic)) \(begin)")
        }
        return lines.joined(separator: "\n")
    }
}

extension Invocation {
    /// The first offset of each partition of a topic; none of a topic that is no more.
    ///
    /// - Throws: The brokers cannot be asked.
    func firstOffsets(
        of topic: String, _ settings: Settings, timeout: Duration
    ) throws(CommandFailure) -> [Int32: Int64] {
        do throws(KafkaError) {
            // To stop at the very first record is to read nothing.
            let reader = try TopicReader(
                settings.kafkaConfiguration(), topic: topic, start: .beginning, stop: .time(0), timeout: timeout)
            defer { reader.close() }
            return reader.startOffsets
        } catch {
            if error.isUnknownTopicOrPartition { return [:] }
            throw failure(error, settings.kafka, to: "look where \(topic) begins")
        }
    }
}
