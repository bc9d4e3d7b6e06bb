import Observability
import Testing

@testable import PushModel
@testable import WorkerRuntime

@Suite struct RequestLogTests {
    private static let place = RecordOrigin(
        topic: "push.requests.v1", partition: 3, offset: 17, timestamp: Timestamp(milliseconds: 0))

    /// The lines about requests that ended so.
    private static func lines(_ logged: LoggedRequests, level: LogLevel = .info, _ ends: [Conclusion]) -> [String] {
        let lines = LogLines()
        let log = RequestLog(log: Log(format: .json, level: level, now: { 0 }, sink: lines.sink), logged: logged)
        for end in ends { log.note(end, of: "r1", attempts: 2, at: place) }
        return lines.all
    }

    private static func end(_ state: ResultState) -> Conclusion {
        state == .sent
            ? Conclusion(state: state, outcome: .success)
            : Conclusion(state: state, outcome: .transient, code: .hubTimeout)
    }

    @Test(
        arguments: [
            (.partial, true), (.failed, true), (.expired, true), (.rejected, true), (.unknown, true), (.sent, false),
            (.cancelled, false), (.duplicate, false),
        ] as [(ResultState, Bool)])
    func onlyFailuresHaveALineByDefault(_ state: ResultState, _ isFailure: Bool) {
        let end = Self.end(state)
        #expect(Self.lines(.off, [end]).isEmpty)
        #expect(Self.lines(.failures, [end]).count == (isFailure ? 1 : 0))
        #expect(Self.lines(.all, [end]).count == 1)
        #expect(Self.lines(.all, level: .warning, [end]).isEmpty)
    }

    @Test func aFailureIsAWarningThatSaysWhichRequestAndWhy() {
        let line = Self.lines(.failures, level: .warning, [Self.end(.failed)]).joined()
        let told = [
            #""level":"warning""#, #""event":"request_finished""#, #""request_id":"r1""#, #""outcome":"transient""#,
            #""code":"hub_timeout""#, #""attempt":2"#, #""partition":3"#, #""offset":17"#,
        ]
        #expect(told.allSatisfy(line.contains), "\(line)")
    }

    @Test func aStormOfFailuresIsNoStormOfLines() {
        let storm = Array(repeating: Self.end(.failed), count: 5000)
        #expect(Self.lines(.failures, storm).count == 20)
        #expect(Self.lines(.all, storm).count == 5000)
    }

    @Test(arguments: [(LoggedRequests.off, 0), (.failures, 0), (.all, 1)])
    func aLargeRequestHasALineWhereAllHave(_ logged: LoggedRequests, _ count: Int) {
        let lines = LogLines()
        let log = RequestLog(log: Log(format: .json, now: { 0 }, sink: lines.sink), logged: logged)
        log.noteParts(12, of: "r1")
        #expect(lines.all.count == count)
    }
}
