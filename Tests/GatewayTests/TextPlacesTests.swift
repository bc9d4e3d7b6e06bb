import Basics
import Testing

@testable import Gateway

/// What is known of where texts can be.
struct TextPlacesTests {
    private func id(_ partition: Int32, _ offset: Int64) -> SecureID {
        SecureID(secret: [UInt8](repeating: 1, count: SecureID.secretByteCount), partition: partition, offset: offset)
    }

    private func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: time) }

    /// Two partitions, of which the second has offsets 10 to 19; asked at 100.
    private func known() -> TextPlaces {
        var places = TextPlaces()
        for (bound, value) in [(.partitionCount, 2), (.end(1), 20), (.start(1), 10)] as [(TextPlaces.Bound, Int64)] {
            places.note(value, for: bound, askedAt: at(100))
        }
        return places
    }

    @Test func aPartitionIsAskedAboutOnlyIfItIsThere() {
        var places = TextPlaces()
        #expect(places.verdict(on: id(2, 0), shown: at(1)) == .unknown(.partitionCount))
        places.note(2, for: .partitionCount, askedAt: at(1))
        #expect(places.verdict(on: id(2, 0), shown: at(1)) == .impossible)
        #expect(places.verdict(on: id(1, 0), shown: at(1)) == .unknown(.end(1)))
        places.note(20, for: .end(1), askedAt: at(2))
        #expect(places.verdict(on: id(1, 20), shown: at(1)) == .impossible, "where it begins is not asked")
        #expect(places.verdict(on: id(1, 19), shown: at(1)) == .unknown(.start(1)))
    }

    @Test(
        arguments: [(10, .present), (19, .present), (9, .impossible), (20, .impossible), (.max, .impossible)]
            as [(Int64, TextPlaces.Verdict)])
    func anAnswerDecidesAboutIDsThatWereShownBefore(offset: Int64, verdict: TextPlaces.Verdict) {
        #expect(known().verdict(on: id(1, offset), shown: at(100)) == verdict)
    }

    @Test(
        arguments: [
            (2, 0, .unknown(.partitionCount)), (1, 20, .unknown(.end(1))), (1, 9, .unknown(.start(1))), (1, 15, .present),
        ] as [(Int32, Int64, TextPlaces.Verdict)])
    func thatAPlaceIsNotThereIsAskedAgainForALaterID(partition: Int32, offset: Int64, verdict: TextPlaces.Verdict) {
        #expect(known().verdict(on: id(partition, offset), shown: at(101)) == verdict)
    }

    @Test func anEarlierAnswerDoesNotReplaceALaterOne() {
        var places = known()
        places.note(12, for: .end(1), askedAt: at(99))
        #expect(places.verdict(on: id(1, 15), shown: at(100)) == .present)
        places.note(30, for: .end(1), askedAt: at(101))
        #expect(places.verdict(on: id(1, 29), shown: at(101)) == .present)
    }

    @Test func afterAnErrorAllIsAskedAgain() {
        var places = known()
        places.forget(1)
        #expect(places.verdict(on: id(1, 15), shown: at(0)) == .unknown(.partitionCount))
        places.note(2, for: .partitionCount, askedAt: at(102))
        #expect(places.verdict(on: id(1, 15), shown: at(0)) == .unknown(.end(1)))
    }
}
