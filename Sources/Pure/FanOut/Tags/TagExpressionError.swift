/// The reason why a text is no tag expression that a hub accepts, and the place of the fault.
public struct TagExpressionError: Error, Sendable, Equatable {
    /// The kinds of what can be wrong.
    public enum SyntaxFault: Sendable, Equatable {
        /// There is nothing but white space.
        case empty
        /// The text has this many bytes. Only 4,096 are allowed.
        case tooLong(byteCount: Int)
        /// A tag, `(` or `!` must stand here.
        case expectedTag
        /// An operator is missing between two tags or groups.
        case expectedOperator
        /// A single `|` or `&`.
        case singleOperatorCharacter
        /// A `)` without its `(`.
        case unmatchedClosingParenthesis
        /// A `(` without its `)`.
        case unclosedParenthesis
        /// A character that belongs neither to a tag nor to an operator.
        case invalidCharacter
        /// A tag breaks the rules for tags.
        case tag(HubTag.Problem)
        /// More than `TagExpression.maxDepth` parentheses and `!` are open at once.
        case tooDeep
        /// Too many tags, each occurrence counted. Allowed are 20 when `||` is the only operator, else 6, and 320 in what is
        /// split.
        case tooManyTags(count: Int, limit: Int)
        /// So many tags must be looked at together, by `&&`, that no part of the expression has as few as 6.
        case cannotBeSplit(size: Int)
        /// Every way to split the expression makes hundreds of calls.
        case tooManyParts
        /// To find a way to split the expression takes too long.
        case tooIntricate
        /// No device can fulfil the condition, such as `a && !a`.
        case reachesNobody
    }

    /// The reason for the fault.
    public let reason: SyntaxFault
    /// Byte offset in the text, or index in the list, at which it shows.
    public let position: Int

    /// Describes a fault.
    ///
    /// - Parameters:
    ///   - reason: What is wrong.
    ///   - position: Byte offset in the text, or index in the list.
    public init(_ reason: SyntaxFault, at position: Int) {
        self.reason = reason
        self.position = position
    }
}

extension TagExpressionError: CustomStringConvertible {
    /// One plain sentence with the position, counted from 1, and without the tags.
    public var description: String {
        switch reason {
        case .empty: "a tag expression cannot be empty"
        case .tooLong(let byteCount):
            "a tag expression has at most \(TagExpression.maxByteCount) bytes, this one has \(byteCount)"
        case .expectedTag: "a tag, '(' or '!' is missing at character \(position + 1)"
        case .expectedOperator: "'&&' or '||' is missing before character \(position + 1)"
        case .singleOperatorCharacter: "the operator at character \(position + 1) must be doubled: '&&' or '||'"
        case .unmatchedClosingParenthesis: "the ')' at character \(position + 1) has no '('"
        case .unclosedParenthesis: "the '(' at character \(position + 1) has no ')'"
        case .invalidCharacter: "character \(position + 1) is allowed neither in a tag nor between tags"
        case .tag(let problem): "\(problem) (the fault is at character \(position + 1) of the expression)"
        case .tooDeep: "more than \(TagExpression.maxDepth) '(' and '!' are open at character \(position + 1)"
        case .tooManyTags(let count, let limit):
            switch limit {
            case TagExpression.maxTagsJoinedByOr:
                "an expression with '||' alone has at most \(limit) tags, this one has \(count)"
            case TagExpression.maxTagsOtherwise:
                "an expression with '&&' or '!' has at most \(limit) tags, this one has \(count)"
            default: "an expression that is split over several calls has at most \(limit) tags, this one has \(count)"
            }
        case .cannotBeSplit(let size):
            "the expression joins \(size) tags by '&&'; \(TagExpression.maxTagsOtherwise) are allowed in one call, and '&&' cannot be "
                + "split over several"
        case .tooManyParts: "the expression would have to be split into more than \(TagExpression.maxParts) calls"
        case .tooIntricate: "the expression repeats its tags in too many ways to be split; use fewer, or several requests"
        case .reachesNobody: "the expression contradicts itself, so that it reaches no device"
        }
    }
}
