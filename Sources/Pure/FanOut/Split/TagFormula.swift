/// A condition on tags as a tree in which nothing but tags is negated: the form in which an expression is rewritten.
///
/// Every step of the rewriting yields a tree with the same meaning. Trees are kept simple: a group never holds a group of its
/// own kind, nor the same operand twice, nor a tag beside its negation.
indirect enum TagFormula: Hashable, Sendable {
    /// A tag, by its number in the expression's vocabulary, or its negation.
    struct Literal: Hashable, Sendable {
        let tag: Int
        var isNegated = false

        var negated: Literal { Literal(tag: tag, isNegated: !isNegated) }
    }

    /// The way in which a group joins its operands.
    enum Join: Hashable, Sendable {
        case any, all

        /// The other one.
        var dual: Join { self == .any ? .all : .any }
    }

    case literal(Literal)
    case group(Join, [TagFormula])

    // Made anew each time: a leak detector does not recognise the pointer that a stored indirect enum keeps, and reports it.
    /// True of every device.
    static var always: TagFormula { .group(.all, []) }
    /// True of no device.
    static var never: TagFormula { .group(.any, []) }

    /// The simple group of `operands`, which may be less than a group.
    static func joined(_ join: Join, of operands: [TagFormula], work: SplitWork) -> TagFormula {
        let absorbing = TagFormula.group(join.dual, [])
        var kept = DistinctFormulas()
        for operand in operands.lazy.flatMap({ $0.operands(of: join) }) {
            work.spend(operand.size)
            guard !kept.contains(operand) else { continue }
            if operand == absorbing { return absorbing }
            if case .literal(let literal) = operand, kept.contains(.literal(literal.negated)) { return absorbing }
            kept.append(operand)
        }
        return kept.formulas.count == 1 ? kept.formulas[0] : .group(join, kept.formulas)
    }

    /// The formulas that `join` joins here: the operands of a group of that kind, else the formula as the only one.
    func operands(of join: Join) -> [TagFormula] {
        if case .group(join, let operands) = self { operands } else { [self] }
    }

    /// The number of tags, each as often as it occurs: what the hub's limits count.
    var size: Int {
        switch self {
        case .literal: 1
        case .group(_, let operands): operands.reduce(0) { $0 + $1.size }
        }
    }

    /// True where this is false.
    var negated: TagFormula {
        switch self {
        case .literal(let literal): .literal(literal.negated)
        case .group(let join, let operands): .group(join.dual, operands.map(\.negated))
        }
    }

    /// The number of occurrences of each tag.
    var occurrences: [Int: Int] {
        var counts: [Int: Int] = [:]
        forEachLiteral { counts[$0.tag, default: 0] += 1 }
        return counts
    }

    /// The tags and negations without which this is not true, as far as they show.
    var necessary: [Literal] {
        operands(of: .all).compactMap { if case .literal(let literal) = $0 { literal } else { nil } }
    }

    /// The rest of the condition for devices of which `literal` is true.
    func given(_ literal: Literal, work: SplitWork) -> TagFormula {
        switch self {
        case .literal(literal): .always
        case .literal(literal.negated): .never
        case .literal: self
        case .group(let join, let operands): .joined(join, of: operands.map { $0.given(literal, work: work) }, work: work)
        }
    }

    private func forEachLiteral(_ body: (Literal) -> Void) {
        switch self {
        case .literal(let literal): body(literal)
        case .group(_, let operands): for operand in operands { operand.forEachLiteral(body) }
        }
    }
}

extension TagFormula {
    /// The same condition with fewer tags, where operands of a group share something: `(a && b) || (a && c)` becomes
    /// `a && (b || c)`, `a || (a && b)` becomes `a`, and `a || (!a && b)` becomes `a || b`. Stays longer where the work ends before.
    func shortened(work: SplitWork) -> TagFormula {
        guard case .group(let join, let operands) = self, !work.isSpent else { return self }
        let short = TagFormula.joined(join, of: operands.map { $0.shortened(work: work) }, work: work)
        var formula = short.withoutWhatIsKnown(work: work)
        while let shorter = formula.withSharedOnce(work: work) { formula = shorter }
        return formula
    }

    /// Inside `a && …` the rest is asked of devices with `a` only, and inside `a || …` of those without.
    private func withoutWhatIsKnown(work: SplitWork) -> TagFormula {
        guard case .group(let join, let operands) = self else { return self }
        let occurrences = occurrences
        var formula = self
        for case .literal(let literal) in operands where occurrences[literal.tag, default: 0] > 1 && !work.isSpent {
            let known = join == .all ? literal : literal.negated
            let rest = formula.operands(of: join).map { $0 == .literal(literal) ? $0 : $0.given(known, work: work) }
            formula = .joined(join, of: rest, work: work)
        }
        return formula
    }

    /// Writes the factor that most operands share once, before the rest of them. Nil when no two operands share any, or the work is
    /// spent.
    private func withSharedOnce(work: SplitWork) -> TagFormula? {
        guard case .group(let join, let operands) = self, !work.isSpent else { return nil }
        work.spend(size)
        let factors = operands.map { $0.operands(of: join.dual) }
        guard let shared = Self.mostShared(factors) else { return nil }
        let rests = factors.filter { $0.contains(shared) }.map { factors in
            TagFormula.joined(join.dual, of: factors.filter { $0 != shared }, work: work)
        }
        let rest = TagFormula.joined(join, of: rests, work: work).shortened(work: work)
        let merged = TagFormula.joined(join.dual, of: [shared, rest], work: work)
        var result: [TagFormula] = []
        var isMerged = false
        for (operand, factors) in zip(operands, factors) {
            if !factors.contains(shared) {
                result.append(operand)
            } else if !isMerged {
                result.append(merged)
                isMerged = true
            }
        }
        return .joined(join, of: result, work: work)
    }

    /// The formula that occurs in most of the lists, the first of several, or nil when nothing occurs in two.
    private static func mostShared(_ lists: [[TagFormula]]) -> TagFormula? {
        var counts: [TagFormula: Int] = [:]
        for factor in lists.joined() { counts[factor, default: 0] += 1 }
        var best: (factor: TagFormula, count: Int)?
        for factor in lists.joined() {
            if let count = counts[factor], count > max(best?.count ?? 1, 1) { best = (factor, count) }
        }
        return best?.factor
    }
}

/// Formulas in their order, of which none is there twice.
private struct DistinctFormulas {
    /// The most that are compared one by one, which takes less time than their hashes.
    private static let few = 8

    private(set) var formulas: [TagFormula] = []
    private var known: Set<TagFormula> = []

    func contains(_ formula: TagFormula) -> Bool {
        formulas.count <= Self.few ? formulas.contains(formula) : known.contains(formula)
    }

    /// Adds one that is not there yet.
    mutating func append(_ formula: TagFormula) {
        formulas.append(formula)
        if known.isEmpty, formulas.count > Self.few { known = Set(formulas) } else if !known.isEmpty { known.insert(formula) }
    }
}
