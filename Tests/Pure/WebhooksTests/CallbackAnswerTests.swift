import Testing
import Webhooks

/// What an answer to a callback means.
struct CallbackAnswerTests {
    @Test(
        arguments: [
            (200, nil, .taken), (201, 5000, .taken), (204, nil, .taken), (299, nil, .taken), (410, nil, .disabled),
            (410, 1000, .disabled),
            (429, 1000, .wait(milliseconds: 1000)), (503, 3_600_000, .wait(milliseconds: 3_600_000)),
            (503, 3_600_001, .wait(milliseconds: 3_600_000)), (429, .max, .wait(milliseconds: 3_600_000)), (429, nil, .again),
            (503, 0, .again), (429, -1, .again), (429, .min, .again), (500, 1000, .again), (502, nil, .again),
            (504, nil, .again),
            (100, nil, .again), (199, nil, .again), (300, nil, .again), (301, nil, .again), (302, nil, .again),
            (307, nil, .again),
            (400, nil, .again), (401, nil, .again), (404, nil, .again), (409, nil, .again), (0, nil, .again), (-1, nil, .again),
            (.max, nil, .again),
        ] as [(Int, Int64?, CallbackVerdict)])
    func aStatusMeans(status: Int, wait: Int64?, verdict: CallbackVerdict) {
        #expect(CallbackAnswer.status(status, retryAfter: wait).verdict == verdict)
    }

    @Test(arguments: [true, false]) func aCallWithoutAnAnswerIsMadeAgain(_ mayHaveArrived: Bool) {
        #expect(CallbackAnswer.failed(reason: "timeout", mayHaveArrived: mayHaveArrived).verdict == .again)
    }
}
