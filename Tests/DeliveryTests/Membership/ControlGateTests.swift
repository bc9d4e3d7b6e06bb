import Basics
import Delivery
import Testing

/// How long requests wait for the topic of cancellations.
struct ControlGateTests {
    private static let second: Int64 = 1_000_000_000

    /// What happens, a second after the other.
    private enum Second: Sendable {
        /// Nothing is read.
        case quiet
        /// Records are read.
        case read
        /// Nothing is read, and no broker seems to answer.
        case doubtful
        /// Nothing is read, and the second takes a minute, because the process stood still.
        case still
        /// Reading reaches its end.
        case end
    }

    private struct History: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let seconds: [Second]
        let isOpen: Bool
        let trouble: ControlGate.Failure?

        init(_ name: String, _ seconds: [Second], isOpen: Bool, _ trouble: ControlGate.Failure? = nil) {
            testDescription = name
            self.seconds = seconds
            self.isOpen = isOpen
            self.trouble = trouble
        }
    }

    private static func times(_ count: Int, _ second: Second) -> [Second] { Array(repeating: second, count: count) }

    private static let histories = [
        History("at first requests wait", [], isOpen: false),
        History("ten seconds without a record are waited for", times(10, .quiet), isOpen: false),
        History("no longer", times(11, .quiet), isOpen: true, .lapsed),
        History("nor ever again, however long it takes", times(3600, .quiet), isOpen: true, .lapsed),
        History("the end opens", [.quiet, .read, .end], isOpen: true),
        History("the end after that opens, and nothing is wrong", times(20, .quiet) + [.end], isOpen: true),
        History("records after that do not close", times(20, .quiet) + times(20, .read), isOpen: true, .lapsed),
        History("a long topic is read to its end", times(3600, .read), isOpen: false, .late),
        History("each record is a new beginning", times(9, .quiet) + [.read] + times(10, .quiet), isOpen: false, .late),
        History("for ten seconds", times(9, .quiet) + [.read] + times(11, .quiet), isOpen: true, .lapsed),
        History("without any broker the time does not count", times(3600, .doubtful), isOpen: false),
        History("with brokers now and then it counts then", times(30, .doubtful) + times(10, .quiet), isOpen: false),
        History("and opens then", times(11, .quiet).flatMap { [.doubtful, $0] }, isOpen: true, .lapsed),
        History("a process that stood still has not read", [.still, .still], isOpen: false),
        History("one that does so again and again goes on", times(6, .still), isOpen: true, .lapsed),
    ]

    @Test(arguments: histories) private func requestsWaitWhileReadingGetsOnAndNotForEver(_ history: History) {
        var now = MonotonicTime(nanoseconds: 5 * Self.second)
        var gate = ControlGate()
        gate.noteStart(hasReachedEnd: false, now: now)
        for second in history.seconds {
            switch second {
            case .read: gate.progressed()
            case .end: gate.reachedEnd()
            case .quiet, .doubtful, .still: break
            }
            now += second == .still ? 60 * Self.second : Self.second
            gate.advance(now: now, isBrokerDoubtful: second == .doubtful)
        }
        #expect(gate.allowsRequests == history.isOpen)
        #expect(gate.failure == history.trouble)
    }

    @Test func withNothingToReadRequestsBeginAtOnce() {
        #expect(ControlGate().allowsRequests)
        var gate = ControlGate()
        gate.noteStart(hasReachedEnd: true, now: .past)
        #expect(gate.allowsRequests)
    }

    /// What lapsed in one assignment is waited for in the next.
    @Test func eachAssignmentBeginsAnew() {
        var gate = ControlGate()
        var now = MonotonicTime(nanoseconds: 0)
        for _ in 0..<2 {
            gate.noteStart(hasReachedEnd: false, now: now)
            #expect(!gate.allowsRequests && gate.failure == nil)
            for _ in 0..<20 {
                now += Self.second
                gate.advance(now: now, isBrokerDoubtful: false)
            }
            #expect(gate.allowsRequests && gate.failure == .lapsed)
        }
    }
}
