import Delivery
package import JobSupport
import Kafka
import PushModel
package import Replay
package import ResultQuery

/// Finds the dead letters that can be given back, and writes them into a plan's file.
package struct DeadLetterPlan {
    /// A dead letter that is shown.
    package struct Sample {
        /// Its place in the dead-letter topic, and its time.
        package let record: Original
        /// The place that it came from, `topic:partition:offset`, or the topic alone. Nil if it names neither.
        package let source: String?
        /// The source that its publisher named in a header, or nil.
        package let publisher: String?
        /// The reason for which it could not be understood, or nil if it names none.
        package let code: String?
        /// The reason for which it is not given back, or nil when it is.
        package let leftover: Leftover?
        /// The beginning of its value, as others wrote it.
        package let text: String
    }

    /// The most bytes of a value that a sample shows.
    private static let excerpt = 120

    /// The bytes that may wait in memory when single letters are read.
    private static let readAhead = 4 << 20

    /// The file's first line.
    package private(set) var header: ReplayPlanHeader
    /// The first of them.
    package private(set) var samples: [Sample] = []
    private let edits: [RequestEdit]
    private let history: ReplayHistory
    private let context: JobContext
    private let path: String?
    /// The offsets and times of those that are given back, by their partitions.
    private var letters: [Int32: [(offset: Int64, publishedAt: Timestamp?)]] = [:]

    /// A plan with the facts that are known before. Without a path it writes no file.
    package init(
        _ header: ReplayPlanHeader, _ edits: [RequestEdit], _ history: ReplayHistory, _ context: JobContext, path: String?
    ) {
        self.header = header
        self.edits = edits
        self.history = history
        self.context = context
        self.path = path
    }

    /// Reads the letters and writes the file. Without codes any reason counts.
    ///
    /// - Parameters:
    ///   - range: The times at which they were written.
    ///   - codes: The reasons for which they could not be understood.
    ///   - named: The letters themselves, in the topic of dead letters. Nothing else is read then. Empty for all.
    ///   - replacement: A request in place of the value of the only one that is named.
    ///   - source: A source that the replacement names, which the letter must name, too. Nil for one that may stand there in any case.
    /// - Throws: `replacement`, the file cannot be written, the job was cancelled, or Kafka fails. Then there is no file.
    package mutating func make(
        _ range: ResultFilter, codes: [String] = [], named: Set<Original> = [], replacement: [UInt8]? = nil,
        claiming source: String? = nil
    ) throws(JobFailure) {
        if let replacement { try replace(by: replacement, count: named.count) }
        var file: LineFile?
        if let path { file = try LineFile(path) }
        if named.isEmpty {
            try readTopic(range, codes: codes, into: file)
        } else {
            try read(named, range: range, codes: codes, claiming: source, into: file)
        }
        try addItems(file)
        try file?.finish(header: header.json, isCancelled: context.isCancelled)
    }

    /// Takes a value over into the header. JSON has line breaks between its words only, so that blanks can stand for them.
    private mutating func replace(by value: [UInt8], count: Int) throws(JobFailure) {
        guard count == 1 else { throw .room(ReplayFailure.replacement(.notOnePlace)) }
        guard DeadLetter.edited(value, edits, topic: context.topics.deadLetters) != nil else {
            throw .room(ReplayFailure.replacement(.invalidRequest))
        }
        header.replacement = value.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        // The plan nests it one level deeper.
        var document = JSONDocument()
        guard (try? document.read(header.json.span)) != nil else { throw .room(ReplayFailure.replacement(.invalidRequest)) }
    }

    private mutating func readTopic(_ range: ResultFilter, codes: [String], into file: LineFile?) throws(JobFailure) {
        let scan = TopicScan(context, topic: context.topics.deadLetters)
        let reader = try scan.open(range.since.map { .time($0) } ?? .beginning, BackwardScan.stop(range))
        defer { reader.close() }
        try scan.read(reader) { record in
            guard range.covers(record.timestamp ?? 0) else { return }
            let place = RecordPlace(topic: scan.topic, partition: record.partition, offset: record.offset)
            take(FetchedRecord(record), at: place, codes: codes, into: file)
        }
    }

    /// Reads single letters. What stands in another topic is none, whoever names it.
    private mutating func read(
        _ named: Set<Original>, range: ResultFilter, codes: [String], claiming source: String?, into file: LineFile?
    ) throws(JobFailure) {
        let context = context
        let originals = try JobFailure.naming(.readOriginals) { () throws(KafkaError) in
            try OriginalReader(context.kafka, readAhead: Self.readAhead, timeout: context.timeout)
        }
        let topic = context.topics.deadLetters
        let count = try JobFailure.naming(.read(topic: topic)) { () throws(KafkaError) in try originals.partitionCount(of: topic)
        }
        var found: RecordPlace?
        for original in named.sorted(by: { $0.place < $1.place }) where original.place != found {
            let place = original.place
            if context.isCancelled() { throw .cancelled }
            let record = try JobFailure.naming(.read(topic: topic)) { () throws(KafkaError) in
                place.topic == topic && place.partition < count ? try originals.record(at: place) : nil
            }
            if let record, original.mayBe(Original(at: place, publishedAt: record.publishedAt)) {
                found = place
                if let source, DeadLetter(record)?.names(source: source) != true {
                    throw .room(ReplayFailure.replacement(.foreignSource))
                }
                if range.covers(record.timestamp ?? 0) { take(record, at: place, codes: codes, into: file) }
            } else {
                leave(original, reason: .gone, into: file)
            }
        }
    }

    private mutating func take(_ record: FetchedRecord, at place: RecordPlace, codes: [String], into file: LineFile?) {
        let letter = DeadLetter(record)
        guard codes.isEmpty || codes.contains(letter?.reason ?? "") else { return }
        let original = Original(at: place, publishedAt: record.publishedAt)
        let reason = DeadLetter.leftover(fault(of: letter), of: original, after: history)
        if let reason {
            leave(original, reason: reason, into: file)
        } else {
            header.counts.matched += 1
            letters[place.partition, default: []].append((place.offset, original.publishedAt))
        }
        guard samples.count < PlanMaker.sampleCount else { return }
        samples.append(
            Sample(
                record: original, source: letter?.place?.description ?? letter?.topic,
                publisher: letter?.publisher, code: letter?.reason, leftover: reason,
                text: String(decoding: (record.value ?? []).prefix(Self.excerpt), as: UTF8.self)))
    }

    /// The fault for which a letter does not go back with the plan's changes, or nil. Changes mend a value that could not be read.
    private func fault(of letter: DeadLetter?) -> Leftover? {
        let fault = DeadLetter.fault(of: letter, in: context.topics)
        let isChanged = !edits.isEmpty || header.replacement != nil
        guard isChanged, fault == nil || fault == .broken else { return fault }
        return letter?.edited(edits, replacement: header.replacement) == nil ? .invalid : nil
    }

    private mutating func leave(_ original: Original, reason: Leftover, into file: LineFile?) {
        header.counts.matched += 1
        header.counts.left[reason, default: 0] += 1
        let place = original.place
        let left = ReplayLeft(
            reason: reason, requestID: place.description, place: place, publishedAt: original.publishedAt, sends: .all)
        file?.add(left.json)
    }

    /// Adds those that are given back in the order of their places, in which each partition was read.
    private mutating func addItems(_ file: LineFile?) throws(JobFailure) {
        for (partition, list) in letters.sorted(by: { $0.key < $1.key }) {
            for (offset, publishedAt) in list {
                if header.counts.requests & 0xFFF == 0, context.isCancelled() { throw .cancelled }
                let place = RecordPlace(topic: context.topics.deadLetters, partition: partition, offset: offset)
                let number = header.counts.requests
                let item = ReplayItem(
                    number: number, requestID: place.description, place: place, publishedAt: publishedAt, sends: .all)
                file?.add(item.json)
                header.counts.addEligible(isAmbiguous: false)
                header.counts.requests += 1
            }
        }
    }
}
