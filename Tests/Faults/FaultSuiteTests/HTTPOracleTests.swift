import FaultOracle
import PushModel
import Testing

@Suite struct HTTPOracleTests {
    /// A 202 for one record of number 1.
    private static let accepted = HTTPCallFact(1, status: 202, id: "k1", topic: "t", partition: 0, offset: 5)
    private static let record = HTTPRecordFact(Place(0, 5), number: 1, id: "k1")
    /// Another record of the same number.
    private static let second = HTTPRecordFact(Place(0, 9), number: 1, id: "k1")

    /// The invariants that calls and records violate; of each number the first record is sent and all others are duplicates.
    private static func violated(
        _ calls: [HTTPCallFact], _ records: [HTTPRecordFact], _ change: (inout [ResultFact]) -> Void = { _ in }
    ) -> Set<Invariant> {
        var evidence = Evidence()
        var seen: Set<Int> = []
        evidence.results = records.map { record in
            let isFirst = seen.insert(record.number).inserted
            return ResultFact(
                record.place, user: nil, state: isFirst ? .sent : .duplicate, safety: .pointless, explainedCalls: 0)
        }
        change(&evidence.results)
        evidence.positions = [PositionFact(0, committed: 100), PositionFact(1, committed: 100)]
        evidence.setHTTP(calls: calls, records: records, topic: "t")
        let judged: Set<Invariant> = [
            .published, .accepted, .surplusRecords, .requestIDs, .sameAnswer, .sentOverHTTP, .repetitions, .repeated, .lost,
        ]
        return Set(Oracle(evidence).findings().filter { !$0.holds }.map(\.invariant)).intersection(judged)
    }

    @Test func a202HasItsRecordAtItsPlaceWithItsID() {
        #expect(Self.violated([Self.accepted], [Self.record]) == [])
        #expect(Self.violated([Self.accepted], []) == [.accepted])
        var elsewhere = Self.accepted
        elsewhere.offset = 6
        #expect(Self.violated([elsewhere], [Self.record]) == [.accepted])
        elsewhere = Self.accepted
        elsewhere.partition = 1
        #expect(Self.violated([elsewhere], [Self.record]) == [.accepted])
        elsewhere = Self.accepted
        elsewhere.topic = "other"
        #expect(Self.violated([elsewhere], [Self.record]) == [.accepted])
        var renamed = Self.accepted
        renamed.id = "k2"
        #expect(Self.violated([renamed], [Self.record]) == [.accepted, .requestIDs])
        renamed.id = nil
        #expect(Self.violated([renamed], [Self.record]) == [.accepted])
    }

    @Test func a202WithoutAnOffsetHasARecordInItsPartition() {
        var unknown = Self.accepted
        unknown.offset = nil
        #expect(Self.violated([unknown, unknown], [Self.record]) == [])
        #expect(Self.violated([unknown], []) == [.accepted])
        #expect(Self.violated([unknown], [Self.record, Self.second]) == [.surplusRecords])
    }

    @Test func a202IsThereOnce() {
        #expect(Self.violated([Self.accepted], [Self.record, Self.second]) == [.surplusRecords])
    }

    @Test(arguments: [503, 409, 429, 422])
    func whatWasRefusedIsNotThere(_ status: Int) {
        let refused = HTTPCallFact(1, status: status)
        #expect(Self.violated([refused], []) == [])
        #expect(Self.violated([refused], [Self.record]) == [.surplusRecords])
        #expect(Self.violated([refused, Self.accepted], [Self.record]) == [])
        #expect(Self.violated([refused, Self.accepted], [Self.record, Self.second]) == [.surplusRecords])
    }

    @Test(arguments: [504, 500, 0])
    func whatIsInDoubtIsThereOnceAtMost(_ status: Int) {
        let doubtful = HTTPCallFact(1, status: status, id: "k1")
        #expect(Self.violated([doubtful], []) == [])
        #expect(Self.violated([doubtful], [Self.record]) == [])
        #expect(Self.violated([doubtful, Self.accepted], [Self.record, Self.second]) == [])
        #expect(Self.violated([doubtful], [Self.record, Self.second]) == [.surplusRecords])
    }

    @Test func aRecordOfNoCallIsTooMuch() {
        let other = HTTPRecordFact(Place(1, 0), number: 2, id: "k2")
        #expect(Self.violated([Self.accepted], [Self.record, other]) == [.surplusRecords])
    }

    @Test func aKeyHasOneID() {
        let doubtful = HTTPCallFact(1, status: 504, id: "k2")
        #expect(Self.violated([doubtful, Self.accepted], [Self.record]) == [.requestIDs])
        var renamed = Self.second
        renamed.id = "k2"
        #expect(
            Self.violated([HTTPCallFact(1, status: 504, id: "k1"), Self.accepted], [Self.record, renamed]) == [.requestIDs])
    }

    @Test func aGatewayGivesOneAnswerWhileItRuns() {
        var again = Self.accepted
        again.offset = 9
        #expect(Self.violated([Self.accepted, Self.accepted], [Self.record]) == [])
        #expect(Self.violated([Self.accepted, again], [Self.record, Self.second]) == [.sameAnswer])
        again.gateway = "g2"
        #expect(Self.violated([Self.accepted, again], [Self.record, Self.second]) == [])
    }

    @Test func oneRecordOfEachKeyIsSent() {
        let doubtful = HTTPCallFact(1, status: 504, id: "k1")
        let (calls, records) = ([doubtful, Self.accepted], [Self.record, Self.second])
        #expect(Self.violated(calls, records) { $0[1].state = .sent } == [.repetitions])
        #expect(Self.violated(calls, records) { $0[0].state = .duplicate } == [.repetitions, .sentOverHTTP])
        #expect(Self.violated([Self.accepted], [Self.record]) { $0[0].state = .duplicate } == [.sentOverHTTP])
        #expect(Self.violated([Self.accepted], [Self.record]) { $0 = [] } == [.lost])
    }

    @Test func answersAreRead() {
        let accepted = read(
            #"{"id":"k1","state":"accepted","topic":"t","partition":3,"offset":"42","accepted_at":"2026-11-21T16:00:00.000Z"}"#)
        #expect(accepted == HTTPCallFact(1, status: 202, id: "k1", topic: "t", partition: 3, offset: 42))
        #expect(read(#"{"status":504,"code":"ack_unknown","request_id":"k1"}"#) == HTTPCallFact(1, status: 202, id: "k1"))
        #expect(read("<html>") == HTTPCallFact(1, status: 202))
    }

    private func read(_ text: String) -> HTTPCallFact {
        var (reader, call) = (FactReader(), HTTPCallFact(1, status: 202))
        let bytes = Array(text.utf8)
        reader.readAnswer(bytes.span, into: &call)
        return call
    }

    @Test func aRecordIsReadByItsIDAndItsUser() {
        func record(_ text: String) -> HTTPRecordFact? {
            var reader = FactReader()
            let bytes = Array(text.utf8)
            return reader.httpRecord(bytes.span, at: Place(3, 42), time: 7)
        }
        #expect(
            record(#"{"id":"k1","audience":{"users":["u12"]},"message":{"title":"12"}}"#)
                == HTTPRecordFact(Place(3, 42), number: 12, id: "k1", at: 7))
        #expect(record(#"{"audience":{"users":["u12"]}}"#) == nil)
        #expect(record(#"{"id":"k1","audience":{"users":["alice"]}}"#) == nil)
        #expect(record("no JSON") == nil)
    }
}
