import Basics
import Crypto
import Dispatch
import EventLoop
import FanOut
import HTTPServing
import Kafka
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The threads that read texts, on brokers that a test makes up.
@Suite(.tags(.threads)) struct TextReaderTests {
    private func user(_ name: String) throws -> UserTag { try UserTag.Pattern("username:{user}").tag(of: name) }

    private func id(_ partition: Int32, _ offset: Int64) -> SecureID {
        SecureID(secret: [UInt8](repeating: 7, count: SecureID.secretByteCount), partition: partition, offset: offset)
    }

    private func reader(of shelf: TextShelf) -> TextReader {
        TextReader(TestServices().services.log, patience: farDeadline) { () throws(KafkaError) -> any TextSource in
            ShelvedTexts(shelf)
        }
    }

    @Test(arguments: [(2, 5), (.max, 0), (0, 10), (0, .max), (1, 4)] as [(Int32, Int64)])
    func anIDThatCannotBeIsNotFetched(partition: Int32, offset: Int64) throws {
        let (shelf, answers) = (TextShelf(), Answers())
        let reader = reader(of: shelf)
        reader.start()
        defer { reader.stop() }
        reader.ask(id(partition, offset), for: try user("mallory")) { answers.add($0) }
        #expect(eventually { answers.all.map(\.status) == [404] })
        #expect(shelf.fetchCount == 0)
    }

    @Test func oneAnswerOfABrokerIsGoodForAllThatWait() throws {
        let (shelf, answers) = (TextShelf(), Answers())
        let reader = reader(of: shelf)
        defer { reader.stop() }
        for offset in 0..<30 { reader.ask(id(0, 10 + Int64(offset)), for: try user("mallory")) { answers.add($0) } }
        reader.start()
        #expect(eventually { answers.all.map(\.status) == [Int](repeating: 404, count: 30) })
        #expect(shelf.fetchCount == 0)
        #expect(shelf.questionCount <= 2 * TextReader.threadsOfUser, "how many partitions, and where the one ends")
    }

    /// Reading any record of partition 0 lasts until the test lets it end.
    @Test func whoeverAsksForMuchHoldsUpHimselfAlone() throws {
        let (shelf, answers, others) = (TextShelf(), Answers(), Answers())
        try shelf.put("for bob", for: try user("bob"), at: id(1, 7))
        let reader = reader(of: shelf)
        reader.start()
        defer { reader.stop() }
        defer { shelf.open() }
        for _ in 0..<TextReader.limitOfUser { reader.ask(id(0, 3), for: try user("mallory")) { answers.add($0) } }
        #expect(eventually { shelf.heldCount == TextReader.threadsOfUser })
        for name in ["mallory", "Mallory"] { reader.ask(id(0, 3), for: try user(name)) { others.add($0) } }
        #expect(others.all.map(\.status) == [429, 429] && others.all.allSatisfy { $0.headers["Retry-After"] == "1" })
        for _ in 0..<20 {
            let count = others.all.count
            reader.ask(id(1, 7), for: try user("bob")) { others.add($0) }
            #expect(eventually { others.all.count > count })
            #expect(others.all.last == .payload("for bob"))
        }
        #expect(answers.all.isEmpty && shelf.heldCount == TextReader.threadsOfUser)
        shelf.open()
        #expect(eventually { answers.all.map(\.status) == [Int](repeating: 404, count: TextReader.limitOfUser) })
        reader.ask(id(0, 3), for: try user("mallory")) { answers.add($0) }
        #expect(eventually { answers.all.count == TextReader.limitOfUser + 1 })
    }

    @Test func afterAnErrorWhatWasKnownIsAskedAgain() throws {
        let (shelf, answers) = (TextShelf(), Answers())
        shelf.open()
        try shelf.put("Hi", for: try user("bob"), at: id(0, 3))
        let reader = reader(of: shelf)
        reader.start()
        defer { reader.stop() }
        for (round, status) in [200, 503, 200].enumerated() {
            if status == 503 { shelf.failNextFetch() }
            reader.ask(id(0, 3), for: try user("bob")) { answers.add($0) }
            #expect(eventually { answers.all.count == round + 1 })
            #expect(answers.all.last?.status == status)
        }
        #expect(shelf.questionCount == 6, "three before the first, and three after the error")
    }

    @Test func afterTheEndNothingIsAsked() throws {
        let (shelf, answers) = (TextShelf(), Answers())
        let reader = reader(of: shelf)
        reader.start()
        reader.stop()
        reader.ask(id(0, 3), for: try user("bob")) { answers.add($0) }
        #expect(answers.all.map(\.status) == [503] && shelf.questionCount == 0)
    }
}

/// What was answered.
private final class Answers: Sendable {
    private let answers = Mutex<[APIAnswer]>([])

    func add(_ answer: APIAnswer) { answers.withLock { $0.append(answer) } }

    var all: [APIAnswer] { answers.withLock { $0 } }
}

/// Two partitions of a topic with offsets 5 to 9 each but for the first, which begins at 0. Fetches from the first wait until it is opened.
private final class TextShelf: Sendable {
    private struct State {
        var records: [String: TextRecord] = [:]
        var questionCount = 0
        var fetchCount = 0
        var heldCount = 0
        var isOpen = false
        var isToFail = false
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    var questionCount: Int { state.withLock { $0.questionCount } }
    var fetchCount: Int { state.withLock { $0.fetchCount } }
    /// How many fetches wait.
    var heldCount: Int { state.withLock { $0.heldCount } }

    func put(_ text: String, for user: UserTag, at id: SecureID) throws {
        let value = try SecureText(text, for: user).sealed(by: id.secret)
        let record = TextRecord(timestamp: WallClock.millisecondsSince1970(), value: value)
        state.withLock { $0.records["\(id.partition):\(id.offset)"] = record }
    }

    func open() {
        state.withLock { $0.isOpen = true }
        gate.signal()
    }

    func failNextFetch() { state.withLock { $0.isToFail = true } }

    func value(of bound: TextPlaces.Bound) -> Int64 {
        state.withLock { $0.questionCount += 1 }
        switch bound {
        case .partitionCount: return 2
        case .end: return 10
        case .start(let partition): return partition == 0 ? 0 : 5
        }
    }

    func record(of id: SecureID) throws(KafkaError) -> TextRecord? {
        if id.partition == 0 { waitUntilOpen() }
        let (record, isToFail) = state.withLock { state -> (TextRecord?, Bool) in
            defer { state.isToFail = false }
            state.fetchCount += 1
            return (state.records["\(id.partition):\(id.offset)"], state.isToFail)
        }
        if isToFail { throw .invalidArgument("a test wants it") }
        return record
    }

    private func waitUntilOpen() {
        let isHeld = state.withLock { state -> Bool in
            if !state.isOpen { state.heldCount += 1 }
            return !state.isOpen
        }
        guard isHeld else { return }
        gate.wait()
        gate.signal()
        state.withLock { $0.heldCount -= 1 }
    }
}

/// A thread's own access to a shelf.
private final class ShelvedTexts: TextSource {
    private let shelf: TextShelf

    init(_ shelf: TextShelf) { self.shelf = shelf }

    func value(of bound: TextPlaces.Bound, timeout: Duration) -> Int64 { shelf.value(of: bound) }

    func record(of id: SecureID, timeout: Duration) throws(KafkaError) -> TextRecord? { try shelf.record(of: id) }
}
