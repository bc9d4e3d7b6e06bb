import Basics
import Delivery
import Testing

/// How long requests wait for the control topic.
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
        /// The topic may not be read.
        case refused
        /// The topic is missing.
        case missing
    }

    private struct History: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether an end was reached in an earlier assignment.
        let wasRead: Bool
        let seconds: [Second]
        let isOpen: Bool
        let trouble: ControlGate.Failure?

        init(
            _ name: String, wasRead: Bool = false, _ seconds: [Second], isOpen: Bool, _ trouble: ControlGate.Failure? = nil
        ) {
            testDescription = name
            self.wasRead = wasRead
            self.seconds = seconds
            self.isOpen = isOpen
            self.trouble = trouble
        }
    }

    private static func times(_ count: Int, _ second: Second) -> [Second] { Array(repeating: second, count: count) }

    private static let histories = [
        History("at first requests wait", [], isOpen: false),
        History("ten seconds without a record are waited for", times(10, .quiet), isOpen: false),
        History("more are said", times(11, .quiet), isOpen: false, .stuck),
        History("and nothing begins, however long it takes", times(86_400, .quiet), isOpen: false, .stuck),
        History("a record makes it late, and opens nothing", times(20, .quiet) + [.read], isOpen: false, .late),
        History("the end opens", [.quiet, .read, .end], isOpen: true),
        History("so does the end after long, and nothing is wrong", times(20, .quiet) + [.end], isOpen: true),
        History("a long topic is read to its end", times(3600, .read), isOpen: false, .late),
        History("without any broker the time does not count", times(3600, .doubtful), isOpen: false),
        History("what may not be read is waited for", [.refused], isOpen: false),
        History("for as long as it takes", [.refused] + times(3600, .quiet), isOpen: false, .stuck),
        History("what is not there is not", [.missing] + times(20, .quiet), isOpen: true),
        History("read before: at first requests wait", wasRead: true, [], isOpen: false),
        History("read before: ten seconds are waited for", wasRead: true, times(10, .quiet), isOpen: false),
        History("read before: no longer", wasRead: true, times(11, .quiet), isOpen: true, .lapsed),
        History("read before: nor ever again", wasRead: true, times(3600, .quiet), isOpen: true, .lapsed),
        History("read before: the end after that opens", wasRead: true, times(20, .quiet) + [.end], isOpen: true),
        History(
            "read before: records after that do not close", wasRead: true, times(20, .quiet) + times(20, .read), isOpen: true,
            .lapsed),
        History("read before: a long topic is read to its end", wasRead: true, times(3600, .read), isOpen: false, .late),
        History(
            "read before: each record is a new beginning", wasRead: true, times(9, .quiet) + [.read] + times(10, .quiet),
            isOpen: false, .late),
        History(
            "read before: for ten seconds", wasRead: true, times(9, .quiet) + [.read] + times(11, .quiet), isOpen: true, .lapsed),
        History("read before: without any broker no time counts", wasRead: true, times(3600, .doubtful), isOpen: false),
        History(
            "read before: with brokers now and then it counts then", wasRead: true, times(30, .doubtful) + times(10, .quiet),
            isOpen: false),
        History(
            "read before: and opens then", wasRead: true, times(11, .quiet).flatMap { [.doubtful, $0] }, isOpen: true, .lapsed),
        History("read before: a process that stood still has not read", wasRead: true, [.still, .still], isOpen: false),
        History("read before: one that often does goes on", wasRead: true, times(6, .still), isOpen: true, .lapsed),
        History("read before: what may not be read holds nothing up", wasRead: true, [.refused], isOpen: true),
    ]

    @Test(arguments: histories) private func requestsWaitUntilAllWasReadOnce(_ history: History) {
        var now = MonotonicTime(nanoseconds: 5 * Self.second)
        var gate = ControlGate()
        if history.wasRead {
            gate.noteStart(hasReachedEnd: false, now: now)
            gate.reachedEnd()
        }
        gate.noteStart(hasReachedEnd: false, now: now)
        for second in history.seconds {
            switch second {
            case .read: gate.progressed()
            case .end: gate.reachedEnd()
            case .refused: gate.noteRefusal()
            case .missing: gate.stop()
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
        gate.reachedEnd()
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

    /// What had nothing to read, or was missing, was not read: it may hold an order when it cannot be read later.
    @Test func onlyAnEndThatWasReadCountsAsRead() {
        var gate = ControlGate()
        gate.noteStart(hasReachedEnd: true, now: .past)
        gate.stop()
        #expect(!gate.wasRead)
        gate.noteRefusal()
        #expect(!gate.allowsRequests)
        gate.reachedEnd()
        gate.noteStart(hasReachedEnd: false, now: .past)
        #expect(gate.wasRead && !gate.allowsRequests)
    }
}
