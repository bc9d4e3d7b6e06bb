import FanOut
import Kafka
import PushModel
import Settings

/// The sizes of the records of a request whose audience is a file. A size that a broker would refuse is reported before anything
/// is written, because other parts would have been sent before the refusal.
struct AudienceSizes {
    /// The limits of topics and of the client, in bytes.
    struct Limits: Equatable {
        /// `max.message.bytes` of the topic of parts, or nil if brokers do not report it.
        var own: Int?
        /// The same of the topic of parents.
        var parents: Int?
        /// `message.max.bytes` of the client, 1,000,000 by default.
        var client = 1_000_000

        /// The limit of a batch, so that short records together are not too long either, or nil without a limit.
        var batch: Int? {
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

    /// The sizes of a request's records.
    ///
    /// - Parameters:
    ///   - draft: The request.
    ///   - survey: The file.
    ///   - writer: Writes its parts.
    init(_ draft: AudienceRequest, _ survey: AudienceSurvey, _ writer: PartWriter) {
        var parent = ByteWriter()
        ParentRecord.append(draft.request, chunks: survey.parts, calls: survey.calls, origin: nil, to: &parent)
        let progress = AudienceProgress(
            request: draft.json, digest: "", publishedAt: .max, partition: .max, parts: survey.parts)
        self.init(
            part: writer.maximumByteCount(audience: survey.largestAudience), whole: max(parent.count, progress.json.count))
    }

    /// Queries the limits of the topics.
    ///
    /// - Parameters:
    ///   - settings: The names of the topics, and the way to Kafka.
    ///   - timeout: The longest wait for brokers, at most 10 s.
    /// - Returns: The limits, without those that brokers do not report, for want of the right to read them or of a connection.
    static func limits(_ settings: Settings, timeout: Duration) -> Limits {
        let configuration = settings.kafkaConfiguration()
        var limits = Limits()
        if let text = configuration.properties.last(where: { $0.key == "message.max.bytes" })?.value, let number = Int(text) {
            limits.client = number
        }
        let names = [settings.kafka.topics.requestsOwn, settings.kafka.topics.parents]
        guard let admin = try? TopicAdmin(configuration),
            let answers = try? admin.settings(ofTopics: names, timeout: min(timeout, .seconds(10))), answers.count == 2
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
    ///
    /// - Parameters:
    ///   - limits: The limits of topics and client.
    ///   - topics: The topics' names.
    /// - Throws: A record is longer.
    func check(_ limits: Limits, _ topics: KafkaSettings.Topics) throws(CommandFailure) {
        for (size, limit, topic) in [(part, limits.own, topics.requestsOwn), (whole, limits.parents, topics.parents)] {
            let needed = size + Self.overhead
            if let limit, needed > limit {
                throw CommandFailure(
                    .refused,
                    "nothing was sent: a record for \(topic) may have \(needed) bytes, and its max.message.bytes is \(limit)",
                    hint: "shorten the content, or set max.message.bytes of that topic to 1048588")
            }
            if needed > limits.client {
                throw CommandFailure(
                    .refused,
                    "nothing was sent: a record for \(topic) may have \(needed) bytes, and message.max.bytes is \(limits.client)",
                    hint: "shorten the content, or leave message.max.bytes out of kafka.properties")
            }
        }
    }
}
