@testable import PublishAPI
import Foundation
import GatewayAPI
import Kafka
import Synchronization
import Testing

/// The time for which workers find a repeated request.
struct RetryReachTests {
    /// The table of page Publish, and its edges.
    static let table: [(rate: Double, offsets: Int, seconds: Double?, isShort: Bool)] = [
        (10, 4_000, 400, false), (66, 4_000, 4_000.0 / 66, false), (67, 4_000, 4_000.0 / 67, true), (100, 4_000, 40, true),
        (1_000, 4_000, 4, true), (10, 1_000_000, 100_000, false), (66, 1_000_000, 1_000_000.0 / 66, false),
        (100, 1_000_000, 10_000, false), (1_000, 1_000_000, 1_000, false), (0.1, 0, 0, true), (0, 0, nil, false),
    ]

    @Test(arguments: table.indices) func secondsAreReachByTheRateOfAPartition(index: Int) {
        let (rate, offsets, seconds, isShort) = Self.table[index]
        let reach = RetryReach(offsets: offsets)
        #expect(reach.seconds(atRate: rate) == seconds)
        #expect(reach.isShort(atRate: rate) == isShort)
    }

    /// Offsets five minutes ago and now, in one partition after the other.
    static let growths: [(offsets: [(start: Int64?, end: Int64)], busiest: Int32?, perSecond: Double)] = [
        ([], nil, 0), ([(nil, 9_000)], 0, 0), ([(0, 300)], 0, 1), ([(1_000, 1_600), (nil, 1 << 40), (0, 900)], 2, 3),
        ([(0, 30_000), (0, 30_000), (0, 60_000)], 2, 200), ([(5, 4)], 0, 0), ([(.max, -1_001)], 0, 0),
        ([(0, .max)], 0, Double(Int64.max) / 300),
    ]

    @Test(arguments: growths.indices) func theBusiestPartitionIsTheRate(index: Int) {
        let (offsets, busiest, perSecond) = Self.growths[index]
        let rate = Self.rate(offsets)
        #expect(rate.partition?.partition == busiest && rate.perSecond == perSecond)
    }

    @Test func theReachIsSaidAtTheFirstAnswer() {
        let stage = ReachStage([nil, nil, Self.rate([(0, 3_000)]), Self.rate([(0, 6_000)])])
        stage.advance(seconds: 9)
        #expect(stage.lines.isEmpty, "no broker answers")
        stage.advance(seconds: 1)
        #expect(stage.lines == ["info retry_reach: at 10 offsets in a second in t[0] a repetition is found for 400 s"])
        stage.advance(seconds: 600)
        #expect(stage.lines.count == 1, "it is long enough still")
    }

    @Test func anIdleTopicIsFoundWithoutAnEnd() {
        let stage = ReachStage([Self.rate([])])
        stage.advance(seconds: 0)
        #expect(
            stage.lines == ["info retry_reach: at 0 offsets in a second in no partition a repetition is found without an end"])
    }

    @Test func aReachThatIsTooShortIsWarnedOfAtTheStartAndWheneverItHasBecomeSo() {
        let (fast, slow) = (Self.rate([(nil, 5), (0, 30_000)]), Self.rate([(0, 300)]))
        let stage = ReachStage([fast, fast, nil, fast, slow, slow, fast])
        let warning = "warning configuration_doubtful: at 100 offsets in a second in t[1] a repetition is found for 40 s"
        stage.advance(seconds: 0)
        #expect(stage.lines == [warning])
        stage.advance(seconds: 304)
        #expect(stage.lines == [warning], "it was said, and is long enough since")
        stage.advance(seconds: 1)
        #expect(stage.lines == [warning, warning])
    }

    @Test func afterTheEndNothingIsAsked() {
        let stage = ReachStage([nil, Self.rate([])])
        stage.advance(seconds: 0)
        stage.monitor.stop()
        stage.advance(seconds: 600)
        #expect(stage.lines.isEmpty)
    }

    private static func rate(_ offsets: [(start: Int64?, end: Int64)]) -> TopicRate {
        TopicRate(
            offsets.enumerated().map { number, offsets in
                PartitionGrowth(TopicPartition(topic: "t", partition: Int32(number)), from: offsets.start, to: offsets.end)
            })
    }
}

/// A monitor that has started, with a clock that is moved by hand and answers that are given one after the other; nil for none.
private struct ReachStage {
    let monitor: RetryReachMonitor
    private let test = TestServices()
    private let script: Script

    /// The job that waits for its time, and the answers that are left. The last one stays.
    private final class Script: Sendable {
        private struct State {
            var now = Duration.zero
            var waiting: (due: Duration, job: @Sendable () -> Void)?
            var answers: [TopicRate?]
        }

        private let state: Mutex<State>

        init(_ answers: [TopicRate?]) { state = Mutex(State(answers: answers)) }

        func wait(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
            state.withLock { $0.waiting = ($0.now + delay, job) }
        }

        func answer() throws(KafkaError) -> TopicRate {
            let answer = state.withLock { $0.answers.count > 1 ? $0.answers.removeFirst() : $0.answers[0] }
            guard let answer else { throw .queueFull }
            return answer
        }

        /// Takes the job that is due until a time, and moves the clock to when it was due.
        func next(until end: Duration) -> (@Sendable () -> Void)? {
            state.withLock { state in
                guard let (due, job) = state.waiting, due <= end else { return nil }
                state.waiting = nil
                state.now = due
                return job
            }
        }

        var now: Duration { state.withLock { $0.now } }

        func move(to time: Duration) { state.withLock { $0.now = time } }
    }

    init(_ answers: [TopicRate?]) {
        script = Script(answers)
        monitor = RetryReachMonitor(RetryReach(offsets: 4_000), log: test.services.log, timer: script.wait, ask: script.answer)
        monitor.start()
    }

    func advance(seconds: Int) {
        let end = script.now + .seconds(seconds)
        while let job = script.next(until: end) { job() }
        script.move(to: end)
    }

    /// Level, event and reason of what was logged.
    var lines: [String] {
        test.log.text.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object.map { "\($0["level"] ?? "") \($0["event"] ?? ""): \($0["reason"] ?? "")" }
        }
    }
}
