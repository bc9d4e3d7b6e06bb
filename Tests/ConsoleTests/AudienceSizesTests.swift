import Settings
import Testing

@testable import Console

/// What brokers and the client take of a file's records.
struct AudienceSizesTests {
    typealias Limits = AudienceSizes.Limits

    /// The longest part, the longest record of the whole, and what is named that does not take it; nothing where all do.
    @Test(
        arguments: [
            (700_000, 400_000, Limits(), ""), (700_000, 400_000, Limits(own: 1_048_588, parents: 1_048_588), ""),
            (9_488, 0, Limits(own: 10_000, parents: nil), ""), (9_489, 0, Limits(own: 10_000, parents: nil), "requests-own"),
            (9_489, 0, Limits(own: nil, parents: 10_000), ""), (0, 9_489, Limits(own: nil, parents: 10_000), "parents"),
            (9_489, 0, Limits(client: 10_000), "message.max.bytes is 10000"),
            (.max - 600, 0, Limits(own: 10_000), "requests-own"),
        ] as [(Int, Int, Limits, String)])
    func whatIsTooLongIsRefusedWithItsTopic(part: Int, whole: Int, limits: Limits, word: String) throws {
        let topics = try Settings.load(environment: [:]).kafka.topics
        var refusal: CommandFailure?
        do throws(CommandFailure) { try AudienceSizes(part: part, whole: whole).check(limits, topics) } catch { refusal = error }
        #expect((refusal == nil) == word.isEmpty)
        guard let refusal else { return }
        #expect(refusal.code == .refused && refusal.message.contains(word), "\(refusal)")
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
