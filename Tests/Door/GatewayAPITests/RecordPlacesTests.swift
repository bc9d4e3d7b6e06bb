@testable import GatewayAPI
import Basics
import Kafka
import Testing

/// What is known of where records can be.
struct RecordPlacesTests {
    private static let one = TopicPartition(topic: "t", partition: 1)

    private func place(_ partition: Int32, _ offset: Int64) -> StoredPlace {
        StoredPlace(topic: "t", partition: partition, offset: offset)
    }

    private func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: time) }

    /// Two partitions, of which the second has offsets 10 to 19; asked at 100.
    private func known() -> RecordPlaces {
        var places = RecordPlaces()
        for (bound, value) in [(.partitionCount(topic: "t"), 2), (.end(Self.one), 20), (.start(Self.one), 10)]
            as [(RecordPlaces.Bound, Int64)]
        {
            places.note(value, for: bound, askedAt: at(100))
        }
        return places
    }

    @Test func aPartitionIsAskedAboutOnlyIfItIsThere() {
        var places = RecordPlaces()
        #expect(places.verdict(on: place(2, 0), shown: at(1)) == .unknown(.partitionCount(topic: "t")))
        places.note(2, for: .partitionCount(topic: "t"), askedAt: at(1))
        #expect(places.verdict(on: place(2, 0), shown: at(1)) == .impossible)
        #expect(places.verdict(on: place(1, 0), shown: at(1)) == .unknown(.end(Self.one)))
        places.note(20, for: .end(Self.one), askedAt: at(2))
        #expect(places.verdict(on: place(1, 20), shown: at(1)) == .impossible, "where it begins is not asked")
        #expect(places.verdict(on: place(1, 19), shown: at(1)) == .unknown(.start(Self.one)))
    }

    @Test(
        arguments: [(10, .present), (19, .present), (9, .impossible), (20, .impossible), (.max, .impossible)]
            as [(Int64, RecordPlaces.Verdict)])
    func anAnswerDecidesAboutPlacesThatWereShownBefore(offset: Int64, verdict: RecordPlaces.Verdict) {
        #expect(known().verdict(on: place(1, offset), shown: at(100)) == verdict)
    }

    @Test(
        arguments: [
            (2, 0, .unknown(.partitionCount(topic: "t"))), (1, 20, .unknown(.end(Self.one))), (1, 9, .unknown(.start(Self.one))),
            (1, 15, .present),
        ] as [(Int32, Int64, RecordPlaces.Verdict)])
    func thatAPlaceIsNotThereIsAskedAgainForALaterOne(partition: Int32, offset: Int64, verdict: RecordPlaces.Verdict) {
        #expect(known().verdict(on: place(partition, offset), shown: at(101)) == verdict)
    }

    @Test func anEarlierAnswerDoesNotReplaceALaterOne() {
        var places = known()
        places.note(12, for: .end(Self.one), askedAt: at(99))
        #expect(places.verdict(on: place(1, 15), shown: at(100)) == .present)
        places.note(30, for: .end(Self.one), askedAt: at(101))
        #expect(places.verdict(on: place(1, 29), shown: at(101)) == .present)
    }

    @Test func whatIsKnownOfOneTopicSaysNothingOfAnother() {
        let other = StoredPlace(topic: "u", partition: 1, offset: 15)
        #expect(known().verdict(on: other, shown: at(0)) == .unknown(.partitionCount(topic: "u")))
    }

    @Test func afterAnErrorAllIsAskedAgain() {
        var places = known()
        places.forget(Self.one)
        #expect(places.verdict(on: place(1, 15), shown: at(0)) == .unknown(.partitionCount(topic: "t")))
        places.note(2, for: .partitionCount(topic: "t"), askedAt: at(102))
        #expect(places.verdict(on: place(1, 15), shown: at(0)) == .unknown(.end(Self.one)))
    }
}
