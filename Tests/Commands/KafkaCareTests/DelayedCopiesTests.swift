import Kafka
import Testing

@testable import Groups
@testable import KafkaCare

@Suite struct DelayedCopiesTests {
    private static let lane = TopicPartition(topic: "lane", partition: 0)

    private static func headers(_ offset: Int, time: Int64? = 7, attempt: Int = 0, group: String = "g") -> [String: String] {
        var headers = [
            "pushfan-group": group, "pushfan-origin-topic": "t", "pushfan-origin-partition": "0",
            "pushfan-origin-offset": "\(offset)", "pushfan-attempt": "\(attempt)",
        ]
        headers["pushfan-origin-timestamp-ms"] = time.map { "\($0)" }
        return headers
    }

    private static func isDone(_ copies: DelayedCopies, _ headers: [String: String], _ offset: Int64) -> Bool? {
        WaitingRecord(headers, of: "g").flatMap { copies.isDone($0, at: lane, offset: offset, mayHaveGoneOn: true) }
    }

    private static func take(
        _ headers: [String: String], at offset: Int64 = 0, written: Int64, into copies: inout DelayedCopies
    ) throws {
        copies.take(try #require(WaitingRecord(headers, of: "g")), at: lane, offset: offset, written: written)
    }

    /// Two copies of a request: the attempts before each, when it was written, and whether the first one waits.
    @Test(
        arguments: [
            (0, 1, 0, 2, false), (0, 2, 0, 1, true), (0, 2, 1, 1, false), (3, 1, 2, 9, true),
            // Nothing tells them apart: one of them waits, and not both.
            (0, 5, 0, 5, false),
        ] as [(Int, Int64, Int, Int64, Bool)])
    func theLastCopyWaits(attempt: Int, written: Int64, otherAttempt: Int, otherWritten: Int64, isFirst: Bool) throws {
        var copies = DelayedCopies()
        let (first, second) = (Self.headers(4, attempt: attempt), Self.headers(4, attempt: otherAttempt))
        try Self.take(first, written: written, into: &copies)
        try Self.take(second, at: 1, written: otherWritten, into: &copies)
        #expect(Self.isDone(copies, first, 0) == !isFirst && Self.isDone(copies, second, 1) == isFirst)
    }

    /// When the request was published as the record says and as its outcome says, and whether it is the same one.
    @Test(arguments: [(7, 7, true), (7, nil, true), (7, 8, false), (nil, nil, true)] as [(Int64?, Int64?, Bool)])
    func anOutcomeEndsItsRequestOnly(time: Int64?, told: Int64?, isSame: Bool) throws {
        var copies = DelayedCopies()
        let (headers, other) = (Self.headers(4, time: time), Self.headers(5, time: time))
        try Self.take(headers, written: 1, into: &copies)
        try Self.take(other, at: 1, written: 1, into: &copies)
        copies.finish(topic: "t", partition: 0, offset: 4, time: told)
        copies.finish(topic: "u", partition: 0, offset: 5, time: told)
        copies.finish(topic: "t", partition: 1, offset: 5, time: told)
        #expect(Self.isDone(copies, headers, 0) == isSame && Self.isDone(copies, other, 1) == false)
    }

    @Test func whatIsNoneOfTheGroupsWaitsForNothingAndAQuestionIsNotAskedTwice() throws {
        let copies = DelayedCopies()
        #expect(Self.isDone(copies, Self.headers(4, group: "other"), 0) == nil)
        #expect(Self.isDone(copies, ["pushfan-group": "g"], 0) == nil)
        var poll = Self.headers(4)
        poll["pushfan-poll"] = "1"
        for mayHaveGoneOn in [true, false] {
            let record = try #require(WaitingRecord(poll, of: "g"))
            #expect(copies.isDone(record, at: Self.lane, offset: 0, mayHaveGoneOn: mayHaveGoneOn) == mayHaveGoneOn)
        }
    }
}
