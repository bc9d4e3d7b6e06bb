import TestSupport
import Testing

@testable import CallbackRecords

@Suite struct ReceiverStateTests {
    private static let now: Int64 = 1_795_262_400_123

    @Test(arguments: [
        ReceiverState(paused: false, at: now), ReceiverState(paused: true, reason: "moves \"house\"", by: "ann", at: now),
        ReceiverState(paused: false, disabledAt: now - 5, reason: "410", at: now),
        ReceiverState(paused: true, disabledAt: 0, reason: "\u{0}\n", by: "", at: 0),
    ])
    func aStateSurvivesItsRecord(state: ReceiverState) {
        #expect(ReceiverState(json: state.json(of: "shop").span) == state)
    }

    @Test func whoIsPausedOrDisabledDoesNotRun() {
        #expect(ReceiverState(paused: false, at: 0).isRunning)
        #expect(!ReceiverState(paused: true, at: 0).isRunning)
        #expect(!ReceiverState(paused: false, disabledAt: 0, at: 0).isRunning)
    }

    @Test func longTextsAreCut() {
        let text = String(repeating: "\u{1}", count: 10_000)
        let state = ReceiverState(paused: true, reason: text, by: text, at: Self.now)
        #expect(state.reason?.count == ReceiverState.maximumTextLength)
        #expect(state.by?.count == ReceiverState.maximumTextLength)
        #expect(state.json(of: "shop").count < 8192)
    }

    @Test(arguments: ["", "null", "[]", "{", "7", #"{"paused":true}"#, #"{"at":7}"#, #"{"at":"yesterday"}"#, "\u{0}"])
    func whatIsNoStateIsNone(json: String) { #expect(ReceiverState(json: Array(json.utf8).span) == nil) }

    @Test func aMemberOfAnotherKindCountsAsMissing() {
        let json = #"{"at":"2026-11-21T12:00:00Z","paused":"yes","disabled_at":7,"reason":[],"by":{},"more":1}"#
        let state = ReceiverState(json: Array(json.utf8).span)
        #expect(state?.isRunning == true && state?.reason == nil && state?.by == nil)
    }
}
