import Kafka
import PushModel
import Testing

@testable import Console

@Suite struct WaitingCopiesTests {
    private static let lane = TopicPartition(topic: "lane", partition: 0)

    private static func headers(_ offset: Int, time: Int64? = 7, attempt: Int = 0, group: String = "g") -> [String: String] {
        var headers = [
            "pushfan-group": group, "pushfan-origin-topic": "t", "pushfan-origin-partition": "0",
            "pushfan-origin-offset": "\(offset)", "pushfan-attempt": "\(attempt)",
        ]
        headers["pushfan-origin-timestamp-ms"] = time.map { "\($0)" }
        return headers
    }

    private static func isDone(_ copies: WaitingCopies, _ headers: [String: String], _ offset: Int64) -> Bool? {
        copies.isDone(headers, at: lane, offset, mayHaveGoneOn: true)
    }

    /// Two copies of a request: the attempts before each, when it was written, and whether the first one waits.
    @Test(
        arguments: [
            (0, 1, 0, 2, false), (0, 2, 0, 1, true), (0, 2, 1, 1, false), (3, 1, 2, 9, true),
            // Nothing tells them apart: one of them waits, and not both.
            (0, 5, 0, 5, false),
        ] as [(Int, Int64, Int, Int64, Bool)])
    func theLastCopyWaits(attempt: Int, written: Int64, otherAttempt: Int, otherWritten: Int64, isFirst: Bool) {
        var copies = WaitingCopies(of: "g")
        let (first, second) = (Self.headers(4, attempt: attempt), Self.headers(4, attempt: otherAttempt))
        copies.take(first, at: Self.lane, 0, written: written)
        copies.take(second, at: Self.lane, 1, written: otherWritten)
        #expect(Self.isDone(copies, first, 0) == !isFirst && Self.isDone(copies, second, 1) == isFirst)
    }

    /// When the request was published as the record says and as its outcome says, and whether it is the same one.
    @Test(arguments: [(7, 7, true), (7, nil, true), (7, 8, false), (nil, nil, true)] as [(Int64?, Int64?, Bool)])
    func anOutcomeEndsItsRequestOnly(time: Int64?, told: Int64?, isSame: Bool) {
        var copies = WaitingCopies(of: "g")
        let (headers, other) = (Self.headers(4, time: time), Self.headers(5, time: time))
        copies.take(headers, at: Self.lane, 0, written: 1)
        copies.take(other, at: Self.lane, 1, written: 1)
        copies.finish("t", 0, 4, told)
        copies.finish("u", 0, 5, told)
        copies.finish("t", 1, 5, told)
        #expect(Self.isDone(copies, headers, 0) == isSame && Self.isDone(copies, other, 1) == false)
    }

    @Test func whatIsNoneOfTheGroupsWaitsForNothingAndAQuestionIsNotAskedTwice() {
        let copies = WaitingCopies(of: "g")
        #expect(Self.isDone(copies, Self.headers(4, group: "other"), 0) == nil)
        #expect(Self.isDone(copies, ["pushfan-group": "g"], 0) == nil)
        var poll = Self.headers(4)
        poll["pushfan-poll"] = "1"
        for mayHaveGoneOn in [true, false] {
            #expect(copies.isDone(poll, at: Self.lane, 0, mayHaveGoneOn: mayHaveGoneOn) == mayHaveGoneOn)
        }
    }
}
