import FanOut
import TestSupport
import Testing

struct SplitExpressionTests {
    private func split(_ text: String) throws -> SplitExpression { try SplitExpression(parsing: Array(text.utf8)) }

    private func any(_ prefix: String, _ range: Range<Int>) -> String {
        range.map { "\(prefix)\($0)" }.joined(separator: " || ")
    }

    @Test(arguments: [
        "a", "!!a", "a && a && a", "a || a", "!(a || b)", "a && !a", "a || !a", "(a && b) || (a && c)",
        "a && b && c && d && e && !f",
    ])
    func whatIsWithinTheLimitsStaysAsItIs(_ text: String) throws {
        let split = try split(text)
        #expect(split.parts == [try TagExpression(parsing: text)])
        #expect(!split.mayOverlap)
    }

    @Test(
        arguments: [
            // What stands there twice, and what operands share.
            ("a && b && c && d && e && f && a", ["(a && b && c && d && e && f)"]),
            ("(x && a) || (x && b) || (x && c) || (X && d)", ["(x && (a || b || c || d))"]),
            ("(a || x) && (a || y) && (a || z) && (a || w)", ["(a || (x && y && z && w))"]),
            ("a || (a && b && c && d && e && f)", ["a"]),
            ("a || (!a && b) || (!a && c && d && e)", ["(a || b || (c && d && e))"]),
            ("!(!a && !b && !c && !d && !e && !f && !g)", ["(a || b || c || d || e || f || g)"]),
            ("a || b || c || !a || d || e || f", ["(a || !a)"]),
            // Conjunctions of several calls.
            ("(a && b && c && d) || (e && f && g && h)", ["(a && b && c && d)", "(e && f && g && h)"]),
            (
                "(a && b && c && d) || (e && f) || (g && h) || (i && j && k && l)",
                ["((a && b && c && d) || (e && f))", "((i && j && k && l) || (g && h))"]
            ),
            // Distribution: of both lists, in the way that makes the fewest calls.
            ("x && (a || b || c || d || e || f)", ["(x && (a || b || c))", "(x && (d || e || f))"]),
            (
                "(a || b || c) && (w || x || y || z)",
                ["((a || b) && (w || x || y || z))", "(c && (w || x || y || z))"]
            ),
            ("(a || b || c) && (a || d || e) && x && x", ["((a || ((b || c) && (d || e))) && x)"]),
            // What distribution makes twice, or makes a part of something else.
            (
                "(c || d || e || f) && (a || b) && (c || g || d || e) && (b || c || d || a || e) && (b || h || g)",
                ["((c || d || e) && a && (h || g))", "((c || d || e) && b)", "((f && g && b) || (f && g && a))"]
            ),
            (
                "p && q && r && (a || b || c) && !s",
                ["(p && q && r && (a || b) && !s)", "(p && q && r && c && !s)"]
            ),
        ] as [(String, [String])])
    func whatIsBeyondThemIsRewritten(_ text: String, parts: [String]) throws {
        #expect(try split(text).parts.map(\.description) == parts)
    }

    @Test(
        arguments: [
            // One tag is asked for in one part and not in the other.
            ("(a && b && c && d) || (!a && e && f && g)", ["(a && b && c && d)", "(!a && e && f && g)"]),
            // The second leaves out what the first reaches.
            (
                "(a && b && c) || (a && d && e) || (b && d && f)",
                ["(a && ((b && c) || (d && e)))", "(b && d && f && (!a || (!c && !e)))"]
            ),
        ] as [(String, [String])])
    func partsAreKeptApartWhereThereIsRoom(_ text: String, parts: [String]) throws {
        let split = try split(text)
        #expect(split.parts.map(\.description) == parts)
        #expect(!split.mayOverlap)
    }

    @Test(arguments: [(20, [20]), (21, [20, 1]), (40, [20, 20]), (100, [20, 20, 20, 20, 20])])
    func listsOfTagsAreCutByTwenties(count: Int, sizes: [Int]) throws {
        let split = try split(any("t", 0..<count))
        #expect(split.parts.map(\.tags.count) == sizes)
        #expect(split.parts.flatMap { $0.tags.map(\.text) } == (0..<count).map { "t\($0)" })
        #expect(split.mayOverlap == (count > 20))
    }

    @Test func tagsThatAreLeftOverGoWhereThereIsRoom() throws {
        let split = try split("(a && !b) || \(any("t", 0..<24))")
        #expect(split.parts.map(\.tags.count) == [6, 20])
        #expect(try self.split("(a && !b) || \(any("t", 0..<25))").parts.map(\.tags.count) == [2, 20, 5])
    }

    @Test func repetitionsDoNotCount() throws {
        let split = try split("\(any("t", 0..<20)) || T3 || t4")
        #expect(split.parts.map(\.tags.count) == [20])
        #expect(!split.mayOverlap)
    }

    @Test(
        arguments: [
            ("a && b && c && d && e && f && g", .cannotBeSplit(size: 7)),
            ("!(a || b || c || d || e || f || g)", .cannotBeSplit(size: 7)),
            ("(a && b && c && d && e && f && g) || h", .cannotBeSplit(size: 7)),
            ("a && b && c && d && e && f && (g || h)", .cannotBeSplit(size: 7)),
            ("a && !a && b && c && d && e && f", .reachesNobody), ("(a || b || c) && !a && !b && !c && d", .reachesNobody),
        ] as [(String, TagExpressionError.SyntaxFault)])
    func whatCannotBeSplitExactlyIsRefusedWithTheReason(_ text: String, reason: TagExpressionError.SyntaxFault) throws {
        let error = try #require(throws: TagExpressionError.self) { try split(text) }
        #expect(error.reason == reason)
    }

    @Test func productsOfLongListsAreRefused() throws {
        let lists = ["a", "b", "c"].map { "(\(any($0, 0..<60)))" }
        let error = try #require(throws: TagExpressionError.self) { try split(lists.joined(separator: " && ")) }
        #expect(error.reason == .tooManyParts)
        let long = try #require(throws: TagExpressionError.self) { try split(any("t", 0..<321)) }
        #expect(long.reason == .tooManyTags(count: 321, limit: 320))
    }

    @Test func theLargestExpressionsAreSplitToo() throws {
        let terms = (0..<64).map { ["a\($0 % 7)", "b\($0 % 9)", "c\($0 % 5)", "d\($0 % 3)", "e\($0)"] }
        let text = terms.map { "(\($0[0]) && !\($0[1]) && \($0[2]) && !\($0[3]) && \($0[4]))" }.joined(separator: " || ")
        let parts = try split(text).parts
        #expect(parts.count > 16 && parts.count <= 64)
        #expect(parts.allSatisfy { $0.tags.count <= 6 })
        var random = SeededRandom(64)
        let tags = Set(terms.joined()).sorted()
        for _ in 0..<300 {
            let device = Set(tags.filter { _ in random.below(3) == 0 })
            let isMeant = terms.contains { term in
                zip(term, [true, false, true, false, true]).allSatisfy { device.contains($0) == $1 }
            }
            #expect(parts.contains { $0.matches(device) } == isMeant)
        }
    }

    @Test func aFaultOfTheTextIsFoundBeforeALimit() throws {
        let error = try #require(throws: TagExpressionError.self) { try split("\(any("t", 0..<30)) ||") }
        #expect(error.reason == .expectedTag)
    }
}
