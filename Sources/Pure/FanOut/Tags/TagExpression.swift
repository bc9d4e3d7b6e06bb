/// A condition on a device's tags, as a hub accepts it: at least one tag, within the hub's limits.
///
/// `!` binds tighter than `&&`, and `&&` tighter than `||`. How the hub ranks the last two is not documented, so the text
/// that is sent has parentheses around every group. Nested groups of one operator are joined: `(a || b) || c` and
/// `a || b || c` are equal.
public struct TagExpression: Sendable, Hashable {
    /// One step in postfix order: a tag pushes, an operator takes as many values as it joins.
    enum Node: Sendable, Hashable {
        case tag(HubTag)
        case not
        case and(Int)
        case or(Int)
    }

    /// Most tags when `||` is the only operator ("Routing and tag expressions").
    public static let maxTagsJoinedByOr = 20
    /// Most tags of every other expression. Each occurrence counts.
    public static let maxTagsOtherwise = 6
    /// Most parentheses and `!` that are open at once.
    public static let maxDepth = 32
    /// Longest text in bytes, as in the request schema.
    public static let maxByteCount = 4096
    /// More parts than any request may become calls. Products of long lists could be millions.
    static let maxParts = 320

    let nodes: [Node]

    /// Reads an expression.
    ///
    /// - Parameter text: Tags, `&&`, `||`, `!`, parentheses, and spaces or tabs between them.
    /// - Throws: `TagExpressionError`.
    public init(parsing text: String) throws(TagExpressionError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// Reads an expression given in bytes.
    ///
    /// - Parameter bytes: What a header or a record holds; anything but ASCII is refused.
    /// - Throws: `TagExpressionError`.
    public init(parsing bytes: [UInt8]) throws(TagExpressionError) {
        var parser = TagExpressionParser(bytes)
        nodes = try parser.parse()
    }

    /// An expression, in postfix order, that is known to be within the limits.
    init(nodes: [Node]) { self.nodes = nodes }

    /// Devices that have at least one of some tags.
    ///
    /// - Parameter tags: 1…20 tags.
    /// - Throws: `TagExpressionError`: `.empty` or `.tooManyTags`.
    public init(anyOf tags: [HubTag]) throws(TagExpressionError) {
        guard !tags.isEmpty else { throw TagExpressionError(.empty, at: 0) }
        let limit = Self.maxTagsJoinedByOr
        guard tags.count <= limit else {
            throw TagExpressionError(.tooManyTags(count: tags.count, limit: limit), at: limit)
        }
        nodes = tags.map(Node.tag) + (tags.count > 1 ? [.or(tags.count)] : [])
    }

    /// Devices that have a tag.
    public init(_ tag: HubTag) { nodes = [.tag(tag)] }

    /// The tags in order, as often as they occur, 1…20.
    public var tags: [HubTag] {
        nodes.compactMap { if case .tag(let tag) = $0 { tag } else { nil } }
    }

    /// True if `||` is the only operator, or there is none.
    public var isOrOnly: Bool { Self.isOrOnly(nodes) }

    static func isOrOnly(_ nodes: [Node]) -> Bool {
        nodes.allSatisfy { node in
            switch node {
            case .tag, .or: true
            case .not, .and: false
            }
        }
    }

    /// Decides the condition. Allocates nothing.
    ///
    /// - Parameter has: Whether the device has a tag.
    /// - Returns: Whether the device belongs to the audience.
    public func evaluate(_ has: (HubTag) -> Bool) -> Bool {
        // One bit for each value, the newest lowest; an expression has at most 20 tags, and so values.
        var stack: UInt64 = 0
        for node in nodes {
            switch node {
            case .tag(let tag): stack = stack << 1 | (has(tag) ? 1 : 0)
            case .not: stack ^= 1
            case .and(let count):
                let operands: UInt64 = 1 << UInt64(count) - 1
                stack = (stack >> UInt64(count)) << 1 | (stack & operands == operands ? 1 : 0)
            case .or(let count):
                let operands: UInt64 = 1 << UInt64(count) - 1
                stack = (stack >> UInt64(count)) << 1 | (stack & operands != 0 ? 1 : 0)
            }
        }
        return stack & 1 == 1
    }

    /// Says what a condition is for a device without any tag. One that is true there, because of a negation, reaches nearly everybody.
    ///
    /// - Parameter bytes: The text, with any number of tags. Its time grows as its length.
    /// - Returns: True if such a device belongs to the audience. False for a text that is no expression.
    public static func matchesUntagged(_ bytes: [UInt8]) -> Bool {
        var parser = TagExpressionParser(bytes)
        guard let nodes = try? parser.read() else { return false }
        var stack: [Bool] = []
        for node in nodes {
            switch node {
            case .tag: stack.append(false)
            case .not: stack.append(!(stack.popLast() ?? false))
            case .and(let count): join(&stack, count: count) { $0.allSatisfy { $0 } }
            case .or(let count): join(&stack, count: count) { $0.contains(true) }
            }
        }
        return stack.last ?? false
    }

    private static func join(_ stack: inout [Bool], count: Int, by decide: (ArraySlice<Bool>) -> Bool) {
        let value = decide(stack.suffix(count))
        stack.removeLast(min(count, stack.count))
        stack.append(value)
    }

    /// Decides the condition for a device.
    ///
    /// - Parameter foldedTags: The device's tags in lower case (`HubTag.folded`).
    /// - Returns: Whether the device belongs to the audience.
    public func matches(_ foldedTags: Set<String>) -> Bool {
        evaluate { foldedTags.contains($0.folded) }
    }
}

extension TagExpression: CustomStringConvertible {
    /// The text to send: parentheses around everything that `&&` or `||` joins, so that no rank of operators matters.
    ///
    /// `a`, `(a || b)`, `((a && !b) || c)`. Reading it again gives an equal expression.
    public var description: String {
        var stack: [String] = []
        for node in nodes {
            switch node {
            case .tag(let tag): stack.append(tag.text)
            case .not: stack.append("!" + (stack.popLast() ?? ""))
            case .and(let count): Self.join(&stack, count: count, separator: " && ")
            case .or(let count): Self.join(&stack, count: count, separator: " || ")
            }
        }
        return stack.joined()
    }

    private static func join(_ stack: inout [String], count: Int, separator: String) {
        let joined = "(" + stack.suffix(count).joined(separator: separator) + ")"
        stack.removeLast(min(count, stack.count))
        stack.append(joined)
    }
}
