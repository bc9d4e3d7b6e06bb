import PushModel
import Testing

@Suite struct SaturationTests {
    @Test(
        arguments: [
            (0, 0, 0), (1, -2, -1), (.max, 0, .max), (.max, 1, .max), (.max, .max, .max), (.max, .min, -1), (.min, 0, .min),
            (.min, -1, .min), (.min, .min, .min),
        ] as [(Int64, Int64, Int64)])
    func aSumStopsAtTheEndThatItPassed(one: Int64, other: Int64, sum: Int64) {
        #expect(one.addingSaturated(other) == sum)
        #expect(other.addingSaturated(one) == sum)
    }

    @Test func aSumWithoutSignStopsAtItsEnd() {
        #expect(UInt8(200).addingSaturated(55) == 255)
        #expect(UInt8(200).addingSaturated(56) == 255)
    }
}
