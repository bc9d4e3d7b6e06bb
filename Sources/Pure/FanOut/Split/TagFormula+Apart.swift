/// Keeping parts apart, so that no device is in two of them.
///
/// Where each tag occurs once there is nothing to gain. Of the 2ⁿ devices that n tags tell apart, such a condition is true of an odd
/// number, and a part of at most 6 tags of a multiple of 2ⁿ⁻⁶. So parts without overlap, one of up to 20 tags joined by OR among them or
/// not, cannot add up to it unless it fits as it is.
extension TagFormula {
    /// The longest expression that is looked at for parts without overlap. A longer one has hardly any, and takes long.
    private static let maxSize = 48
    /// The number of steps that are spent on it.
    private static let maxSteps = 100
    /// The number of tags that are tried in each step, those that occur most often.
    private static let maxTagsTried = 3

    /// Leaves out of each part what another one reaches. The parts fit, mean together what those meant, and do not overlap. Nil
    /// where there is no room to say so, or the work is spent.
    static func separated(_ parts: [TagFormula], work: SplitWork) -> [TagFormula]? {
        var parts = parts
        for later in parts.indices {
            for earlier in 0..<later {
                work.spend(1)
                guard !work.isSpent else { return nil }
                if let rest = parts[later].without(parts[earlier], work: work) {
                    parts[later] = rest
                } else if let rest = parts[earlier].without(parts[later], work: work) {
                    parts[earlier] = rest
                } else {
                    return nil
                }
            }
        }
        return parts.filter { $0 != .never }
    }

    /// A condition that is true where this is true and `other` is not, if it fits.
    private func without(_ other: TagFormula, work: SplitWork) -> TagFormula? {
        let common = necessary.reduce(other) { $0.given($1, work: work) }
        if common == .never { return self }
        guard Set(occurrences.keys).union(common.occurrences.keys).count <= TagExpression.maxTagsOtherwise else { return nil }
        let rest = TagFormula.joined(.all, of: [self, common.negated], work: work).shortened(work: work)
        return rest.fits ? rest : nil
    }

    /// Parts that fit and do not overlap: those with a tag and those without, again and again. Nil where none are found.
    func partsApart(work: SplitWork) -> [TagFormula]? {
        guard size <= Self.maxSize else { return nil }
        var steps = Self.maxSteps
        return partsApart(upTo: TagExpression.maxTagsOtherwise, steps: &steps, work: work)
    }

    private func partsApart(upTo capacity: Int, steps: inout Int, work: SplitWork) -> [TagFormula]? {
        if self == .never { return [] }
        if size <= capacity { return [self] }
        guard capacity > 1, steps > 0, !work.isSpent else { return nil }
        steps -= 1
        var best: [TagFormula]?
        for tag in repeatedTags.prefix(Self.maxTagsTried) {
            var parts: [TagFormula]? = []
            for literal in [Literal(tag: tag), Literal(tag: tag, isNegated: true)] {
                let rest = given(literal, work: work).shortened(work: work)
                    .partsApart(upTo: capacity - 1, steps: &steps, work: work)
                if let rest {
                    parts?.append(contentsOf: rest.map { .joined(.all, of: [.literal(literal), $0], work: work) })
                } else {
                    parts = nil
                }
            }
            if let parts, parts.count < best?.count ?? .max { best = parts }
        }
        return best
    }

    /// The tags that occur more than once, the most frequent first.
    private var repeatedTags: [Int] {
        occurrences.filter { $0.value > 1 }.sorted { (-$0.value, $0.key) < (-$1.value, $1.key) }.map(\.key)
    }
}
