import PushModel
import Testing

@testable import CallbackRuntime

/// The standing of receivers, as probes show it.
@Suite struct ReceiverStatusTests {
    private static func status(_ change: (inout ReceiverStatus) -> Void = { _ in }) -> ReceiverStatus {
        var status = ReceiverStatus(
            name: "orders", host: "example.com", state: "running", partitions: 2, inFlight: 3, waiting: 4,
            oldestMilliseconds: 5_999,
            behind: nil, lastFailure: nil, calls: [])
        change(&status)
        return status
    }

    @Test func whatIsNotKnownIsLeftOut() {
        #expect(
            String(decoding: Self.status().json, as: UTF8.self)
                == #"{"name":"orders","host":"example.com","state":"running","partitions":2,"in_flight":3,"waiting":4,"#
                + #""oldest_waiting_seconds":5,"calls":{}}"#)
    }

    @Test func theLastFailureHasItsMoment() {
        let status = Self.status {
            $0.behind = 7
            $0.lastFailure = ("status 503", 1_700_000_000_120)
            $0.calls = [("5xx", 1), ("2xx", 9), ("410", 0)]
        }
        #expect(
            String(decoding: status.json, as: UTF8.self).hasSuffix(
                #""behind":7,"last_failure":"status 503","last_failure_at":"2023-11-14T22:13:20.120Z","calls":{"2xx":9,"5xx":1}}"#
            ))
    }

    @Test func theBoardIsOneLineOfJSON() {
        let board = CallbackBoard(version: "1.2.3", instance: "a\n")
        #expect(String(decoding: board.json, as: UTF8.self) == #"{"version":"1.2.3","instance":"a\n","receivers":[]}"# + "\n")
        board.post([Self.status(), Self.status { $0.name = "others" }])
        #expect(board.json.count { $0 == 0x0A } == 1)
        #expect(String(decoding: board.json, as: UTF8.self).contains(#"{"name":"others""#))
    }
}
