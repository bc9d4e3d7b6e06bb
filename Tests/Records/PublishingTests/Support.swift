import Kafka
import Publishing
import Synchronization
import TestSupport
import Testing

/// Results as a worker writes them, each under a word.
enum Results {
    /// The value of a result of `id`.
    ///
    /// - Parameters:
    ///   - word: What it says: `sent` and the number of accepted calls, `outcome` and the call's index, and so on.
    ///   - id: The request's id.
    /// - Returns: The record's value.
    static func json(_ word: String, of id: String) -> String {
        let number = Int(word.drop { !$0.isNumber }) ?? 0
        let members =
            switch word.prefix(while: { !$0.isNumber }) {
            case "sent": #""kind":"final","state":"sent","outcome":"success","targets":{"planned":9,"accepted":\#(number)}"#
            case "failed": #""kind":"final","state":"failed","outcome":"permanent","targets":{"planned":1,"accepted":0}"#
            case "sameID": duplicate("/id: The request at offset 7 of its partition has the same source and id.")
            case "sameKey": duplicate("/dedupe/key: The request at offset 7 of its partition has the same key.")
            case "parts": #""kind":"final","state":"sent","targets":{"planned":3,"accepted":3},"parts":{"count":3}"#
            case "strange": #""kind":"final","state":7,"targets":[{"accepted":3}]"#
            case "endless": #""kind":"final","state":"sent","targets":{"accepted":9223372036854775807}"#
            case "negative": #""kind":"final","state":"sent","targets":{"accepted":-1}"#
            case "outcome": #""kind":"outcome","state":"sent","sends":[{"index":\#(number),"platform":"apple"}]"#
            case "elsewhere": #""kind":"outcome","state":"sent","sends":[{"index":\#(number)}]"#
            case "callless": #""kind":"outcome","state":"sent","sends":{}"#
            default: #""kind":"interim","state":"retrying""#
            }
        let offset = word.hasPrefix("elsewhere") ? 8 : 7
        return #"{"request_id":"\#(id)",\#(members),"origin":{"topic":"push.requests.v1","partition":0,"offset":"\#(offset)"}}"#
    }

    private static func duplicate(_ message: String) -> String {
        #""kind":"final","state":"duplicate","outcome":"duplicate","error":{"code":"duplicate","message":"\#(message)"}"#
    }

    /// A result of `id`, read.
    static func record(_ word: String, of id: String) throws -> ResultRecord {
        try #require(ResultRecord(json: Array(json(word, of: id).utf8), partition: 0, offset: 0, timestamp: 0))
    }
}

/// How waits ended.
final class Endings: Sendable {
    private let endings = Mutex<[String: [ResultFollower.Ending]]>([:])

    /// What is called when a wait for `id` has ended.
    func note(_ id: String) -> @Sendable (ResultFollower.Ending) -> Void {
        { [self] ending in endings.withLock { $0[id, default: []].append(ending) } }
    }

    /// How the waits for `id` ended, in order.
    func of(_ id: String) -> [ResultFollower.Ending] { endings.withLock { $0[id] ?? [] } }

    /// For how many ids a wait has ended.
    var idCount: Int { endings.withLock { $0.count } }

    /// How many waits have ended.
    var count: Int { endings.withLock { endings in endings.values.reduce(0) { $0 + $1.count } } }

    /// The states of the final results for `id`; nil where there was none.
    func states(_ id: String) -> [String?] { of(id).map { $0.awaited.finalResult?.state } }
}

/// A broker inside the process with a topic of results, a producer, and a follower that reads.
struct Stage {
    let cluster: MockCluster
    let producer: Producer
    let topic: Producer.Topic
    let follower: ResultFollower
    let endings = Endings()

    init(
        listener: (any ResultListener)? = nil, _ change: (inout ResultFollower.Configuration) -> Void = { _ in }
    ) throws {
        cluster = try MockCluster()
        try cluster.createTopic("r", partitions: 3)
        producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        topic = try #require(try producer.warmUp(topics: ["r"], timeout: farDeadline).first)
        var configuration = ResultFollower.Configuration(cluster.configuration, topic: "r")
        configuration.openTimeout = farDeadline
        change(&configuration)
        follower = ResultFollower(configuration, listener: listener)
        try follower.waitUntilReading()
    }

    func close() {
        follower.close()
        producer.close(timeout: .seconds(5))
        cluster.close()
    }

    /// Writes results of `id`, in order.
    func write(_ words: [String], of id: String, headers: HeadersOfResult = .absent) throws {
        for word in words { try write(Results.json(word, of: id), key: id, headers: headers) }
        try producer.flush(timeout: farDeadline)
    }

    /// Hands a record to the producer.
    func write(_ value: String, key: String, headers: HeadersOfResult = .absent) throws {
        var list = HeaderList()
        for header in headers.list(of: key) { list.append(header.name, value: header.value) }
        try producer.produce(to: topic, key: Array(key.utf8).span, value: Array(value.utf8).span, headers: list)
    }
}
