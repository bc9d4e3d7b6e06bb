import Delivery
import TestSupport
import Testing

@testable import KafkaCare

@Suite struct StartPlaceTests {
    private static let now: Int64 = 1_795_262_400_000

    @Test(
        arguments: [
            ("beginning", .rule(.beginning)), ("end", .rule(.end)), ("finished", .finished),
            ("now-15m", .rule(.moment(1_795_261_500_000))),
            ("15m", .rule(.moment(1_795_261_500_000))), ("now", .rule(.moment(1_795_262_400_000))),
            ("2026-11-21T11:00Z", .rule(.moment(1_795_258_800_000))), ("2026-11-21", .rule(.moment(1_795_219_200_000))),
            ("now-2026-11-21", nil), ("now-", nil), ("", nil), ("safe", nil), ("5", nil), ("-15m", nil),
        ] as [(String, StartPlace?)])
    func aPlaceIsAWordOrATime(text: String, place: StartPlace?) {
        #expect(StartPlace(text, now: Self.now) == place)
    }
}
