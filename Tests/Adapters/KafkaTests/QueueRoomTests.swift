import CRDKafka
import TestSupport
import Testing

@testable import Kafka

/// What the library may hold of each partition.
@Suite(.tags(.c)) struct QueueRoomTests {
    @Test(arguments: [1, 2, 15, 16, 24, 48, 96, 145, 192, 500])
    func allPartitionsTogetherStayWithinOneBudget(partitions: Int) {
        let budget = 64 << 20
        let room = QueueRoom(sharing: budget, among: partitions, atMost: .large)
        // A queue just below its limit gets one answer more.
        #expect(partitions * (room.queueByteCount + room.fetchByteCount) <= budget)
        #expect(room.queueByteCount <= QueueRoom.large.queueByteCount && room.fetchByteCount <= QueueRoom.large.fetchByteCount)
        #expect(room.queueByteCount >= 64 << 10 && room.fetchByteCount >= 64 << 10)
    }

    @Test(arguments: [
        (64 << 20, 12, QueueRoom.large), (32 << 20, 13, QueueRoom.small), (Int.max, 1, QueueRoom.large),
    ])
    func fewPartitionsGetAsMuchAsIsOfUse(budget: Int, partitions: Int, most: QueueRoom) {
        #expect(QueueRoom(sharing: budget, among: partitions, atMost: most) == most)
    }

    @Test(arguments: [(0, 1), (-1, 0), (1 << 20, 100_000)])
    func aShareIsNeverTooSmallToRead(budget: Int, partitions: Int) {
        let room = QueueRoom(sharing: budget, among: partitions, atMost: .small)
        #expect(room.queueByteCount == 64 << 10 && room.fetchByteCount == 64 << 10)
    }

    @Test func theLibraryTakesWhatTheRoomSays() throws {
        let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        let room = QueueRoom(sharing: 64 << 20, among: 48, atMost: .large)
        let settings = try ClientSettings(configuration, defaults: room.settings, fixed: [])
        let client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        #expect(Self.number(client, "queued.max.messages.kbytes") == room.queueByteCount / 1000)
        #expect(Self.number(client, "fetch.message.max.bytes") == room.fetchByteCount)
        // The library bounds a whole answer by the same number, unless a record may be larger.
        let answer = try #require(Self.number(client, "fetch.max.bytes"))
        #expect(answer <= room.queueByteCount / 1000 * 1024)
    }

    private static func number(_ client: ClientHandle, _ property: String) -> Int? {
        var value = [CChar](repeating: 0, count: 32)
        var size = value.count
        let result = rd_kafka_conf_get(rd_kafka_conf(client.pointer), property, &value, &size)
        return result == RD_KAFKA_CONF_OK ? Int(text(value)) : nil
    }

    /// The partitions that are named in vain in a second stay as many up to 1,600 of requests.
    @Test(arguments: [
        (0, 80, 500), (256, 80, 500), (512, 160, 1000), (1536, 480, 3000), (10_000, 480, 3000), (.max, 480, 3000),
    ])
    func withManyPartitionsBrokersAreAskedMoreSeldom(partitions: Int, large: Int, small: Int) {
        #expect(QueueRoom(sharing: 1 << 30, among: partitions, atMost: .large).fetchWait == large)
        #expect(QueueRoom(sharing: 1 << 30, among: partitions, atMost: .small).fetchWait == small)
    }
}
