import PushModel
import Testing

@testable import Replay

/// A place with what tells its record from another one that stands there later.
@Suite struct OriginalTests {
    private static let noon = Timestamp(milliseconds: 1_795_262_400_000)

    @Test(
        arguments: [
            ("t:0:7", Original(at: RecordPlace(topic: "t", partition: 0, offset: 7))),
            ("t:0:7@2026-11-21T12:00:00.000Z", Original(at: RecordPlace(topic: "t", partition: 0, offset: 7), publishedAt: noon)),
            ("t:0:7@", nil), ("t:0:7@noon", nil), ("t:0@2026-11-21T12:00:00.000Z", nil), ("", nil),
        ] as [(String, Original?)])
    func aPlaceIsReadWithItsTimeOrWithout(text: String, original: Original?) {
        #expect(Original(text) == original)
        if let original { #expect(original.description == text) }
    }

    @Test func aResultAndALineageNameTheSameRequest() throws {
        let published = Original(at: place, id: "r-1", publishedAt: Self.noon)
        #expect(try settled(result(["transient"], published: Self.noon.text)).original == published)
        let block = try document(lineage(published, sends: [0]))
        #expect(Original(parentOf: block.root, in: block) == published)
    }

    @Test func whatIsNotNamedTellsNothingApart() {
        let bare = Original(at: place)
        for id in [nil, "a"] {
            for time in [nil, Self.noon] {
                let other = Original(at: place, id: id, publishedAt: time)
                #expect(bare.mayBe(other) && other.mayBe(bare) && other.mayBe(other))
            }
        }
        #expect(!bare.mayBe(Original(at: RecordPlace(topic: "t", partition: 3, offset: 17))))
        #expect(!Original(at: place, id: "a").mayBe(Original(at: place, id: "b", publishedAt: Self.noon)))
    }
}
