import TestSupport
import Testing

@testable import FanOut

/// The work of splitting, counted in tags that are looked at, so that no test follows the machine's speed.
struct SplitWorkTests {
    private static func any(_ prefix: String, _ count: Int) -> String {
        "(" + (0..<count).map { "\(prefix)\($0)" }.joined(separator: " || ") + ")"
    }

    /// `terms` conjunctions, joined by OR, of `lists` lists with `width` tags each, no tag twice.
    private static func lists(_ terms: Int, of lists: Int, width: Int) -> String {
        (0..<terms).map { term in
            "(" + (0..<lists).map { any("t\(term)l\($0)n", width) }.joined(separator: " && ") + ")"
        }.joined(separator: " || ")
    }

    /// One list inside another, as deep as parentheses go, all with a tag that each level repeats.
    private static let chain = (0..<30).reduce("z") { inner, level in "x\(level) && (\(inner)) || x\(level) && y\(level)" }

    /// The fault of an expression, nil for none, and the work that it took.
    private func examine(_ text: String) -> (fault: TagExpressionError.SyntaxFault?, work: Int) {
        let work = SplitWork()
        do throws(TagExpressionError) {
            _ = try SplitExpression(parsing: Array(text.utf8), work: work)
            return (nil, work.spent)
        } catch {
            return (error.reason, work.spent)
        }
    }

    /// Each would be many thousands of products.
    @Test(arguments: [
        lists(1, of: 3, width: 60), lists(1, of: 6, width: 3), lists(6, of: 3, width: 17), lists(13, of: 4, width: 6),
        lists(20, of: 4, width: 4), lists(21, of: 5, width: 3), lists(26, of: 6, width: 2), lists(26, of: 4, width: 3),
    ])
    func aRefusalTakesWorkInProportionToItsText(_ text: String) {
        let (fault, work) = examine(text)
        #expect(fault == .tooManyParts)
        #expect(work < 40 * text.utf8.count, "\(work) for \(text.utf8.count) bytes")
    }

    @Test(arguments: [
        any("t", 320), "x && \(any("t", 319))", lists(1, of: 6, width: 2), lists(1, of: 4, width: 4), lists(5, of: 6, width: 2),
        lists(26, of: 3, width: 4), lists(35, of: 3, width: 3), lists(80, of: 2, width: 2),
    ])
    func whatCanBeSplitIsFarFromTheLimit(_ text: String) {
        let (fault, work) = examine(text)
        #expect(fault == nil)
        #expect(work < SplitWork.limit / 2, "\(work)")
    }

    @Test func nestedRepetitionsAreBoundedToo() {
        let (fault, work) = examine(Self.chain)
        #expect(fault == .cannotBeSplit(size: 31))
        #expect(work > 1000 && work < SplitWork.limit, "\(work)")
    }

    /// Expressions of strangers, as long as they may be.
    @Test(arguments: 0..<40)
    func noExpressionTakesMoreThanItsShare(seed: Int) {
        var random = SeededRandom(seed + 640)
        let letters = (0..<[8, 20, 60, 320][seed % 4]).map { "t\($0)" }
        var budget = 320
        var terms: [String] = []
        while budget > 0 { terms.append(Self.term(depth: 8, budget: &budget, letters, &random)) }
        let (_, work) = examine(terms.joined(separator: seed % 2 == 0 ? " || " : " && "))
        // The step in which an account ends is finished.
        #expect(work < 2 * SplitWork.limit + 50_000, "\(work)")
    }

    private static func term(depth: Int, budget: inout Int, _ letters: [String], _ random: inout SeededRandom) -> String {
        if depth == 0 || budget < 2 {
            budget -= 1
            return (random.below(4) == 0 ? "!" : "") + letters[random.below(letters.count)]
        }
        var operands: [String] = []
        for _ in 0..<random.below(4) + 2 where budget > 0 {
            operands.append(term(depth: depth - 1, budget: &budget, letters, &random))
        }
        return "(" + operands.joined(separator: random.below(2) == 0 ? " || " : " && ") + ")"
    }

    @Test func aSpentAccountRefusesAndKeepsNothing() {
        let work = SplitWork()
        work.spend(SplitWork.limit)
        let error = #expect(throws: TagExpressionError.self) {
            try SplitExpression(parsing: Array(Self.lists(2, of: 4, width: 3).utf8), work: work)
        }
        #expect(error?.reason == .tooIntricate)
        #expect(error?.description.contains("several requests") == true)
    }
}
