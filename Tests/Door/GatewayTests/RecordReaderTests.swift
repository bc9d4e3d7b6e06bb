@testable import GatewayAPI
import Basics
import Dispatch
import EventLoop
import Kafka
import Synchronization
import TestSupport
import Testing

/// The threads that read records, on brokers that a test makes up.
@Suite(.tags(.threads)) struct RecordReaderTests {
    private func place(_ partition: Int32, _ offset: Int64) -> StoredPlace {
        StoredPlace(topic: "t", partition: partition, offset: offset)
    }

    private func reader(of shelf: Shelf) -> RecordReader {
        RecordReader(TestServices().services.log, patience: farDeadline) { () throws(KafkaError) -> any RecordSource in
            ShelvedRecords(shelf)
        }
    }

    @Test(arguments: [(2, 5), (.max, 0), (0, 10), (0, .max), (1, 4)] as [(Int32, Int64)])
    func aPlaceThatCannotBeIsNotFetched(partition: Int32, offset: Int64) throws {
        let (shelf, answers) = (Shelf(), Answers())
        let reader = reader(of: shelf)
        reader.start()
        defer { reader.stop() }
        reader.read(place(partition, offset), for: "mallory") { answers.add($0) }
        #expect(eventually { answers.all == ["nothing"] })
        #expect(shelf.fetchCount == 0)
    }

    @Test func oneAnswerOfABrokerIsGoodForAllThatWait() throws {
        let (shelf, answers) = (Shelf(), Answers())
        let reader = reader(of: shelf)
        defer { reader.stop() }
        for offset in 0..<30 { reader.read(place(0, 10 + Int64(offset)), for: "mallory") { answers.add($0) } }
        reader.start()
        #expect(eventually { answers.all == [String](repeating: "nothing", count: 30) })
        #expect(shelf.fetchCount == 0)
        #expect(shelf.questionCount <= 2 * RecordReader.threadsOfAsker, "how many partitions, and where the one ends")
    }

    /// Reading any record of partition 0 lasts until the test lets it end.
    @Test func whoeverAsksForMuchHoldsUpHimselfAlone() throws {
        let (shelf, answers, others) = (Shelf(), Answers(), Answers())
        shelf.put("for bob", at: place(1, 7))
        let reader = reader(of: shelf)
        reader.start()
        defer { reader.stop() }
        defer { shelf.open() }
        for _ in 0..<RecordReader.limitOfAsker { reader.read(place(0, 3), for: "mallory") { answers.add($0) } }
        #expect(eventually { shelf.heldCount == RecordReader.threadsOfAsker })
        for _ in 0..<2 { reader.read(place(0, 3), for: "mallory") { others.add($0) } }
        #expect(others.all == ["429 after 1000", "429 after 1000"])
        for _ in 0..<20 {
            let count = others.all.count
            reader.read(place(1, 7), for: "bob") { others.add($0) }
            #expect(eventually { others.all.count > count })
            #expect(others.all.last == "for bob")
        }
        #expect(answers.all.isEmpty && shelf.heldCount == RecordReader.threadsOfAsker)
        shelf.open()
        #expect(eventually { answers.all == [String](repeating: "nothing", count: RecordReader.limitOfAsker) })
        reader.read(place(0, 3), for: "mallory") { answers.add($0) }
        #expect(eventually { answers.all.count == RecordReader.limitOfAsker + 1 })
    }

    @Test func afterAnErrorWhatWasKnownIsAskedAgain() throws {
        let (shelf, answers) = (Shelf(), Answers())
        shelf.open()
        shelf.put("Hi", at: place(0, 3))
        let reader = reader(of: shelf)
        reader.start()
        defer { reader.stop() }
        for (round, answer) in ["Hi", "503 after 1000", "Hi"].enumerated() {
            if round == 1 { shelf.failNextFetch() }
            reader.read(place(0, 3), for: "bob") { answers.add($0) }
            #expect(eventually { answers.all.count == round + 1 })
            #expect(answers.all.last == answer)
        }
        #expect(shelf.questionCount == 6, "three before the first, and three after the error")
    }

    @Test func afterTheEndNothingIsAsked() throws {
        let (shelf, answers) = (Shelf(), Answers())
        let reader = reader(of: shelf)
        reader.start()
        reader.stop()
        reader.read(place(0, 3), for: "bob") { answers.add($0) }
        #expect(answers.all == ["503 after 1000"] && shelf.questionCount == 0)
    }
}

/// What was answered, in words.
private final class Answers: Sendable {
    private let answers = Mutex<[String]>([])

    func add(_ answer: RecordReader.Answer) {
        let word =
            switch answer {
            case .success(let record): record.map { String(decoding: $0.value ?? [], as: UTF8.self) } ?? "nothing"
            case .failure(let problem): "\(problem.status) after \(problem.retryAfter ?? 0)"
            }
        answers.withLock { $0.append(word) }
    }

    var all: [String] { answers.withLock { $0 } }
}

/// Two partitions of a topic with offsets 5 to 9 each but for the first, which begins at 0. Fetches from the first wait until it is opened.
private final class Shelf: Sendable {
    private struct State {
        var records: [StoredPlace: StoredRecord] = [:]
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

    func put(_ text: String, at place: StoredPlace) {
        state.withLock { $0.records[place] = StoredRecord(timestamp: 1, value: Array(text.utf8)) }
    }

    func open() {
        state.withLock { $0.isOpen = true }
        gate.signal()
    }

    func failNextFetch() { state.withLock { $0.isToFail = true } }

    func value(of bound: RecordPlaces.Bound) -> Int64 {
        state.withLock { $0.questionCount += 1 }
        switch bound {
        case .partitionCount: return 2
        case .end: return 10
        case .start(let partition): return partition.partition == 0 ? 0 : 5
        }
    }

    func record(at place: StoredPlace) throws(KafkaError) -> StoredRecord? {
        if place.partition.partition == 0 { waitUntilOpen() }
        let (record, isToFail) = state.withLock { state -> (StoredRecord?, Bool) in
            defer { state.isToFail = false }
            state.fetchCount += 1
            return (state.records[place], state.isToFail)
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
private final class ShelvedRecords: RecordSource {
    private let shelf: Shelf

    init(_ shelf: Shelf) { self.shelf = shelf }

    func value(of bound: RecordPlaces.Bound, timeout: Duration) -> Int64 { shelf.value(of: bound) }

    func record(at place: StoredPlace, timeout: Duration) throws(KafkaError) -> StoredRecord? {
        try shelf.record(at: place)
    }
}
