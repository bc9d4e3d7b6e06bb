import Delivery
import Foundation
import GroupPositions
import Kafka
import Publishing
import PushModel
import ResultQuery
import Synchronization
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// An index that is kept beside its queries, on the broker inside the process.
@Suite(.serialized) struct IndexKeeperTests {
    private let stage: KeeperStage

    init() throws {
        stage = try KeeperStage()
    }

    @Test func itFillsFollowsAndAnswersAsAScanDoes() throws {
        try stage.write(40)
        try stage.keeping { keeper in
            #expect(eventually { stage.isCurrent(keeper) })
            try stage.expectSameAnswers(keeper)
            try stage.write(25)
            #expect(eventually { stage.isCurrent(keeper) })
            try stage.expectSameAnswers(keeper)
        }
    }

    @Test func aDeletedFileIsMadeAgain() throws {
        try stage.write(30)
        try stage.keeping { keeper in
            #expect(eventually { stage.isCurrent(keeper) })
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: stage.file + end) }
            // A query meanwhile reads the topic.
            try stage.expectSameAnswers(keeper, isKept: nil)
            #expect(eventually { stage.isCurrent(keeper) && FileManager.default.fileExists(atPath: stage.file) })
        }
    }

    /// What an index has of a followed request is told, though no broker says whether more outcomes came, or knows no topic.
    @Test(arguments: [true, false]) func aTracedResultThatTheIndexHasNeedsNoBroker(isAway: Bool) throws {
        let final = #""kind":"final","state":"sent","followed":true,"targets":{"accepted":2}"#
        for members in [final, #""kind":"outcome","state":"sent","sends":[{"index":0}]"#] {
            try stage.write(#"{"request_id":"followed",\#(members)}"#)
        }
        try stage.keeping { keeper in
            #expect(eventually { stage.isCurrent(keeper) })
            let answer = try stage.trace("followed", with: keeper, isAway: isAway)
            guard case .final(let result, nil, let outcomes?) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(result.state == "sent" && outcomes.found.count == 1)
            guard isAway else { return }
            #expect(!outcomes.areWhole, "more may have come")
            #expect(throws: JobFailure.self, "nothing is known of another") {
                try stage.trace("other", with: keeper, isAway: true)
            }
        }
    }

    @Test func aForeignFileIsLeftAloneUntilItIsGone() throws {
        try stage.write(30)
        try Data("precious\n".utf8).write(to: URL(fileURLWithPath: stage.file))
        try stage.keeping { keeper in
            #expect(
                eventually { if case .failed(let reason) = keeper.condition { reason.contains("is left alone") } else { false } })
            try stage.expectSameAnswers(keeper, isKept: false)
            #expect(try String(contentsOfFile: stage.file, encoding: .utf8) == "precious\n")
            try FileManager.default.removeItem(atPath: stage.file)
            #expect(eventually { stage.isCurrent(keeper) })
            try stage.expectSameAnswers(keeper)
        }
    }

    @Test func anotherWriterOfTheFileDoesNoHarm() throws {
        try stage.write(30)
        try stage.keeping { keeper in
            for _ in 0..<5 {
                let command = ResultAnswers(stage.context(), index: IndexChoice(file: stage.file, environment: [:]))
                _ = try command.newest(1000, ResultFilter())
                try stage.write(5)
            }
            #expect(eventually { stage.isCurrent(keeper) })
            try stage.expectSameAnswers(keeper)
        }
    }

    @Test func aQueryOfTheIndexEndsWhenItsTimeIsOver() throws {
        try stage.write(3000)
        try stage.keeping { keeper in
            #expect(eventually { stage.isCurrent(keeper) })
            let answers = ResultAnswers(stage.context(), kept: keeper)
            let nobody = try ResultFilter("request:nobody*", now: 0)
            func page(_ answers: ResultAnswers, _ filter: ResultFilter) throws -> ResultPage {
                try answers.page(2000, filter, after: nil, patience: farDeadline)
            }
            let whole = try page(answers, nobody)
            #expect(whole.results.isEmpty && whole.searched.source == .index && whole.searched.isComplete)
            #expect { try page(answers.ending { true }, nobody) } throws: {
                if case .cancelled? = $0 as? JobFailure { true } else { false }
            }
            // What was found until then is a page.
            let cut = try page(answers.ending { true }, ResultFilter())
            #expect(!cut.results.isEmpty && cut.results.count < 2000 && cut.next != nil)
            #expect(cut.searched.source == .index && !cut.searched.isComplete)
            #expect(cut.searched.since?.milliseconds == cut.results.last?.timestamp)
        }
    }

    @Test func scansGivePagesAsListsDo() throws {
        try stage.write(60)
        try stage.expectPages(of: "state:failed,sent")
    }
}

/// Needs a real broker: the embedded one deletes no topics, and finds no offsets for times.
@Suite(.needsKafka, .serialized)
struct KeptTopicTests {
    @Test func aTopicThatIsMadeAgainIsIndexedAgain() throws {
        let stage = try KeeperStage(brokers: TestVariables.kafka ?? "")
        try stage.write(60)
        try stage.keeping { keeper in
            #expect(eventually { stage.isCurrent(keeper) })
            try stage.expectSameAnswers(keeper)
            try stage.makeTopicAgain()
            // Fewer than before, so that the keeper does not read on behind them.
            try stage.write(20)
            #expect(eventually { stage.isCurrent(keeper) })
            try stage.expectSameAnswers(keeper)
        }
    }

    @Test func scansOfTimesGivePagesAsListsDo() throws {
        let stage = try KeeperStage(brokers: TestVariables.kafka ?? "")
        try stage.write(60)
        try stage.expectPages(of: "since:2026-11-21T12:00:00.010Z until:2026-11-21T12:00:00.030Z")
    }
}

/// A topic of results, and the file of an index.
private final class KeeperStage {
    private let cluster: MockCluster?
    private let kafka: KafkaConfiguration
    private var topics = Topics()
    private let folder: TemporaryFolder
    private var random = RandomResults(seed: 5)
    private(set) var count = 0

    /// A topic of a broker in this process.
    init() throws {
        let cluster = try MockCluster()
        self.cluster = cluster
        kafka = cluster.configuration
        folder = try TemporaryFolder()
        try cluster.createTopic(topics.results, partitions: 3)
    }

    /// A topic of a real broker.
    init(brokers: String) throws {
        cluster = nil
        kafka = KafkaConfiguration(bootstrapServers: brokers)
        folder = try TemporaryFolder()
        topics.results = "jobs-tests-\(UUID().uuidString)"
        topics.replays = topics.results + "-replays"
        topics.deadLetters = topics.results + "-deadletters"
        try makeTopic()
    }

    deinit { cluster?.close() }

    private func makeTopic() throws {
        let admin = try TopicAdmin(kafka)
        let new = NewTopic(name: topics.results, partitionCount: 3, replicationFactor: 1)
        try #require(eventually { try admin.createTopics([new], timeout: farDeadline) == [.created] })
        try #require(
            eventually { try admin.describe(topics: [new.name], timeout: farDeadline).topics == [.existing(partitionCount: 3)] })
    }

    /// Deletes the topic and makes it again, without records.
    func makeTopicAgain() throws {
        let admin = try TopicAdmin(kafka)
        #expect(try admin.deleteTopics([topics.results], timeout: farDeadline).isEmpty)
        #expect(try eventually { try admin.describe(topics: [topics.results], timeout: farDeadline).topics == [.missing] })
        try makeTopic()
        count = 0
    }

    var file: String { folder.path("kept.sqlite") }

    func context(until isOver: @escaping @Sendable () -> Bool = { false }) -> JobContext {
        JobContext(
            kafka: kafka, topics: topics, timeout: farDeadline, now: { 1_795_262_400_000 }, isCancelled: isOver)
    }

    func write(_ number: Int) throws {
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try producer.topic(named: topics.results)
        for record in random.records(number) {
            guard let value = record.value else { continue }
            try producer.produce(to: topic, partition: record.partition, key: nil, value: value.span, timestamp: record.time)
            count += 1
        }
        try producer.flush(timeout: farDeadline)
    }

    /// Writes one result, now.
    func write(_ json: String) throws {
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try producer.topic(named: topics.results)
        try producer.produce(to: topic, partition: 0, key: nil, value: json.utf8Span.span, timestamp: context().now())
        count += 1
        try producer.flush(timeout: farDeadline)
    }

    /// Searches a request by a kept index, where no broker answers or the topic is not there.
    func trace(_ id: String, with keeper: IndexKeeper, isAway: Bool) throws -> ResultTracer.Answer {
        var context = context()
        if isAway {
            context.kafka = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
            context.timeout = .milliseconds(1)
        } else {
            context.topics.results += "-missing"
        }
        let terms = GroupTerms(kafka: context.kafka, group: "tracers", topics: context.topics, start: .safe)
        let request = TracedRequest(
            id: id, place: nil, writtenAt: context.now(), isRepetition: false, isOwn: { _ in true })
        return try ResultTracer(context, terms: terms, keeper: keeper).trace(request, until: Deadline(after: farDeadline))
    }

    /// Runs a keeper on a thread of its own while `body` runs.
    func keeping(_ body: (IndexKeeper) throws -> Void) throws {
        let flag = Flag()
        let keeper = IndexKeeper(path: file, context { flag.isSet })
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            keeper.run()
            ended.signal()
        }
        defer {
            flag.set()
            #expect(ended.wait(timeout: .now() + .seconds(Int(farDeadline.components.seconds))) == .success)
        }
        try body(keeper)
    }

    /// The index has every record that was written.
    func isCurrent(_ keeper: IndexKeeper) -> Bool { keeper.condition == .current(records: count, behind: 0) }

    /// Compares the answers with those of the topic. They come from the index if `isKept`, or from either if it is nil.
    func expectSameAnswers(_ keeper: IndexKeeper, isKept: Bool? = true, _ place: SourceLocation = #_sourceLocation) throws {
        let kept = ResultAnswers(context(), kept: keeper)
        let scanned = ResultAnswers(context())
        let filter = try ResultFilter("-state:partial", now: 0)
        let page = try kept.page(10, filter, after: nil, patience: farDeadline)
        let expected = try scanned.page(10, filter, after: nil, patience: farDeadline)
        #expect(Self.places(page.results) == Self.places(expected.results), sourceLocation: place)
        #expect(page.next == expected.next, sourceLocation: place)
        #expect(isKept == nil || (page.searched.source == .index) == isKept, sourceLocation: place)
        let life = try kept.life(of: "a", ResultFilter())
        #expect(try life.json == scanned.life(of: "a", ResultFilter()).json, sourceLocation: place)
        let report = try kept.failureReport(ResultFilter(), keepingSettled: true)
        let read = try scanned.failureReport(ResultFilter(), keepingSettled: true)
        #expect(report.json == read.json && report.count == count, sourceLocation: place)
    }

    /// Compares pages of a scan whose time is over at once with the list.
    func expectPages(of text: String) throws {
        let answers = ResultAnswers(context())
        let filter = try ResultFilter(text, now: 0)
        var found: [String] = []
        var cursor: ResultCursor?
        repeat {
            let page = try answers.page(7, filter, after: cursor, patience: .zero)
            found += Self.places(page.results)
            #expect(page.searched.source == .scan && page.searched.of == count)
            cursor = page.next
        } while cursor != nil
        #expect(found == Self.places(try answers.newest(1000, filter).reversed()))
        #expect(!found.isEmpty)
    }

    private static func places(_ records: [ResultRecord]) -> [String] { records.map { "\($0.partition):\($0.offset)" } }
}

/// A flag that another thread sets.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
