import Delivery
import Foundation
import Kafka
import PushModel
import ResultQuery
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// An index of requests that is kept beside its queries, on the broker inside the process.
@Suite(.serialized) struct RequestIndexKeeperTests {
    private let stage: LanesStage

    init() throws { stage = try LanesStage() }

    @Test func itFillsFollowsAndGoesOnAfterAnEnd() throws {
        try stage.write(30)
        try stage.keeping { keeper in
            #expect(eventually { stage.hasAll(keeper) })
            #expect(keeper.since == 0)
            try stage.write(20)
            #expect(eventually { stage.hasAll(keeper) })
        }
        try stage.write(10)
        try stage.keeping { keeper in #expect(eventually { stage.hasAll(keeper) }) }
    }

    /// Brokers that are away leave the moment of before.
    @Test func itTellsTheMomentUpToWhichItHasEverything() throws {
        try stage.write(10)
        try stage.keeping { keeper in
            #expect(eventually { stage.hasAll(keeper) })
            let moment = stage.clock.moment
            #expect(eventually { keeper.answer { $0.upTo } == moment })
            stage.clock.advance(by: 7_000)
            #expect(eventually { keeper.answer { $0.upTo } == moment + 7_000 })
            stage.close()
            stage.clock.advance(by: 7_000)
            let readings = stage.clock.readings
            // The keeper looks at the clock in each round of reading.
            #expect(eventually { stage.clock.readings > readings + 25 })
            #expect(keeper.answer { $0.upTo } == moment + 7_000 && stage.hasAll(keeper))
        }
    }

    @Test func itAnswersNothingBeforeItBeginsAndPromisesNothingBeforeItIsFilled() throws {
        let keeper = RequestIndexKeeper(stage.settings, in: stage.context())
        #expect(keeper.answer { _ in 1 } == nil && keeper.condition == .starting && keeper.since == nil)
    }

    @Test func aDamagedHourIsReadAgain() throws {
        // In the first hour of all, from which reading begins without a question for times.
        let stage = try LanesStage(now: 3_000_000, step: 1)
        try stage.write(40)
        try stage.keeping { keeper in
            #expect(eventually { stage.hasAll(keeper) })
            try stage.damage()
            // The question that meets it has no answer, or an empty one once the file is gone.
            _ = stage.ids(keeper)
            #expect(eventually { stage.hasAll(keeper) })
            #expect(eventually { keeper.since == 0 })
        }
    }

    @Test func aDamagedFileOfPositionsMeansANewIndex() throws {
        try stage.write(20)
        try stage.keeping { keeper in #expect(eventually { stage.hasAll(keeper) }) }
        try stage.damagePositions()
        try stage.keeping { keeper in #expect(eventually { stage.hasAll(keeper) }) }
    }

    @Test func otherRecordsAtItsPlacesMeanANewIndex() throws {
        try stage.write(20)
        try stage.keeping { keeper in #expect(eventually { stage.hasAll(keeper) }) }
        try stage.changeWitness()
        try stage.keeping { keeper in
            // The flaw is met first, and all is read again.
            #expect(eventually { stage.notes.contains { $0.contains("has records that the topic does not have") } })
            #expect(eventually { stage.hasAll(keeper) })
        }
    }

    @Test func aFolderThatCannotBeUsedIsNotedOnceAndTriedAgain() throws {
        try stage.write(5)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: stage.settings.folder))
        try stage.keeping { keeper in
            #expect(eventually { if case .failed = keeper.condition { true } else { false } })
            #expect(keeper.answer { _ in 1 } == nil)
            try FileManager.default.removeItem(atPath: stage.settings.folder)
            #expect(eventually { stage.hasAll(keeper) })
            #expect(stage.notes.filter { $0.contains("is left alone") }.count == 1)
        }
    }
}

/// Lanes of a broker in this process, and the folder of an index.
private final class LanesStage {
    let settings: RequestIndexSettings
    private let cluster: MockCluster
    private let folder: TemporaryFolder
    private let topics = Topics()
    private let noted = Notes()
    /// The clock of the keeper.
    let clock: Clock
    private let (now, step): (Int64, Int64)
    private var written: [String] = []

    /// Lanes of which records are written at five times, so many milliseconds apart.
    init(now: Int64 = 1_795_262_400_000, step: Int64 = 3_600_000) throws {
        (self.now, self.step, clock) = (now, step, Clock(now))
        cluster = try MockCluster()
        folder = try TemporaryFolder()
        // The broker finds no offsets for times. None is asked for where all is kept.
        settings = RequestIndexSettings(folder: folder.path("requests"), keep: .milliseconds(now))
        // The lane of requests that pushfan writes is missing.
        for topic in [topics.requestsHigh, topics.requests, topics.requestsBulk] {
            try cluster.createTopic(topic, partitions: 2)
        }
    }

    deinit { cluster.close() }

    /// Takes the brokers away.
    func close() { cluster.close() }

    var notes: [String] { noted.texts.withLock { $0 } }

    func context(until isOver: @escaping @Sendable () -> Bool = { false }) -> JobContext {
        JobContext(
            kafka: cluster.configuration, topics: topics, timeout: farDeadline, now: { [clock] in clock.read() },
            isCancelled: isOver,
            note: { [noted] in
                if case .indexFailed(let text) = $0 { noted.texts.withLock { $0.append(text) } }
            })
    }

    /// Writes requests to all lanes, some hours apart, and a record that is none.
    func write(_ count: Int) throws {
        let producer = try Producer(cluster.configuration, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let lanes = [topics.requestsHigh, topics.requests, topics.requestsBulk]
        for _ in 0..<count {
            let number = written.count
            let topic = try producer.topic(named: lanes[number % 3])
            let time = now - Int64(number % 5) * step - 1_000 + Int64(number)
            let request = RequestIndexStage.request("r\(number)")
            try producer.produce(
                to: topic, partition: Int32(number / 3 % 2), key: nil, value: Array(request.utf8).span, timestamp: time)
            written.append("r\(number)")
        }
        let topic = try producer.topic(named: topics.requests)
        try producer.produce(to: topic, partition: 0, key: nil, value: Array("no request".utf8).span, timestamp: now)
        try producer.flush(timeout: farDeadline)
    }

    /// Runs a keeper on a thread of its own while `body` runs.
    func keeping(_ body: (RequestIndexKeeper) throws -> Void) throws {
        let flag = Flag()
        let keeper = RequestIndexKeeper(settings, in: context { flag.isSet })
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

    /// The ids of what a user gets, or nil where the index does not answer.
    func ids(_ keeper: RequestIndexKeeper) -> [String]? {
        var filter = ResultFilter()
        filter.add(Sought(.user, values: [Sought.Value("alice")]))
        return keeper.answer { index throws(SQLiteError) in
            try index.rows(matching: filter, since: 0, through: .max, isPossible: false, limit: 1000).map(\.facts.id)
        }
    }

    /// The index has every request that was written once, and knows it.
    func hasAll(_ keeper: RequestIndexKeeper) -> Bool {
        guard case .current(written.count, 0) = keeper.condition, let ids = ids(keeper) else { return false }
        return ids.count == written.count && Set(ids) == Set(written)
    }

    /// Writes nonsense over the facts of the newest hour.
    func damage() throws {
        let hour = IndexHour.hour(of: now - 1_000)
        try Database(path: IndexFolder.path(of: hour, in: settings.folder), waiting: farDeadline)
            .execute("UPDATE pack SET content = x'00'")
    }

    /// Writes nonsense over the pages of the file of positions, but its header.
    func damagePositions() throws {
        let path = settings.folder + "/" + IndexFolder.stateName
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 0x5A, count: bytes.count - 100))
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Makes the newest record of each partition another one than the topic has.
    func changeWitness() throws {
        try Database(path: settings.folder + "/" + IndexFolder.stateName, waiting: farDeadline)
            .execute("UPDATE position SET time = time - 1")
    }
}

/// A clock that is advanced by hand, and counts who looks.
private final class Clock: Sendable {
    private let state: Mutex<(moment: Int64, readings: Int)>

    init(_ moment: Int64) { state = Mutex((moment, 0)) }

    var moment: Int64 { state.withLock { $0.moment } }
    var readings: Int { state.withLock { $0.readings } }
    func advance(by milliseconds: Int64) { state.withLock { $0.moment += milliseconds } }
    func read() -> Int64 {
        state.withLock { state in
            state.readings += 1
            return state.moment
        }
    }
}

/// The reasons that were noted.
private final class Notes: Sendable {
    let texts = Mutex<[String]>([])
}

/// A flag that another thread sets.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
