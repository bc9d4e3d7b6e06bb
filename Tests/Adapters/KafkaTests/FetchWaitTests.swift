import CRDKafka
import TestSupport
import Testing

@testable import Kafka

/// The time that brokers keep fetches that find nothing, and what clients do at rest.
@Suite(.tags(.c)) struct FetchWaitTests {
    @Test(arguments: zip([(nil, []), (nil, ["77"]), (10, []), (10, ["77"])] as [(Int?, [String])], ["500", "77", "10", "10"]))
    func aReadersOwnWaitBeatsTheUsers(own: (wait: Int?, users: [String]), expected: String) throws {
        let configuration = KafkaConfiguration(
            bootstrapServers: "127.0.0.1:1", properties: own.users.map { .init(key: "fetch.wait.max.ms", value: $0) })
        let reader = try PartitionReader(configuration, fetchWait: own.wait.map { .milliseconds($0) }, wakeUpFileDescriptor: -1)
        #expect(Self.property("fetch.wait.max.ms", of: reader.client) == expected)
    }

    /// Of a client with thousands of partitions they are megabytes each time.
    @Test func statisticsAreMadeForThoseOnlyWhoWantThem() throws {
        for (wanted, expected) in [([], "0"), (["250"], "250")] {
            let configuration = KafkaConfiguration(
                bootstrapServers: "127.0.0.1:1", properties: wanted.map { .init(key: "statistics.interval.ms", value: $0) })
            let reader = try PartitionReader(configuration, wakeUpFileDescriptor: -1)
            #expect(Self.property("statistics.interval.ms", of: reader.client) == expected)
        }
    }

    private static func property(_ name: String, of client: ClientHandle) -> String? {
        var value = [CChar](repeating: 0, count: 32)
        var size = value.count
        let result = rd_kafka_conf_get(rd_kafka_conf(client.pointer), name, &value, &size)
        return result == RD_KAFKA_CONF_OK ? text(value) : nil
    }
}
