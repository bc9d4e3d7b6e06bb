@testable import OperatorAPI
import DoorStage
import Basics
import Delivery
import Dispatch
import GatewayAPI
import Kafka
import Keys
import Observability
import PushModel
import TestSupport
import Testing

@testable import Groups
@testable import JobSupport

/// The fleet's events, and the backlog that is counted beside them.
@Suite(.tags(.threads)) struct FleetWatchTests {
    @Test func eventsOfTheFleetGoOnWhileTheBacklogIsExamined() {
        let (wall, isOver) = (Box<Int64>(1_764_000_000_000), Latch())
        let (entered, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let context = JobContext(
            kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topics: Topics(), timeout: farDeadline,
            now: { wall.withLock { $0 } }, isCancelled: { isOver.isSet })
        let (streams, sink) = (EventStreams(limit: 1), ManualSink())
        let backlog = BacklogWatch(context, streams: streams) { _ throws(JobFailure) in
            entered.signal()
            end.wait()
            return nil
        }
        let watch = FleetWatch(context, backlog: backlog, streams: streams, log: .silent) { _ in }
        let call = call(.followStatus, scopes: [.read])
        streams.begin(
            EventStreams.fleet,
            for: OperatorCall(
                operation: call.operation, id: call.id, request: call.request, publisher: call.publisher, answer: call.answer,
                stream: { _, _ in sink }
            ))
        watch.startBacklog()
        let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
        #expect(entered.wait(timeout: limit) == .success)
        var turn = FleetWatch.Turn()
        for _ in 0..<3 {
            turn.next(watch)
            wall.withLock { $0 += 1000 }
        }
        #expect(sink.text.split(separator: "event: fleet").count == 4 && !sink.text.contains("event: backlog"))
        isOver.set()
        end.signal()
        backlog.waitForEnd(until: limit)
        #expect(
            sink.text.hasSuffix(
                "event: backlog\nid: 1764000003000\ndata: {\"at\":\"2025-11-24T16:00:03.000Z\",\"unknown\":true}\n\n"))
    }

    @Test func aFleetWhoseBrokersDoNotAnswerSaysSo() {
        let (wall, isOver) = (Box<Int64>(1_764_000_000_000), Latch())
        let context = JobContext(
            kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topics: Topics(), timeout: farDeadline,
            now: { wall.withLock { $0 } }, isCancelled: { isOver.isSet })
        let (streams, sink) = (EventStreams(limit: 1), ManualSink())
        let backlog = BacklogWatch(context, streams: streams) { _ throws(JobFailure) in
            throw .kafka(.overlongTransaction, .readPositions)
        }
        let watch = FleetWatch(context, backlog: backlog, streams: streams, log: .silent) { _ in }
        let call = call(.followStatus, scopes: [.read])
        streams.begin(
            EventStreams.fleet,
            for: OperatorCall(
                operation: call.operation, id: call.id, request: call.request, publisher: call.publisher, answer: call.answer,
                stream: { _, _ in sink }
            ))
        #expect(throws: JobFailure.self) { try watch.report() }
        var turn = FleetWatch.Turn()
        turn.next(watch)
        #expect(
            sink.text.contains(
                #""kafka":{"reachable":false,"since":"2025-11-24T16:00:00.000Z","problem":"brokers do not answer"}"#))
    }

    @Test func theBacklogIsCountedForThoseWhoFollowAndBeforeAMinuteEnds() {
        let start: Int64 = 1_764_000_000_000
        var schedule = BacklogSchedule(wall: start)
        func isDue(_ isFollowed: Bool, at milliseconds: Int64) -> Bool {
            schedule.isDue(
                isFollowed: isFollowed, now: MonotonicTime(nanoseconds: milliseconds * 1_000_000), wall: start + milliseconds)
        }
        #expect(!isDue(false, at: 0) && isDue(true, at: 0))
        schedule.noteEnd(at: MonotonicTime(nanoseconds: 20_000_000_000))
        #expect(!isDue(true, at: 24_499) && isDue(true, at: 24_500), "an interval begins at the end of a count")
        schedule.noteEnd(at: MonotonicTime(nanoseconds: 25_000_000_000))
        #expect(!isDue(false, at: 26_000) && isDue(true, at: 26_001), "a new stream waits for no interval")
        #expect(!isDue(false, at: 54_999) && isDue(false, at: 55_000))
        schedule.noteEnd(at: MonotonicTime(nanoseconds: 55_000_000_000))
        #expect(!isDue(false, at: 55_001) && !isDue(false, at: 114_999) && isDue(false, at: 115_000))
    }
}

/// The calls of hubs of late.
@Suite struct HubTallyTests {
    /// A worker whose loops have hubs with these counters.
    private static func member(_ loops: [String: [String: Int]], of id: String = "w") throws -> Fleet.Member {
        let list = loops.map { loop, hubs in
            let hubs = hubs.map { #"{"hub":"\#($0.key)","calls":\#($0.value)}"# }.joined(separator: ",")
            return #"{"worker":"\#(loop)","hubs":[\#(hubs)]}"#
        }
        let page = try #require(WorkerPage(Array(#"{"loops":[\#(list.joined(separator: ","))]}"#.utf8)))
        return Fleet.Member(id: id, page: page, raw: [], age: 0)
    }

    @Test func aRateIsWhatTheCountersOfALoopHaveGrownBy() throws {
        var tally = HubTally()
        #expect(tally.callsPerSecond == [:])
        tally.take([try Self.member(["l": ["a": 5_000_000], "m": ["a": 100]])], milliseconds: 0)
        tally.take([try Self.member(["l": ["a": 5_000_020], "m": ["a": 103, "b": 7]])], milliseconds: 2000)
        #expect(tally.callsPerSecond == ["a": 11.5], "b only begins to count")
        // The worker has begun again, with 4.
        tally.take([try Self.member(["l": ["a": 4], "m": ["a": 103, "b": 7]])], milliseconds: 1000)
        #expect(tally.callsPerSecond == ["a": 9, "b": 0])
    }

    @Test func aHubThatHadNoRoomInAReportMakesNoJump() throws {
        var tally = HubTally()
        for hubs in [["a": 9_000_000], [:], ["a": 9_000_050], ["a": 9_000_051]] {
            tally.take([try Self.member(["l": hubs]), try Self.member(["l": ["a": 3]], of: "x")], milliseconds: 500)
        }
        #expect(tally.callsPerSecond == ["a": 0.5])
    }

    @Test func ratesAreThoseOfTheLastTenSeconds() throws {
        var (tally, calls) = (HubTally(), 0)
        for second in 0..<40 {
            calls += second < 30 ? 100 : 3
            tally.take([try Self.member(["l": ["a": calls]])], milliseconds: 1000)
        }
        #expect(tally.callsPerSecond == ["a": 3])
    }

    @Test(arguments: [Int.max, Int.min, -1, 0]) func numbersOfAStrangerDoNoHarm(number: Int) throws {
        var tally = HubTally()
        for calls in [0, number, number, 1, number] {
            let members = try ["x", "y"].map { try Self.member(["l": ["a": calls], "m": ["a": calls]], of: $0) }
            tally.take(members, milliseconds: number)
        }
        #expect(tally.callsPerSecond.values.allSatisfy { $0 >= 0 })
        for calls in 0..<30 { tally.take([try Self.member(["l": ["a": 5 * calls]], of: "x")], milliseconds: 1000) }
        #expect(tally.callsPerSecond == ["a": 5], "reports that are honest again count as ever")
    }
}
