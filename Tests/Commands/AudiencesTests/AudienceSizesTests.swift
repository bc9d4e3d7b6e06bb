import Delivery
import Testing

@testable import Audiences
@testable import JobSupport

/// What brokers and the client take of a file's records.
struct AudienceSizesTests {
    typealias Limits = AudienceSizes.Limits

    /// The longest part, the longest record of the whole, and the topic and limit that do not take it, or nil where all do.
    @Test(
        arguments: [
            (700_000, 400_000, Limits(), nil), (700_000, 400_000, Limits(own: 1_048_588, parents: 1_048_588), nil),
            (9_488, 0, Limits(own: 10_000, parents: nil), nil),
            (9_489, 0, Limits(own: 10_000, parents: nil), ("own", 10_000, false)),
            (9_489, 0, Limits(own: nil, parents: 10_000), nil),
            (0, 9_489, Limits(own: nil, parents: 10_000), ("parents", 10_000, false)),
            (9_489, 0, Limits(client: 10_000), ("own", 10_000, true)),
            (.max - 600, 0, Limits(own: 10_000), ("own", 10_000, false)),
        ] as [(Int, Int, Limits, (String, Int, Bool)?)])
    func longRecordsAreRefusedWithTheirTopic(part: Int, whole: Int, limits: Limits, expected: (String, Int, Bool)?) {
        var topics = Topics()
        topics.requestsOwn = "own"
        topics.parents = "parents"
        var refusal: AudienceFailure?
        do throws(JobFailure) {
            try AudienceSizes(part: part, whole: whole).check(limits: limits, topics: topics)
        } catch {
            if case .room(let failure as AudienceFailure) = error { refusal = failure }
        }
        let byteCount = (expected?.0 == "parents" ? whole : part) + AudienceSizes.overhead
        let failure = expected.map {
            AudienceFailure.longRecord(topic: $0.0, byteCount: byteCount, limit: $0.1, isClients: $0.2)
        }
        #expect(refusal == failure)
    }

    @Test(
        arguments: [
            (Limits(), nil), (Limits(own: 1_048_588, parents: 2_000_000), nil), (Limits(own: 1_048_588, parents: 6_000), 6_000),
            (Limits(own: 7_000, parents: nil), 7_000), (Limits(own: 0), 1),
        ] as [(Limits, Int?)])
    func batchesAreNoLongerThanTheTopicThatTakesLeast(limits: Limits, byteCount: Int?) {
        #expect(limits.batch == byteCount)
    }
}
