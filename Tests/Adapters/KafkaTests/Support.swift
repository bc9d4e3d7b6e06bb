import Glibc
import Kafka
import TestSupport
import Testing

/// A record kept after its view is gone.
struct Record: Equatable {
    struct Header: Equatable {
        var name: String
        var value: [UInt8]?
    }

    var partition: Int32
    var offset: Int64
    var timestamp: Int64?
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [Header] = []

    init(_ record: borrowing ConsumedRecord) {
        partition = record.partition
        offset = record.offset
        timestamp = record.timestamp
        key = copy(record.key)
        value = copy(record.value)
        var headers: [Header] = []
        record.forEachHeader { name, value in
            headers.append(
                Header(name: String(decoding: Array(copying: name), as: UTF8.self), value: copy(value)))
        }
        self.headers = headers
    }

    var text: String? { value.map { String(decoding: $0, as: UTF8.self) } }
}

/// The bytes of a span that may be missing.
private func copy(_ span: Span<UInt8>?) -> [UInt8]? {
    guard let span else { return nil }
    return Array(copying: span)
}

extension [UInt8] {
    init(copying span: Span<UInt8>) {
        self = span.withUnsafeBufferPointer { Array($0) }
    }
}

/// A pipe in the place of the worker's eventfd: the library writes 8 bytes, poll(2) waits for them.
final class WakeUp {
    private(set) var descriptors: [Int32] = [-1, -1]
    var writeEnd: Int32 { descriptors[1] }

    init() {
        let result = pipe(&descriptors)
        if result != 0 { Issue.record("there is no pipe") }
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }

    /// Waits for what must come, until something was written, and reads it away; returns the number of bytes.
    func wait() -> Int { wait(milliseconds: Int32(farDeadline.components.seconds) * 1000) }

    /// Waits for what must come, and reads it away as numbers of 4 bytes.
    func numbers() -> [UInt32] {
        var request = pollfd(fd: descriptors[0], events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(farDeadline.components.seconds) * 1000) > 0 else { return [] }
        var numbers = [UInt32](repeating: 0, count: 64)
        let count = numbers.withUnsafeMutableBytes { Glibc.read(descriptors[0], $0.baseAddress, $0.count) }
        return Array(numbers.prefix(max(0, count) / 4))
    }

    /// Waits until something was written, and reads it away; returns the number of bytes.
    func wait(milliseconds: Int32) -> Int {
        var request = pollfd(fd: descriptors[0], events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) > 0 else { return 0 }
        var buffer = [UInt8](repeating: 0, count: 4096)
        return max(0, Glibc.read(descriptors[0], &buffer, buffer.count))
    }
}

/// Drives one consumer as the worker's loop would: events until there are none, records until there are none, then wait for the descriptor.
final class Loop {
    let wakeUp = WakeUp()
    let consumer: Consumer
    var records: [[Record]] = []
    var assignedCount = 0
    var revokedCount = 0
    var errors: [KafkaError] = []
    var logs: [LibraryLine] = []
    var statistics: [[UInt8]] = []
    var ends: [Int64] = []
    var start: (TopicPartition) -> StartOffset = { _ in .beginning }

    init(
        _ bootstrapServers: String, group: String = "g", instance: String? = nil, reportsPartitionEnd: Bool = false,
        sessionTimeout: Duration = .seconds(6), properties: [KafkaConfiguration.Property] = []
    ) throws {
        let quick = [KafkaConfiguration.Property(key: "fetch.wait.max.ms", value: "5")]
        consumer = try Consumer(
            KafkaConfiguration(bootstrapServers: bootstrapServers, properties: quick + properties), groupID: group,
            instanceID: instance,
            sessionTimeout: sessionTimeout, reportsPartitionEnd: reportsPartitionEnd, wakeUpFileDescriptor: wakeUp.writeEnd)
    }

    deinit {
        consumer.close(timeout: .seconds(10))
    }

    func assign(_ positions: [(partition: TopicPartition, start: StartOffset)]) throws {
        records = positions.map { _ in [] }
        try consumer.assign(positions)
    }

    /// One round; returns whether anything was there. Unless it is `reading`, records stay where they are.
    func turn(reading: Bool = true) throws -> Bool {
        var isIdle = true
        while let event = consumer.nextEvent() {
            isIdle = false
            try handle(event)
        }
        for slot in consumer.assignment.indices where reading {
            while readOne(slot) { isIdle = false }
        }
        return !isIdle
    }

    func run(reading: Bool = true, until isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now + farDeadline
        while true {
            _ = try turn(reading: reading)
            if isDone() { return }
            try #require(ContinuousClock.now < deadline, "what was waited for did not come: \(errors) \(logs)")
            _ = wakeUp.wait(milliseconds: 50)
        }
    }

    private func handle(_ event: ConsumerEvent) throws {
        switch event {
        case .assigned(let partitions):
            assignedCount += 1
            try assign(partitions.map { ($0, start($0)) })
        case .revoked:
            revokedCount += 1
            try consumer.unassign()
        case .error(let error): errors.append(error)
        case .statistics(let json): statistics.append(json)
        case .log(let line): logs.append(line)
        }
    }

    private func readOne(_ slot: Int) -> Bool {
        let result = consumer.read(slot: slot) { record in
            if records.indices.contains(slot) { records[slot].append(Record(record)) }
        }
        switch result {
        case .record: return true
        case .empty: return false
        case .endOfPartition(let offset): ends.append(offset)
        case .error(let error): errors.append(error)
        }
        return true
    }
}

extension Producer {
    /// Writes a text without a key.
    func write(_ text: String, to topic: Topic, partition: Int32? = nil, timestamp: Int64? = nil) throws {
        try produce(to: topic, partition: partition, key: nil, value: Array(text.utf8).span, timestamp: timestamp)
    }
}

/// A cluster in this process with the topic `t`, and a producer for it.
struct Mock {
    let cluster: MockCluster
    let producer: Producer
    let topic: Producer.Topic
    var bootstrapServers: String { cluster.bootstrapServers }

    init(partitions: Int = 1, properties: [KafkaConfiguration.Property] = []) throws {
        cluster = try MockCluster()
        try cluster.createTopic("t", partitions: partitions)
        producer = try Producer(
            KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, properties: properties), transactionalID: nil)
        let topics = try producer.warmUp(topics: ["t"], timeout: farDeadline)
        topic = try #require(topics.first)
    }

    func partition(_ number: Int32 = 0) -> TopicPartition { TopicPartition(topic: "t", partition: number) }

    func close() {
        producer.close(timeout: .seconds(5))
        cluster.close()
    }
}
