import Console
import Kafka
import Synchronization
import TestSupport

/// What one command line did.
struct Outcome {
    let code: ExitCode
    let output: String
    let messages: String

    /// The lines of data.
    var lines: [Substring] { output.split(separator: "\n") }
}

/// Runs command lines in this process, with streams that are only remembered.
struct Harness {
    var environment: [String: String] = [:]
    var input = ""
    var traits = Streams.Traits()
    /// Milliseconds since 1970: 2026-11-21T12:00:00Z unless a test needs the real time.
    var now: @Sendable () -> Int64 = { 1_795_262_400_000 }
    /// The clock that only goes forward; it stands still, so that no test is late.
    var instant: @Sendable () -> ContinuousClock.Instant = { [start = ContinuousClock.now] in start }
    /// What a person types as a line.
    var typed: String?
    /// Nobody reads standard output.
    var readerIsGone = false
    var build = Build()

    /// Whether a command line asks a broker.
    private static func waits(_ words: [String]) -> Bool {
        guard let command = words.first, !words.contains("--help"), !words.contains("--timeout") else { return false }
        switch command {
        case "failed", "status", "doctor": return true
        case "results", "topics": return words.dropFirst().first.map { !$0.hasPrefix("-") && $0 != "acls" } ?? false
        default: return false
        }
    }

    /// Runs `line`, split at blanks.
    func run(_ line: String) -> Outcome { run(line.split(separator: " ").map(String.init)) }

    /// Runs a command line, word by word. Where it does not say how long it waits for a broker, it waits as long as tests do.
    func run(_ words: [String]) -> Outcome {
        let words = words + (Self.waits(words) ? ["--timeout", "\(farDeadline.components.seconds)s"] : [])
        let output = Sink()
        let messages = Sink()
        let (readerIsGone, input, typed) = (readerIsGone, input, typed)
        let streams = Streams(
            traits: traits,
            write: { bytes in
                if readerIsGone { return false }
                output.add(bytes)
                return true
            },
            writeError: messages.add,
            readInput: { () throws(CommandFailure) in Array(input.utf8) },
            readLine: { () throws(CommandFailure) in typed })
        var surroundings = Surroundings(streams: streams, environment: environment, now: now)
        surroundings.instant = instant
        let code = Program(commands: Command.builtIn, build: build).run(words, surroundings)
        return Outcome(code: code, output: output.text, messages: messages.text)
    }
}

/// Remembers what is written.
final class Sink: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }
    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}

/// A broker inside the process, with the topics of the contract; gone when nobody holds it any more.
final class Broker {
    let cluster: MockCluster

    init() throws {
        cluster = try MockCluster()
        for topic in ["push.requests.v1", "push.results.v1"] { try cluster.createTopic(topic, partitions: 3) }
    }

    deinit { cluster.close() }

    /// A harness whose commands use this broker.
    var harness: Harness {
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = cluster.bootstrapServers
        return harness
    }

    /// Writes values to the results topic; those that somebody waits for need their request's id as the key.
    func writeResults(
        _ values: [String], key: String? = nil, headers: [(name: String, value: String)] = [], at timestamp: Int64? = nil
    ) throws {
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        let topic = try producer.topic(named: "push.results.v1")
        for value in values {
            var list = HeaderList()
            for header in headers { list.append(header.name, value: header.value) }
            if let key {
                try producer.produce(
                    to: topic, key: Array(key.utf8).span, value: Array(value.utf8).span, headers: list, timestamp: timestamp)
            } else {
                try producer.produce(
                    to: topic, key: nil, value: Array(value.utf8).span, headers: list, timestamp: timestamp)
            }
        }
        try producer.flush(timeout: farDeadline)
        producer.close(timeout: .zero)
    }

    /// Writes values to partition 0 of a topic.
    func write(
        _ values: [String], to name: String, key: String? = nil, headers: [(name: String, value: String)] = [],
        at timestamp: Int64? = nil
    ) throws {
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try producer.topic(named: name)
        for value in values {
            var list = HeaderList()
            for header in headers { list.append(header.name, value: header.value) }
            try producer.produce(
                to: topic, partition: 0, key: Array((key ?? value).utf8).span, value: Array(value.utf8).span, headers: list,
                timestamp: timestamp)
        }
        try producer.flush(timeout: farDeadline)
    }

    /// The values and headers of the first `count` records of a topic; fewer when there are not so many.
    func read(_ topic: String, count: Int) throws -> [Record] {
        let reader = try TopicReader(
            KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), topic: topic, start: .beginning,
            timeout: farDeadline)
        defer { reader.close() }
        var records: [Record] = []
        let deadline = ContinuousClock.now + farDeadline
        while records.count < count && !reader.hasReachedEnd && ContinuousClock.now < deadline {
            _ = reader.read(timeout: .milliseconds(100)) { records.append(Record($0)) }
        }
        return records
    }
}

/// A copy of a record.
struct Record {
    let partition: Int32
    let offset: Int64
    let key: String?
    let value: String
    let headers: [String: String]

    init(_ record: borrowing ConsumedRecord) {
        partition = record.partition
        offset = record.offset
        if let bytes = record.key { key = Self.text(bytes) } else { key = nil }
        if let bytes = record.value { value = Self.text(bytes) } else { value = "" }
        var headers: [String: String] = [:]
        record.forEachHeader { name, value in if let value { headers[Self.text(name)] = Self.text(value) } }
        self.headers = headers
    }

    static func text(_ bytes: Span<UInt8>) -> String {
        bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
