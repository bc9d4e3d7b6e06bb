@testable import GatewayAPI
import Basics
import Testing

/// Whether a record may join those that wait for Kafka, on a clock that tests write down.
@Suite struct ProducerQueueTests {
    /// What happens to a queue, in milliseconds.
    enum Step: Sendable {
        /// Records come; so many of them are admitted.
        case come(Int, at: Int64, admitted: Int)
        /// A broker has answered for a record that was admitted then.
        case answer(of: Int64, at: Int64)
        /// The client gives up a record that was admitted then.
        case loss(of: Int64, at: Int64)
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test(
        arguments: [
            ("an empty queue takes all", [.come(3, at: 0, admitted: 3)]),
            ("so does one whose oldest record is young", [.come(1, at: 0, admitted: 1), .come(3, at: 2000, admitted: 3)]),
            (
                "one that stands still takes one on trial each second",
                [
                    .come(1, at: 0, admitted: 1), .come(3, at: 2001, admitted: 1), .come(3, at: 3000, admitted: 0),
                    .come(3, at: 3001, admitted: 1), .come(1, at: 3002, admitted: 0),
                ]
            ),
            (
                "a trial that is confirmed opens it",
                [
                    .come(1, at: 0, admitted: 1), .come(2, at: 2500, admitted: 1), .answer(of: 2500, at: 2600),
                    .come(9, at: 2601, admitted: 9),
                ]
            ),
            (
                "so does the last record, however late",
                [.come(1, at: 0, admitted: 1), .answer(of: 0, at: 4000), .come(9, at: 4000, admitted: 9)]
            ),
            (
                "a late one among others does not",
                [
                    .come(2, at: 0, admitted: 2), .come(1, at: 2500, admitted: 1), .answer(of: 0, at: 2600),
                    .come(9, at: 2601, admitted: 0),
                ]
            ),
            (
                "one partition without a leader does not stop the others",
                [
                    .come(2, at: 0, admitted: 2), .answer(of: 0, at: 5), .come(1, at: 1900, admitted: 1),
                    .answer(of: 1900, at: 1905), .come(9, at: 3800, admitted: 9),
                ]
            ),
            (
                "records that are given up leave it as it stands, though nothing waits any more",
                [
                    .come(1, at: 0, admitted: 1), .loss(of: 0, at: 5000), .come(2, at: 5000, admitted: 1),
                    .come(1, at: 5900, admitted: 0), .answer(of: 5000, at: 5950), .come(9, at: 5951, admitted: 9),
                ]
            ),
            (
                "it opens after a rest",
                [.come(1, at: 0, admitted: 1), .loss(of: 0, at: 5000), .come(9, at: 7000, admitted: 9)]
            ),
            (
                "a record that is given up at once says nothing",
                [
                    .come(1, at: 0, admitted: 1), .loss(of: 0, at: 0), .come(1, at: 1900, admitted: 1),
                    .come(9, at: 2100, admitted: 9),
                ]
            ),
            (
                "it stands still again where nothing moves after a record that was in time",
                [
                    .come(3, at: 0, admitted: 3), .answer(of: 0, at: 1000), .come(9, at: 3000, admitted: 9),
                    .come(9, at: 4001, admitted: 1),
                ]
            ),
        ] as [(String, [Step])])
    func recordsAreAdmittedWhileTheQueueMoves(rule: String, steps: [Step]) {
        var queue = ProducerQueue()
        var refused = 0
        for (index, step) in steps.enumerated() {
            switch step {
            case .come(let count, let moment, let expected):
                let admitted = (0..<count).count { _ in queue.admit(at: Self.time(moment)) }
                #expect(admitted == expected, "\(rule), step \(index)")
                refused += count - admitted
            case .answer(let start, let moment):
                queue.noteEnd(isAnswered: true, admittedAt: Self.time(start), at: Self.time(moment))
            case .loss(let start, let moment):
                queue.noteEnd(isAnswered: false, admittedAt: Self.time(start), at: Self.time(moment))
            }
        }
        #expect(queue.refusedCount == refused)
    }

    @Test func itsAgeIsTheTimeWithoutAConfirmation() {
        var queue = ProducerQueue()
        #expect(queue.age(at: Self.time(9000)) == 0 && queue.count == 0)
        let admitted = [1000, 1500].count { queue.admit(at: Self.time($0)) }
        #expect(admitted == 2 && queue.age(at: Self.time(2500)) == 1_500_000_000 && queue.count == 2)
        queue.noteEnd(isAnswered: true, admittedAt: Self.time(1000), at: Self.time(2000))
        #expect(queue.age(at: Self.time(2500)) == 500_000_000 && !queue.standsStill(at: Self.time(4000)))
        #expect(queue.standsStill(at: Self.time(4001)))
        queue.noteEnd(isAnswered: true, admittedAt: Self.time(1500), at: Self.time(4500))
        #expect(queue.age(at: Self.time(9000)) == 0 && queue.count == 0)
        let isAdmitted = queue.admit(at: Self.time(9000))
        queue.noteEnd(isAnswered: false, admittedAt: Self.time(9000), at: Self.time(14_000))
        #expect(isAdmitted && queue.age(at: Self.time(15_000)) == 6_000_000_000 && queue.age(at: Self.time(16_000)) == 0)
    }

    @Test func onePartyHasAQuarterOfTheQueue() {
        var queue = ProducerQueue(limit: 8)
        let (greedy, quiet) = (Party(tenant: "greedy", source: nil), Party(tenant: "quiet", source: nil))
        func admitted(_ count: Int, for party: Party?) -> Int {
            (0..<count).count { _ in queue.admit(for: party, at: Self.time(0)) }
        }
        #expect(admitted(9, for: greedy) == 2 && admitted(1, for: quiet) == 1)
        #expect(admitted(9, for: nil) == 9, "records of the gateway itself count for none")
        #expect(queue.count == 12 && queue.refusedCount == 7)
        queue.noteEnd(isAnswered: true, for: greedy, admittedAt: Self.time(0), at: Self.time(1))
        #expect(admitted(2, for: greedy) == 1)
    }
}
