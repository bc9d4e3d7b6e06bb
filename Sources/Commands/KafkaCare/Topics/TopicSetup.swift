package import JobSupport
package import Kafka

/// Creates the topics that pushfan uses, and checks them.
///
/// Several threads may use one setup at once: each call opens a client of its own, and blocks.
package struct TopicSetup: Sendable {
    /// The topics after an attempt to create those that were missing.
    package struct Creation {
        /// Each topic, the partitions that were requested for it, and the broker's answer.
        package let topics: [(role: TopicRole, partitionCount: Int, answer: TopicCreation)]
        /// The replicas that were requested for each partition.
        package let replication: Int
        /// The differences of topics that were there before from the requested figures, and the commands that change them.
        package let differences: [String]
    }

    /// The state of a topic.
    package enum Condition {
        /// It does not exist.
        case missing
        /// It does not exist, and nothing but `pushfan callbacks` needs it.
        case unused
        /// The broker does not describe it.
        case failed(KafkaError)
        /// It loses and refuses nothing, as far as is known: the error is that of reading its settings.
        case good(partitionCount: Int, unread: KafkaError?)
        /// Its settings would lose or refuse records.
        case faulty([String])
    }

    private let context: JobContext

    /// A setup of a context's topics.
    package init(_ context: JobContext) { self.context = context }

    /// Creates the topics that are missing. By default topics of requests have 12 partitions, and partitions 3 replicas, or fewer
    /// if there are fewer brokers.
    package func create(partitions: Int?, replication: Int?) throws(JobFailure) -> Creation {
        let roles = TopicRole.all(context.topics)
        let count = partitions ?? 12
        do throws(KafkaError) {
            let admin = try TopicAdmin(context.kafka)
            let cluster = try admin.describe(topics: [], timeout: context.timeout)
            let copies = replication ?? max(1, min(3, cluster.brokerCount))
            let answers = try admin.createTopics(
                roles.map { $0.topic(partitions: count, replication: copies) }, timeout: context.timeout)
            let figures = TopicFigures(
                partitions: partitions, replication: replication, tool: KafkaTool(brokers: context.kafka.bootstrapServers))
            let former = zip(roles, answers).filter { $1 == .alreadyExists }.map(\.0)
            return Creation(
                topics: zip(roles, answers).map { ($0, $0.partitionCount(count), $1) }, replication: copies,
                differences: differences(of: former, from: figures, by: admin))
        } catch {
            throw .kafka(error, .createTopics)
        }
    }

    /// The differences of topics from the requested figures. The topics are usable in any case, so a failed query has none.
    private func differences(of former: [TopicRole], from figures: TopicFigures, by admin: TopicAdmin) -> [String] {
        guard !former.isEmpty, !figures.isEmpty,
            let cluster = try? admin.describe(topics: former.map(\.name), timeout: context.timeout)
        else { return [] }
        return zip(former, cluster.partitions).flatMap { figures.warnings($0, there: $1) }
    }

    /// Checks that the topics exist, and that their settings lose nothing.
    package func check() throws(JobFailure) -> [(role: TopicRole, condition: Condition)] {
        let roles = TopicRole.all(context.topics)
        do throws(KafkaError) {
            let admin = try TopicAdmin(context.kafka)
            let cluster = try admin.describe(topics: roles.map(\.name), timeout: context.timeout)
            return zip(roles, cluster.topics).map { role, description in
                switch description {
                case .missing: (role, role.isOptional ? .unused : .missing)
                case .failed(let error): (role, .failed(error))
                case .existing(let count): (role, condition(of: role, partitionCount: count, by: admin))
                }
            }
        } catch {
            throw .kafka(error, .checkTopics)
        }
    }

    private func condition(of role: TopicRole, partitionCount: Int, by admin: TopicAdmin) -> Condition {
        do throws(KafkaError) {
            let problems = role.problems(try admin.settings(ofTopic: role.name, timeout: context.timeout))
            return problems.isEmpty ? .good(partitionCount: partitionCount, unread: nil) : .faulty(problems)
        } catch {
            return .good(partitionCount: partitionCount, unread: error)
        }
    }
}
