import PushModel
import TestSupport
import Testing

@testable import CallbackRecords

/// Records that anybody may have written: they are read, or they are none, and no process ends.
@Suite struct HostileRecordTests {
    private static let moment = Timestamp(milliseconds: 1_795_262_400_123)

    /// Changes, drops and doubles some bytes of a record.
    private func damaged(_ record: [UInt8], by random: inout SeededRandom) -> [UInt8] {
        var record = record
        for _ in 0...random.below(4) where !record.isEmpty {
            let place = random.below(record.count)
            switch random.below(4) {
            case 0: record[place] = UInt8(random.below(256))
            case 1: record.removeSubrange(place..<min(record.count, place + 1 + random.below(8)))
            case 2: record.insert(contentsOf: record[place..<min(record.count, place + 9)], at: place)
            default: record[place] = Array("\"{}[],:9-".utf8)[random.below(9)]
            }
        }
        return record
    }

    @Test func aDamagedDeadLetterIsReadTheSameTwiceOrNotAtAll() {
        var random = SeededRandom(69)
        let record = SampleLetter.make().json(at: Self.moment)
        for _ in 0..<5000 {
            guard let letter = CallbackDeadLetter(json: damaged(record, by: &random).span) else { continue }
            #expect(CallbackDeadLetter(json: letter.json(at: Self.moment).span) == letter)
        }
    }

    @Test func aDamagedStateIsReadTheSameTwiceOrNotAtAll() {
        var random = SeededRandom(70)
        let state = ReceiverState(paused: true, disabledAt: 7, reason: "moves", by: "ann", at: Self.moment.milliseconds)
        let record = state.json(of: "shop")
        for _ in 0..<5000 {
            guard let state = ReceiverState(json: damaged(record, by: &random).span) else { continue }
            #expect(ReceiverState(json: state.json(of: "shop").span) == state)
        }
    }
}
