import Basics
package import JobSupport
import Kafka
import PushModel
import ResultFeed
package import Webhooks

/// Sends results to a receiver once more: writes them to the topic that the service reads beside the results, each once in a run.
///
/// A run that is broken off has written a part. The next one writes that again, under the same ids.
package struct CallbackReplay: Sendable {
    /// The results that are sent.
    package enum Choice: Sendable {
        /// The dead letters of a receiver of this name.
        case deadLetters(of: String)
        /// All results that a receiver wants, taken or not.
        case results(for: Receiver)

        /// The receiver's name.
        package var receiver: String {
            switch self {
            case .deadLetters(let name): name
            case .results(let receiver): receiver.name
            }
        }
    }

    /// The counts of a run.
    package struct Counts: Sendable, Equatable {
        /// The records that were chosen, each result once.
        package var found = 0
        /// Those that were written.
        package var written = 0
        /// Dead letters whose result is not there any more, or that cannot be read.
        package var unreadable = 0
    }

    private let context: JobContext
    private let topics: CallbackTopics

    /// A replay that has asked nothing yet.
    ///
    /// - Parameters:
    ///   - topics: The names of the topics.
    ///   - context: The brokers, the longest wait for them, and whoever hears of progress.
    package init(_ topics: CallbackTopics, by context: JobContext) { (self.topics, self.context) = (topics, context) }

    /// Reads what was written until now, and writes what is chosen.
    ///
    /// - Parameters:
    ///   - choice: The results that are sent.
    ///   - since: The time of the first records, in milliseconds since 1970.
    ///   - until: The time before which the last records were written, or nil for now.
    ///   - isDry: True to count only.
    /// - Returns: The counts.
    /// - Throws: Kafka does not answer, or the job was cancelled. What was handed over before is written.
    package func run(
        _ choice: Choice, since: Int64, until: Int64? = nil, isDry: Bool = false
    ) throws(JobFailure) -> Counts {
        let source = if case .results = choice { topics.results } else { topics.deadLetters }
        let scan = TopicScan(context, topic: source)
        let start = since > 0 ? TopicReader.Start.time(since) : .beginning
        let stop = until.map { TopicReader.Stop.time($0) } ?? .end
        guard let reader = try scan.openIfThere(start, stop) else { return Counts() }
        defer { reader.close() }
        let outlet = isDry ? nil : try ReplayOutlet(topics.replays, receiver: choice.receiver, context: context)
        defer { outlet?.close() }
        var sent = SentResults(outlet: outlet)
        switch choice {
        case .deadLetters(let name):
            try scan.readOn(reader) { record in
                guard let key = record.key, key.equals(name), let value = record.value else { return true }
                let letter = CallbackDeadLetter(json: value)
                do throws(JobFailure) {
                    sent.take(letter, line: try letter.flatMap { letter throws(JobFailure) in try line(of: letter) })
                } catch {
                    sent.fail(error)
                }
                return sent.failure == nil
            }
        case .results(let receiver):
            var interest = ReceiverInterest(receiver)
            try scan.readOn(reader) { record in
                if let result = FeedRecord(record), interest.wants(result) { sent.take(result.line, of: result.resultID) }
                return sent.failure == nil
            }
        }
        if let failure = sent.failure { throw failure }
        try outlet?.finish()
        return sent.counts
    }

    /// The result of a dead letter, which is read from its place where the letter has no room for it. Nil if it is gone.
    private func line(of letter: CallbackDeadLetter) throws(JobFailure) -> [UInt8]? {
        if let result = letter.result { return result }
        var line: [UInt8]?
        let part = RangeReader.Part(letter.partition, offsets: letter.offset..<letter.offset + 1)
        do throws(KafkaError) {
            let admin = try TopicAdmin(context.kafka)
            let (low, high) = (
                try admin.beginnings(of: [letter.partition], timeout: context.timeout),
                try admin.ends(of: [letter.partition], timeout: context.timeout)
            )
            guard let low = low.first, let high = high.first, (low..<max(low, high)).contains(letter.offset) else { return nil }
            try RangeReader(context.kafka, readAhead: 4 << 20).read([part], timeout: context.timeout) { _, record in
                line = FeedRecord(record)?.line
                return false
            }
        } catch {
            throw .kafka(error, .read(topic: letter.partition.topic))
        }
        return line
    }
}

/// The results that a run has sent.
private struct SentResults {
    private(set) var counts = CallbackReplay.Counts()
    private(set) var failure: JobFailure?
    private let outlet: ReplayOutlet?
    /// The digests of the ids that were sent, 16 bytes each.
    private var known: Set<SIMD2<UInt64>> = []

    init(outlet: ReplayOutlet?) { self.outlet = outlet }

    /// Notes that the run cannot go on.
    mutating func fail(_ error: JobFailure) { failure = error }

    /// Sends the result of a dead letter. Without one of them it is unreadable.
    mutating func take(_ letter: CallbackDeadLetter?, line: [UInt8]?) {
        guard let letter, let line,
            FeedRecord(key: "", json: line, partition: 0, offset: 0, timestamp: 0) != nil
        else { return counts.unreadable += 1 }
        take(line, of: letter.resultID.isEmpty ? "\(letter.partition)@\(letter.offset)" : letter.resultID)
    }

    /// Sends a result, unless one of its id was sent.
    mutating func take(_ line: [UInt8], of id: String) {
        let digest = SHA256.digest(of: Array(id.utf8))
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        guard known.insert(SIMD2(number(digest.prefix(8)), number(digest.suffix(8)))).inserted else { return }
        counts.found += 1
        guard let outlet else { return }
        do throws(JobFailure) {
            try outlet.write(line)
            counts.written += 1
        } catch {
            failure = error
        }
    }
}

extension FeedRecord {
    fileprivate convenience init?(_ record: borrowing ConsumedRecord) {
        guard let key = record.key, let value = record.value else { return nil }
        self.init(
            key: key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) },
            json: value.withUnsafeBufferPointer { Array($0) }, partition: record.partition, offset: record.offset,
            timestamp: record.timestamp ?? 0)
    }
}
