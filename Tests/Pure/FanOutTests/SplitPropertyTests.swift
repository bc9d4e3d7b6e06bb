import FanOut
import TestSupport
import Testing

/// Random expressions beyond the limits, on every combination of their tags.
struct SplitPropertyTests {
    private static let letters = (0..<9).map { "t\($0)" }

    @Test(arguments: 0..<40)
    func partsMeanWhatTheExpressionMeansAndOverlapOnlyWhereTheySaySo(seed: Int) {
        var random = SeededRandom(seed)
        var splitCount = 0
        for _ in 0..<25 {
            var budget = Int.random(in: 7...16, using: &random)
            let condition = Condition.random(depth: 4, budget: &budget, among: Self.letters, using: &random)
            guard let split = split(condition) else { continue }
            splitCount += split.parts.count > 1 ? 1 : 0
            for part in split.parts { #expect(part.tags.count <= (part.isOrOnly ? 20 : 6)) }
            for set in 0..<(1 << Self.letters.count) {
                let has = { (tag: String) in Self.letters.firstIndex(of: tag).map { set >> $0 & 1 == 1 } ?? false }
                let reached = split.parts.count { $0.evaluate { has($0.folded) } }
                let isMeant = condition.holds(has)
                if (reached > 0) != isMeant || (reached > 1 && !split.mayOverlap) {
                    Issue.record("\(condition.text) became \(split.parts), which reach \(set) \(reached) times")
                    return
                }
            }
        }
        #expect(splitCount > 0)
    }

    /// The hub could avoid overlap only where the number of devices that are meant has the factor that parts of 6 tags have.
    @Test(arguments: 0..<20)
    func overlapIsLeftWhereItCannotBeAvoided(seed: Int) throws {
        var random = SeededRandom(seed + 500)
        for _ in 0..<25 {
            var letters = Self.letters.shuffled(using: &random)
            let condition = Condition.once(&letters, depth: 3, using: &random)
            guard let split = split(condition), split.parts.count > 1 else { continue }
            #expect(split.mayOverlap, "\(condition.text) became \(split.parts)")
            let tags = Set(split.parts.flatMap { $0.tags.map(\.folded) }).sorted()
            try #require(tags.count <= Self.letters.count)
            let meant = (0..<(1 << tags.count)).count { set in
                condition.holds { tag in tags.firstIndex(of: tag).map { set >> $0 & 1 == 1 } ?? false }
            }
            #expect(meant % 2 == 1)
        }
    }

    /// With no tag twice there is nothing to share, so the calls are as many as the fewest boxes of 6 that hold all conjunctions.
    @Test(arguments: 0..<40)
    func conjunctionsArePackedIntoTheFewestCalls(seed: Int) throws {
        var random = SeededRandom(seed + 40)
        let sizes = (0..<random.below(6) + 3).map { _ in random.below(5) + 2 }
        var number = 0
        let terms = sizes.map { size in
            let tags = (0..<size).map { "t\(number + $0)" }
            number += size
            return "(" + tags.joined(separator: " && ") + ")"
        }
        let split = try SplitExpression(parsing: Array(terms.joined(separator: " || ").utf8))
        #expect(split.parts.count == fewestBoxes(sizes, []), "\(sizes)")
    }

    /// Tries every way to put `sizes` into boxes of 6.
    private func fewestBoxes(_ sizes: [Int], _ rooms: [Int]) -> Int {
        guard let size = sizes.first else { return rooms.count }
        let rest = Array(sizes.dropFirst())
        var fewest = fewestBoxes(rest, rooms + [6 - size])
        for (box, room) in rooms.enumerated() where room >= size {
            var rooms = rooms
            rooms[box] -= size
            fewest = min(fewest, fewestBoxes(rest, rooms))
        }
        return fewest
    }

    /// Nil for an expression that was refused, which none is whose parts are small enough.
    private func split(_ condition: Condition) -> SplitExpression? {
        do throws(TagExpressionError) {
            return try SplitExpression(parsing: Array(condition.text.utf8))
        } catch {
            switch error.reason {
            case .cannotBeSplit(let size): #expect(size > 6)
            case .reachesNobody:
                for set in 0..<(1 << Self.letters.count) {
                    #expect(!condition.holds { tag in Self.letters.firstIndex(of: tag).map { set >> $0 & 1 == 1 } ?? false })
                }
            default: Issue.record("\(condition.text): \(error)")
            }
            return nil
        }
    }
}

/// A condition that knows nothing of the module.
private indirect enum Condition {
    case tag(String)
    case not(Condition)
    case all([Condition])
    case any([Condition])

    static func random(
        depth: Int, budget: inout Int, among letters: [String], using random: inout SeededRandom
    ) -> Condition {
        if depth == 0 || budget < 2 {
            budget -= 1
            return .tag(letters[Int.random(in: 0..<letters.count, using: &random)])
        }
        let choice = Int.random(in: 0..<9, using: &random)
        if choice == 0 { return .not(.random(depth: depth - 1, budget: &budget, among: letters, using: &random)) }
        if choice == 1 { return .random(depth: 0, budget: &budget, among: letters, using: &random) }
        var operands: [Condition] = []
        for _ in 0..<Int.random(in: 2...5, using: &random) where budget > 0 {
            operands.append(.random(depth: depth - 1, budget: &budget, among: letters, using: &random))
        }
        return choice < 4 ? .all(operands) : .any(operands)
    }

    /// A condition with every one of `letters` once.
    static func once(_ letters: inout [String], depth: Int, using random: inout SeededRandom) -> Condition {
        var operands: [Condition] = []
        for _ in 0..<Int.random(in: 2...4, using: &random) where !letters.isEmpty {
            let isTag = depth == 0 || Bool.random(using: &random)
            let operand = isTag ? .tag(letters.removeLast()) : Condition.once(&letters, depth: depth - 1, using: &random)
            operands.append(Int.random(in: 0..<4, using: &random) == 0 ? .not(operand) : operand)
        }
        return Bool.random(using: &random) ? .all(operands) : .any(operands)
    }

    func holds(_ has: (String) -> Bool) -> Bool {
        switch self {
        case .tag(let tag): has(tag)
        case .not(let inner): !inner.holds(has)
        case .all(let operands): operands.allSatisfy { $0.holds(has) }
        case .any(let operands): operands.contains { $0.holds(has) }
        }
    }

    var text: String {
        switch self {
        case .tag(let tag): tag
        case .not(let inner): "!(\(inner.text))"
        case .all(let operands): "(\(operands.map(\.text).joined(separator: " && ")))"
        case .any(let operands): "(\(operands.map(\.text).joined(separator: " || ")))"
        }
    }
}
