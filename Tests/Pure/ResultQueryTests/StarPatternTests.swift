import TestSupport
import Testing

@testable import ResultQuery

@Suite struct StarPatternTests {
    private func run(_ pattern: String, _ text: String) -> (doesFit: Bool, steps: Int) {
        var comparison = StarPattern()
        let doesFit = comparison.matches(Array(text.utf8).span, pattern: Array(pattern.utf8).span)
        return (doesFit, comparison.steps)
    }

    @Test(
        arguments: [
            ("*", "", true), ("", "", true), ("", "a", false), ("a*", "a", true), ("*a", "ba", true), ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c--b", false), ("*ab*ab", "abab", true), ("*ab*ab", "ab", false), ("**", "x", true), ("a", "A", false),
            ("a*a", "a", false), ("a*a", "aa", true), ("a*ab", "ab", false), ("a**b", "ab", true), ("*a*", "b", false),
            ("*abcabcabd*", "abcabcabcabd-", true), ("*abcabcabd*", "abcabcabcabe-", false), ("ab*", "a", false),
            ("*aaaaaaaaab*aaaaaaaaab", "aaaaaaaaaabaaaaaaaaaab", true),
            ("*aaaaaaaaab*aaaaaaaaab", "aaaaaaaaaaabaaaaaaaab", false),
        ] as [(String, String, Bool)])
    func aPatternFitsAsAWhole(pattern: String, text: String, fits: Bool) {
        #expect(run(pattern, text).doesFit == fits)
        #expect(Array(text.utf8).span.matches(Array(pattern.utf8).span) == fits)
    }

    /// Every way to spread the bytes over the stars, for texts of two letters.
    @Test(arguments: 0..<20) func aPatternFitsWhereTryingEverythingSaysSo(seed: Int) {
        var random = SeededRandom(seed + 640)
        for _ in 0..<300 {
            let pattern = (0..<random.below(24)).map { _ in ["a", "b", "a", "*"][random.below(4)] }.joined()
            let text = (0..<random.below(30)).map { _ in ["a", "b", "a"][random.below(3)] }.joined()
            let expected = Self.fits(Array(pattern.utf8)[...], Array(text.utf8)[...])
            #expect(run(pattern, text).doesFit == expected, "\(pattern) \(text)")
        }
    }

    /// Table of all beginnings, without a thought of speed.
    private static func fits(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        var row = [true] + text.map { _ in false }
        for byte in pattern {
            var next = [byte == UInt8(ascii: "*") && row[0]]
            for (index, letter) in text.enumerated() {
                next.append(byte == UInt8(ascii: "*") ? row[index + 1] || next[index] : row[index] && letter == byte)
            }
            row = next
        }
        return row[text.count]
    }

    @Test(
        arguments: [
            "*" + String(repeating: "a", count: 500) + "b", "*" + String(repeating: "a", count: 500) + "b*",
            "*" + String(repeating: "aaaaaaab*", count: 200), String(repeating: "*a", count: 900) + "*b*",
            "*" + String(repeating: "a", count: 9) + "b*", "*" + String(repeating: "ab", count: 400) + "b*", "a*a*a*a*a*a*ab",
        ])
    func comparingTakesStepsInProportionToBoth(pattern: String) {
        for text in [String(repeating: "a", count: 1000), String(repeating: "ab", count: 500)] {
            let (_, steps) = run(pattern, text)
            #expect(steps <= 10 * (pattern.utf8.count + text.utf8.count), "\(steps)")
        }
    }
}
