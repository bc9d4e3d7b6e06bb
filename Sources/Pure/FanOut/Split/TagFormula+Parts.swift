/// Splitting one condition into several that a hub takes, each in a call of its own.
extension TagFormula {
    private static let maxPartsCompared = 64

    /// True if a hub takes this as one expression.
    var fits: Bool { size <= (isAnyOfTags ? TagExpression.maxTagsJoinedByOr : TagExpression.maxTagsOtherwise) }

    /// The fewest tags of an expression that is a part of this one: those that have to be looked at together.
    var smallestPartSize: Int {
        switch self {
        case .literal: 1
        case .group(.any, let operands): operands.map(\.smallestPartSize).max() ?? 0
        case .group(.all, let operands): operands.reduce(0) { $0 + $1.smallestPartSize }
        }
    }

    private var isTag: Bool { if case .literal(let literal) = self { !literal.isNegated } else { false } }

    /// True if `||` is all that joins its tags, and none is negated.
    private var isAnyOfTags: Bool { operands(of: .any).allSatisfy(\.isTag) }

    /// The fewest parts that fit and follow the formula's structure, of which any is true where this is true. Nil when there are
    /// none or more than `TagExpression.maxParts`. Tags that stand alone fill expressions of 20, and what they leave over goes where mixed
    /// expressions have room.
    func fittingParts(work: SplitWork) -> [TagFormula]? {
        if fits { return [self] }
        let operands = operands(of: .any)
        var tags = operands.filter(\.isTag)
        var parts: [TagFormula] = []
        if tags.count < operands.count {
            let mixed = TagFormula.joined(.any, of: operands.filter { !$0.isTag }, work: work)
            guard let mixedParts = mixed.parts(upTo: TagExpression.maxTagsOtherwise, work: work) else { return nil }
            parts = mixedParts
        }
        let rooms = parts.map { TagExpression.maxTagsOtherwise - $0.size }
        let limit = TagExpression.maxTagsJoinedByOr
        let lists = (max(0, tags.count - rooms.reduce(0, +)) + limit - 1) / limit
        for (part, room) in rooms.enumerated() where tags.count > lists * limit {
            let moved = tags.suffix(min(room, tags.count - lists * limit))
            parts[part] = .joined(.any, of: [parts[part]] + moved, work: work)
            tags.removeLast(moved.count)
        }
        for start in stride(from: 0, to: tags.count, by: limit) {
            parts.append(.joined(.any, of: Array(tags[start..<min(start + limit, tags.count)]), work: work))
        }
        return parts.count <= TagExpression.maxParts ? parts : nil
    }

    /// Parts of at most `capacity` tags, any of which is true where this is true, or nil when there are none, too many of them, or
    /// the work is spent.
    private func parts(upTo capacity: Int, work: SplitWork) -> [TagFormula]? {
        let size = size
        work.spend(size)
        if size <= capacity { return [self] }
        guard !work.isSpent else { return nil }
        switch self {
        case .literal: return nil
        case .group(.all, let operands):
            // No share of the capacity is enough for the operands, so none is tried.
            guard smallestPartSize <= capacity, let products = Self.products(of: operands[...], upTo: capacity, work: work) else {
                return nil
            }
            let short = products.map { $0.shortened(work: work) }
            return Self.packed(Self.withoutContained(short, work: work), upTo: capacity, work: work)
        case .group(.any, let operands):
            var parts: [TagFormula] = []
            var size = 0
            for operand in operands {
                guard let more = operand.parts(upTo: capacity, work: work) else { return nil }
                size += more.reduce(0) { $0 + $1.size }
                // Parts of so many tags fill more expressions than there may be, however they are packed.
                guard size <= TagExpression.maxParts * capacity else { return nil }
                parts += more
            }
            return Self.packed(parts, upTo: capacity, work: work)
        }
    }

    /// Parts of a conjunction: every part of the first operand with every part of the others, the capacity divided among the operands in
    /// the way that makes the fewest. Their number is known, and refused, before any is made.
    private static func products(of operands: ArraySlice<TagFormula>, upTo capacity: Int, work: SplitWork) -> [TagFormula]? {
        guard let first = operands.first else { return [.always] }
        let others = operands.dropFirst()
        var best: [TagFormula]?
        for share in stride(from: 1, through: min(capacity - others.count, first.size), by: 1) where !work.isSpent {
            guard let left = first.parts(upTo: share, work: work),
                let right = products(of: others, upTo: capacity - share, work: work),
                left.count * right.count <= best.map({ $0.count - 1 }) ?? TagExpression.maxParts
            else { continue }
            best = left.flatMap { part in right.map { .joined(.all, of: [part, $0], work: work) } }.filter { $0 != .never }
        }
        return best
    }

    /// Leaves out parts that reach no device beyond those of another one, as far as it shows.
    private static func withoutContained(_ parts: [TagFormula], work: SplitWork) -> [TagFormula] {
        // Every part is compared with every other one; where there are too many for that, the request has too many calls anyway.
        guard parts.count <= maxPartsCompared else { return parts }
        var kept: [TagFormula] = []
        for part in parts where !kept.contains(where: { part.implies($0, work: work) }) {
            kept.removeAll { $0.implies(part, work: work) }
            kept.append(part)
        }
        return kept
    }

    /// True if `other` follows from what this needs.
    private func implies(_ other: TagFormula, work: SplitWork) -> Bool {
        work.spend(1)
        let necessary = necessary
        // The other one's own needs must follow first, and seldom do.
        guard !work.isSpent, other.necessary.allSatisfy(necessary.contains) else { return false }
        return necessary.reduce(other) { $0.given($1, work: work) } == .always
    }

    /// Joins parts by OR as long as there is room, the largest first: with parts of 1…6 tags this makes the fewest.
    private static func packed(_ parts: [TagFormula], upTo capacity: Int, work: SplitWork) -> [TagFormula] {
        let sizes = parts.map(\.size)
        let largestFirst = parts.indices.sorted { (sizes[$1], $0) < (sizes[$0], $1) }
        var bins: [(room: Int, parts: [TagFormula])] = []
        for index in largestFirst {
            work.spend(1 + bins.count / 8)
            let bin = bins.firstIndex { $0.room >= sizes[index] } ?? bins.count
            if bin == bins.count { bins.append((capacity, [])) }
            bins[bin].room -= sizes[index]
            bins[bin].parts.append(parts[index])
        }
        return bins.map { .joined(.any, of: $0.parts, work: work) }
    }
}
