import Testing

@testable import Results

/// The moment from which on a search reads the lanes, because its index is behind.
@Suite struct IndexSeamTests {
    private static let now: Int64 = 1_795_262_400_000

    /// The moment up to which the index has everything, the end of what is asked for, and the beginning of what the lanes are read for,
    /// as distances to now in milliseconds. Clocks of publishers may differ by a minute.
    @Test(
        arguments: [
            (0, nil, nil), (-2000, nil, nil), (-2001, nil, -62_001), (-600_000, nil, -660_000),
            // What is asked for is all in it.
            (-600_000, -660_000, nil), (-600_000, -660_001, nil), (-600_000, -659_999, -660_000),
        ] as [(Int64, Int64?, Int64?)])
    func theLanesTellWhatAnIndexThatIsBehindMayLack(upTo: Int64, until: Int64?, seam: Int64?) {
        let found = PublishedSearch.seam(upTo: Self.now + upTo, now: Self.now, until: until.map { Self.now + $0 } ?? .max)
        #expect(found == seam.map { Self.now + $0 })
    }

    @Test func anIndexThatWasNeverCurrentLacksEverything() {
        #expect(PublishedSearch.seam(upTo: .min, now: Self.now, until: .max) == 0)
    }
}
