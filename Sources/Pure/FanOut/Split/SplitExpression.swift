/// A tag expression as the fewest expressions within the hub's limits that together reach the same devices.
///
/// An expression within the limits stays as it is. One beyond them is rewritten by the laws of Boolean algebra alone: repetitions go,
/// and what operands share is written once. What is still too long is split at its `||`, which may mean to distribute `&&` over them. A
/// conjunction cannot be split: whoever asks for 7 tags at once is refused.
///
/// A hub rings a device once for each call that reaches it. So a part leaves out what another one reaches where there is room for
/// that; where there is none, `mayOverlap` says so. For an expression with no tag twice there never is (why, stands at
/// `TagFormula.separated`).
public struct SplitExpression: Sendable, Equatable {
    /// The expressions, at least one, in an order that depends on the text alone.
    public let parts: [TagExpression]
    /// True if a device could be in several parts.
    public let mayOverlap: Bool

    /// Reads an expression of any number of tags, and splits it where that is needed.
    ///
    /// - Parameter bytes: What a record holds, at most 4,096 bytes.
    /// - Throws: `TagExpressionError`: what is wrong with the text, or why the expression cannot be split.
    public init(parsing bytes: [UInt8]) throws(TagExpressionError) { try self.init(parsing: bytes, work: nil) }

    /// The same, with the account of the work, which is made when there is some.
    init(parsing bytes: [UInt8], work: SplitWork?) throws(TagExpressionError) {
        var parser = TagExpressionParser(bytes)
        let nodes = try parser.read()
        guard let excess = parser.excess(of: nodes) else {
            self.init([TagExpression(nodes: nodes)], mayOverlap: false)
            return
        }
        let count = nodes.count { if case .tag = $0 { true } else { false } }
        guard count <= Self.maxTags else {
            throw TagExpressionError(.tooManyTags(count: count, limit: Self.maxTags), at: excess.position)
        }
        var tags = TagVocabulary()
        let work = work ?? SplitWork()
        let formula = TagFormula(nodes, tags: &tags, work: work).shortened(work: work)
        guard formula != .never else { throw TagExpressionError(.reachesNobody, at: 0) }
        guard formula != .always else {
            self.init([TagExpression(nodes: tags.everyDevice)], mayOverlap: false)
            return
        }
        let split = try Self.split(formula, at: excess.position, work: work)
        self.init(split.parts.map { TagExpression(nodes: tags.nodes(of: $0)) }, mayOverlap: split.mayOverlap)
    }

    /// Most tags of an expression that is split, each occurrence counted: those of 16 calls.
    public static let maxTags = 320

    private init(_ parts: [TagExpression], mayOverlap: Bool) {
        self.parts = parts
        self.mayOverlap = mayOverlap
    }

    private static func split(
        _ formula: TagFormula, at position: Int, work: SplitWork
    ) throws(TagExpressionError) -> (parts: [TagFormula], mayOverlap: Bool) {
        let parts = formula.fittingParts(work: work)
        let fitting = work.isSpent ? nil : parts
        let isTooIntricate = work.isSpent
        // To keep parts apart is worth as much again. Where that is not enough they may overlap.
        work.renew()
        if let separated = fitting.flatMap({ TagFormula.separated($0, work: work) }) { return (separated, false) }
        if let apart = formula.partsApart(work: work) { return (apart, false) }
        if let fitting { return (fitting, true) }
        if isTooIntricate { throw TagExpressionError(.tooIntricate, at: position) }
        let smallest = formula.smallestPartSize
        throw TagExpressionError(
            smallest > TagExpression.maxTagsOtherwise ? .cannotBeSplit(size: smallest) : .tooManyParts, at: position)
    }
}

/// The distinct tags of an expression, numbered in the order in which they come. Case makes no difference.
struct TagVocabulary {
    private var tags: [HubTag] = []
    private var numbers: [String: Int] = [:]

    /// The number of a tag, which is a new one for a new tag.
    mutating func number(of tag: HubTag) -> Int {
        if let number = numbers[tag.folded] { return number }
        numbers[tag.folded] = tags.count
        tags.append(tag)
        return tags.count - 1
    }

    /// A formula in postfix order.
    func nodes(of formula: TagFormula) -> [TagExpression.Node] {
        switch formula {
        case .literal(let literal): [.tag(tags[literal.tag])] + (literal.isNegated ? [.not] : [])
        case .group(let join, let operands):
            operands.flatMap { nodes(of: $0) } + [join == .any ? .or(operands.count) : .and(operands.count)]
        }
    }

    /// A condition that is true of every device, said with a tag, because no tag at all must never mean everybody.
    var everyDevice: [TagExpression.Node] { [.tag(tags[0]), .tag(tags[0]), .not, .or(2)] }
}

extension TagFormula {
    /// The formula that `nodes` are, in postfix order.
    init(_ nodes: [TagExpression.Node], tags: inout TagVocabulary, work: SplitWork) {
        var stack: [TagFormula] = []
        for node in nodes {
            switch node {
            case .tag(let tag): stack.append(.literal(Literal(tag: tags.number(of: tag))))
            case .not: stack.append((stack.popLast() ?? .never).negated)
            case .and(let count): Self.join(&stack, by: .all, count: count, work: work)
            case .or(let count): Self.join(&stack, by: .any, count: count, work: work)
            }
        }
        self = stack.last ?? .never
    }

    private static func join(_ stack: inout [TagFormula], by join: Join, count: Int, work: SplitWork) {
        let operands = Array(stack.suffix(count))
        stack.removeLast(operands.count)
        stack.append(.joined(join, of: operands, work: work))
    }
}
