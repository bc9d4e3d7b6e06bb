import Foundation
import Publishing
import TestSupport
import Testing

/// UUIDs of version 7 (RFC 9562, sections 5.7 and 6.2).
@Suite struct RequestIdentifierTests {
    @Test func anIdentifierHasTheTimeTheVersionAndTheVariant() throws {
        var identifiers = RequestIdentifier()
        var random = SeededRandom(1)
        for milliseconds in [0, 1, 1_795_262_400_000, 0xFFFF_FFFF_FFFF] as [Int64] {
            let id = identifiers.next(now: milliseconds, using: &random)
            #expect(id.wholeMatch(of: #/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#) != nil, "\(id)")
            #expect(UUID(uuidString: id) != nil)
            #expect(Int64(id.filter { $0 != "-" }.prefix(12), radix: 16) == milliseconds)
        }
    }

    @Test func whatIsMadeLaterIsGreaterWhateverTheClockDoes() {
        var identifiers = RequestIdentifier()
        var random = SeededRandom(2)
        var moments = [1_795_262_400_000, 1_795_262_400_000, 1_795_262_399_000, 1_795_262_400_001, -5, .min] as [Int64]
        moments += [Int64](repeating: 1_795_262_400_002, count: 10_000)
        let made = moments.map { identifiers.next(now: $0, using: &random) }
        #expect(made == made.sorted())
        #expect(Set(made).count == made.count)
    }

    @Test func identifiersStillRiseWhenTheRandomBitsAreFull() {
        struct Ones: RandomNumberGenerator { mutating func next() -> UInt64 { .max } }
        var identifiers = RequestIdentifier()
        var ones = Ones()
        let first = identifiers.next(now: 1, using: &ones)
        let second = identifiers.next(now: 1, using: &ones)
        #expect(first == "00000000-0001-77ff-bfff-ffffffffffff")
        #expect(second == "00000000-0001-7800-8000-000000000000")
    }

    @Test func makersDoNotAgree() {
        var generator = SystemRandomNumberGenerator()
        let made = (0..<1000).map { _ in
            var identifiers = RequestIdentifier()
            return identifiers.next(now: 1_795_262_400_000, using: &generator)
        }
        #expect(Set(made).count == 1000)
    }
}
