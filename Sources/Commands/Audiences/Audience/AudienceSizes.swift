package import Delivery
package import FanOut
package import JobSupport
import Kafka
import PushModel

/// The sizes of the records of a request whose audience is a file. A size that a broker would refuse is reported before anything
/// is written, because other parts would have been sent before the refusal.
package struct AudienceSizes {
    /// The limits of topics and of the client, in bytes.
    package struct Limits: Equatable, Sendable {
        /// `max.message.bytes` of the topic of parts, or nil if brokers do not report it.
        var own: Int?
        /// The same of the topic of parents.
        var parents: Int?
        /// `message.max.bytes` of the client, 1,000,000 by default.
        var client = 1_000_000

        /// The limit of a batch, so that short records together are not too long either, or nil without a limit.
        package var batch: Int? {
            guard let least = [own, parents].compactMap(\.self).min(), least < 1_000_000 else { return nil }
            return max(1, least)
        }
    }

    /// The overhead of a batch of one record beside the value, at most, in bytes: its head, the key, the headers and their
    /// lengths.
    static let overhead = 512

    /// The most bytes of a part.
    let part: Int
    /// The most bytes of what is written of the whole request.
    let whole: Int

    /// The sizes of known records.
    init(part: Int, whole: Int) {
        self.part = part
        self.whole = whole
    }

    /// The sizes of a request's records. Unlike a worker's parts these are written in many transactions, so what all of them
    /// repeat together has no limit.
    package init(
        of draft: AudienceRequest, id: String, survey: AudienceSurvey, planner: FanOutPlanner, publishedAt: Int64
    ) throws(JobFailure) {
        let writer = PartWriter(
            draft.request, to: survey, planner: planner, id: id, partition: 0, chunks: survey.parts, publishedAt: publishedAt)
        let (size, limit) = (writer.repeatedByteCount, PartWriter.maximumRepeatedByteCount)
        guard size <= limit else { throw .room(AudienceFailure.longParts(count: survey.parts, byteCount: size, limit: limit)) }
        var parent = ByteWriter()
        ParentRecord.append(draft.request, chunks: survey.parts, calls: survey.calls, origin: nil, to: &parent)
        let progress = AudienceProgress(
            request: draft.json, digest: "", publishedAt: .max, partition: .max, parts: survey.parts)
        self.init(
            part: writer.maximumByteCount(audience: survey.largestAudience), whole: max(parent.count, progress.json.count))
    }

    /// Queries the limits of the topics, for 10 s at most. Limits that brokers do not report are left out.
    package static func limits(_ context: JobContext) -> Limits {
        var limits = Limits()
        if let text = context.kafka.properties.last(where: { $0.key == "message.max.bytes" })?.value, let number = Int(text) {
            limits.client = number
        }
        let names = [context.topics.requestsOwn, context.topics.parents]
        guard let admin = try? TopicAdmin(context.kafka),
            let answers = try? admin.settings(ofTopics: names, timeout: min(context.timeout, .seconds(10))), answers.count == 2
        else { return limits }
        limits.own = limit(answers[0])
        limits.parents = limit(answers[1])
        return limits
    }

    private static func limit(_ answer: Result<[TopicSetting], KafkaError>) -> Int? {
        guard case .success(let settings) = answer else { return nil }
        return settings.first { $0.name == "max.message.bytes" }?.value.flatMap { Int($0) }
    }

    /// Refuses records that are too long.
    package func check(limits: Limits, topics: Topics) throws(JobFailure) {
        for (size, own, topic) in [(part, limits.own, topics.requestsOwn), (whole, limits.parents, topics.parents)] {
            let needed = size + Self.overhead
            for (limit, isClients) in [(own ?? .max, false), (limits.client, true)] where needed > limit {
                throw .room(AudienceFailure.longRecord(topic: topic, byteCount: needed, limit: limit, isClients: isClients))
            }
        }
    }
}
