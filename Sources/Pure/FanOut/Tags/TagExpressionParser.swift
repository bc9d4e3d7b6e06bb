/// Reads a tag expression by recursive descent. The depth limit bounds the recursion, whatever the input.
///
/// ```
/// or    := and ( "||" and )*
/// and   := unary ( "&&" unary )*
/// unary := "!"* ( "(" or ")" | tag )
/// ```
struct TagExpressionParser {
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    private var nodes: [TagExpression.Node] = []
    private var tagPositions: [Int] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the whole text, in postfix order, and checks the hub's limits. Throws the leftmost fault. Limits on the number of
    /// tags come last.
    mutating func parse() throws(TagExpressionError) -> [TagExpression.Node] {
        let nodes = try read()
        if let excess = excess(of: nodes) { throw excess }
        return nodes
    }

    /// Reads the whole text, in postfix order, however many tags are in it. Throws the leftmost fault.
    mutating func read() throws(TagExpressionError) -> [TagExpression.Node] {
        guard bytes.count <= TagExpression.maxByteCount else {
            throw TagExpressionError(.tooLong(byteCount: bytes.count), at: TagExpression.maxByteCount)
        }
        skipSpace()
        guard index < bytes.count else { throw TagExpressionError(.empty, at: 0) }
        try parseOr()
        if let byte = peek() {
            throw byte == UInt8(ascii: ")") ? TagExpressionError(.unmatchedClosingParenthesis, at: index) : misplaced(byte)
        }
        return nodes
    }

    /// The excess of the expression that was read over the hub's limits, or nil when there is none.
    func excess(of nodes: [TagExpression.Node]) -> TagExpressionError? {
        let limit = TagExpression.isOrOnly(nodes) ? TagExpression.maxTagsJoinedByOr : TagExpression.maxTagsOtherwise
        guard tagPositions.count > limit else { return nil }
        return TagExpressionError(.tooManyTags(count: tagPositions.count, limit: limit), at: tagPositions[limit])
    }

    private mutating func parseOr() throws(TagExpressionError) {
        var count = 0
        repeat {
            try parseAnd()
            // A group that is itself an OR is joined to this one: its operator goes, its operands stay.
            if case .or(let inner) = nodes.last {
                nodes.removeLast()
                count += inner
            } else {
                count += 1
            }
        } while try accept(UInt8(ascii: "|"))
        if count > 1 { nodes.append(.or(count)) }
    }

    private mutating func parseAnd() throws(TagExpressionError) {
        var count = 0
        repeat {
            try parseUnary()
            if case .and(let inner) = nodes.last {
                nodes.removeLast()
                count += inner
            } else {
                count += 1
            }
        } while try accept(UInt8(ascii: "&"))
        if count > 1 { nodes.append(.and(count)) }
    }

    private mutating func parseUnary() throws(TagExpressionError) {
        let outer = depth
        while peek() == UInt8(ascii: "!") { try open() }
        let negations = depth - outer
        if peek() == UInt8(ascii: "(") {
            let start = index
            try open()
            try parseOr()
            guard let byte = peek() else { throw TagExpressionError(.unclosedParenthesis, at: start) }
            guard byte == UInt8(ascii: ")") else { throw misplaced(byte) }
            index += 1
        } else {
            try parseTag()
        }
        for _ in 0..<negations { nodes.append(.not) }
        depth = outer
    }

    private mutating func parseTag() throws(TagExpressionError) {
        let start = index
        let isReserved = peek() == UInt8(ascii: "$")
        while index < bytes.count, bytes[index].isTagCharacter || isReserved && "${=}".utf8.contains(bytes[index]) {
            index += 1
        }
        guard index > start else {
            let isInvalid = index < bytes.count && !"|&()!".utf8.contains(bytes[index])
            throw TagExpressionError(isInvalid ? .invalidCharacter : .expectedTag, at: start)
        }
        do {
            nodes.append(.tag(try HubTag(bytes: bytes[start..<index])))
        } catch {
            if case .invalidCharacter(let offset) = error { throw TagExpressionError(.tag(error), at: start + offset) }
            throw TagExpressionError(.tag(error), at: start)
        }
        tagPositions.append(start)
    }

    /// Steps over a `!` or `(`, which stays open until its operand ends.
    private mutating func open() throws(TagExpressionError) {
        guard depth < TagExpression.maxDepth else { throw TagExpressionError(.tooDeep, at: index) }
        depth += 1
        index += 1
    }

    /// Steps over an operator, if it is the one asked for. Both of its characters must be there.
    private mutating func accept(_ character: UInt8) throws(TagExpressionError) -> Bool {
        guard peek() == character else { return false }
        guard index + 1 < bytes.count, bytes[index + 1] == character else {
            throw TagExpressionError(.singleOperatorCharacter, at: index)
        }
        index += 2
        return true
    }

    /// The next byte that is not white space, or nil at the end.
    private mutating func peek() -> UInt8? {
        skipSpace()
        return index < bytes.count ? bytes[index] : nil
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }

    /// The fault when a byte follows a complete operand and is neither an operator nor the closing parenthesis.
    private func misplaced(_ byte: UInt8) -> TagExpressionError {
        let beginsOperand = byte.isTagCharacter || "$(!".utf8.contains(byte)
        return TagExpressionError(beginsOperand ? .expectedOperator : .invalidCharacter, at: index)
    }
}
