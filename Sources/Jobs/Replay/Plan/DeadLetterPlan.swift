import Delivery
import Kafka
import PushModel
package import Replay
package import ResultQuery

/// Finds the dead letters that can be given back, and writes them into a plan's file.
package struct DeadLetterPlan {
    /// A dead letter that is shown.
    package struct Sample {
        /// Its place in the dead-letter topic.
        package let place: RecordPlace
        /// The topic that it came from, or nil if it names none.
        package let topic: String?
        /// The reason for which it could not be understood, or nil if it names none.
        package let code: String?
        /// The reason for which it is not given back, or nil when it is.
        package let leftover: Leftover?
    }

    /// The file's first line.
    package private(set) var header: ReplayPlanHeader
    /// The first of them.
    package private(set) var samples: [Sample] = []
    private let edits: [RequestEdit]
    private let history: ReplayHistory
    private let scan: TopicScan
    private let path: String

    /// A plan with the facts that are known before.
    package init(
        _ header: ReplayPlanHeader, _ edits: [RequestEdit], _ history: ReplayHistory, _ context: JobContext, path: String
    ) {
        self.header = header
        self.edits = edits
        self.history = history
        scan = TopicScan(context, topic: context.topics.deadLetters)
        self.path = path
    }

    /// Reads the topic and writes the file. Without codes any reason counts.
    package mutating func make(_ range: ResultFilter, codes: [String]) throws(JobFailure) {
        let file = try LineFile(path)
        let reader = try scan.open(range.since.map { .time($0) } ?? .beginning, BackwardScan.stop(range))
        defer { reader.close() }
        var places: [RecordPlace] = []
        try scan.read(reader) { record in
            guard range.covers(record.timestamp ?? 0) else { return }
            let place = RecordPlace(topic: scan.topic, partition: record.partition, offset: record.offset)
            let letter = DeadLetter(FetchedRecord(record))
            guard codes.isEmpty || codes.contains(letter?.reason ?? "") else { return }
            header.counts.matched += 1
            let reason = self.reason(letter, place)
            if let reason {
                header.counts.left[reason, default: 0] += 1
                file.add(ReplayLeft(reason: reason, requestID: place.description, place: place, sends: .all).json)
            } else {
                places.append(place)
            }
            guard samples.count < PlanMaker.sampleCount else { return }
            samples.append(
                Sample(place: place, topic: letter?.topic, code: letter?.reason, leftover: reason))
        }
        for (number, place) in places.sorted().enumerated() {
            file.add(ReplayItem(number: number, requestID: place.description, place: place, sends: .all).json)
        }
        header.counts.eligible = places.count
        header.counts.safe = places.count
        header.counts.requests = places.count
        try file.finish(header: header.json)
    }

    /// The reason for which a dead letter is not given back, or nil when it is.
    private func reason(_ letter: DeadLetter?, _ place: RecordPlace) -> Leftover? {
        guard let letter else { return .invalid }
        guard history.replayed(place).isEmpty else { return .replayed }
        guard letter.isWhole else { return .cut }
        return letter.edited(edits) == nil ? .invalid : nil
    }
}
