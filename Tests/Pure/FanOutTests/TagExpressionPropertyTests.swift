import FanOut
import Testing

/// Random expressions, read and evaluated by the module and by a tree that knows nothing of it.
struct TagExpressionPropertyTests {
    @Test(arguments: 0..<40)
    func readingPrintingAndEvaluatingAgreeWithATree(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed) &* 0x9E37 &+ 1)
        for _ in 0..<50 {
            var budget = 6
            let tree = Tree.random(depth: 4, budget: &budget, using: &random)
            let text = tree.text(using: &random)
            let expression = try TagExpression(parsing: text)
            let printed = expression.description
            #expect(try TagExpression(parsing: printed) == expression, "\(text)")
            #expect(try TagExpression(parsing: printed).description == printed)
            for set in 0..<(1 << Tree.letters.count) {
                let has = { (tag: String) in Tree.letters.firstIndex(of: tag).map { set >> $0 & 1 == 1 } ?? false }
                #expect(expression.evaluate { has($0.text) } == tree.holds(has), "\(text) for \(set)")
                #expect(composed(expression, has) == tree.holds(has), "\(text) for \(set)")
            }
        }
    }

    /// The truth of an expression, put together of its steps.
    private func composed(_ expression: TagExpression, _ has: (String) -> Bool) -> Bool {
        expression.composed { (step: TagExpression.CompositionStep<Bool>) in
            switch step {
            case .tag(let tag): has(tag.text)
            case .not(let value): !value
            case .and(let values): values.allSatisfy { $0 }
            case .or(let values): values.contains(true)
            }
        }
    }

    @Test(arguments: 0..<20)
    func randomBytesAreReadAsTheyArePrintedOrRefusedInsideTheText(seed: Int) {
        var random = SplitMix64(state: UInt64(seed) &+ 77)
        let alphabet = Array("ab()!&&||  $U:{}=\t\r\u{e9}\0".utf8)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            do {
                let expression = try TagExpression(parsing: bytes)
                #expect((1...20).contains(expression.tags.count))
                #expect((try? TagExpression(parsing: expression.description)) == expression)
            } catch {
                #expect((0...bytes.count).contains(error.position))
            }
        }
    }
}

private indirect enum Tree {
    case tag(String)
    case not(Tree)
    case all(Tree, Tree)
    case any(Tree, Tree)

    static let letters = ["a", "b", "c", "d"]

    /// A tree of at most `budget` tags.
    static func random(depth: Int, budget: inout Int, using random: inout SplitMix64) -> Tree {
        let choice = depth == 0 || budget < 2 ? 0 : Int.random(in: 0...5, using: &random)
        switch choice {
        case 0:
            budget -= 1
            return .tag(letters.randomElement(using: &random) ?? "a")
        case 1:
            return .not(.random(depth: depth - 1, budget: &budget, using: &random))
        default:
            budget -= 1  // kept for the right side
            let left = Tree.random(depth: depth - 1, budget: &budget, using: &random)
            budget += 1
            let right = Tree.random(depth: depth - 1, budget: &budget, using: &random)
            return choice < 4 ? .all(left, right) : .any(left, right)
        }
    }

    func holds(_ has: (String) -> Bool) -> Bool {
        switch self {
        case .tag(let tag): has(tag)
        case .not(let inner): !inner.holds(has)
        case .all(let left, let right): left.holds(has) && right.holds(has)
        case .any(let left, let right): left.holds(has) || right.holds(has)
        }
    }

    /// 0 for `||`, 1 for `&&`, 2 for what needs no parentheses.
    private var rank: Int {
        switch self {
        case .any: 0
        case .all: 1
        case .not, .tag: 2
        }
    }

    /// Text with parentheses where the ranks ask for them, and at random elsewhere.
    func text(using random: inout SplitMix64) -> String {
        let space = ["", " ", "\t "].randomElement(using: &random) ?? ""
        switch self {
        case .tag(let tag): return tag
        case .not(let inner): return "!" + space + inner.operand(rank: 2, using: &random)
        case .all(let left, let right):
            return left.operand(rank: 1, using: &random) + space + "&&" + space + right.operand(rank: 1, using: &random)
        case .any(let left, let right):
            return left.operand(rank: 0, using: &random) + space + "||" + space + right.operand(rank: 0, using: &random)
        }
    }

    private func operand(rank outer: Int, using random: inout SplitMix64) -> String {
        let inner = text(using: &random)
        return rank < outer || Int.random(in: 0..<5, using: &random) == 0 ? "(\(inner))" : inner
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, seeded, the same everywhere.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
