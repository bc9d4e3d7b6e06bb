import FanOut
import Testing

struct TagExpressionTests {
    @Test(arguments: [
        ("a", "a"), ("  a\t", "a"), ("(a)", "a"), ("((((a))))", "a"), ("!a", "!a"), ("! ! a", "!!a"),
        ("a||b", "(a || b)"), ("a || b || c", "(a || b || c)"), ("(a||b)||(c||d)", "(a || b || c || d)"),
        ("a&&b||c", "((a && b) || c)"), ("a||b&&c", "(a || (b && c))"), ("!a&&b", "(!a && b)"), ("!(a&&b)", "!(a && b)"),
        ("(RedSox || Cardinals) && location_Boston", "((RedSox || Cardinals) && location_Boston)"),
        ("$InstallationId:{x=1}||$UserId:{y}", "($InstallationId:{x=1} || $UserId:{y})"),
    ])
    func everyGroupIsPrintedInParentheses(_ text: String, printed: String) throws {
        let expression = try TagExpression(parsing: text)
        #expect(expression.description == printed)
        #expect(try TagExpression(parsing: printed) == expression)
    }

    @Test(
        arguments: [
            ("", .empty, 0), (" \t ", .empty, 0), ("a ||", .expectedTag, 4), ("|| a", .expectedTag, 0), ("&&", .expectedTag, 0),
            ("a || && b", .expectedTag, 5), ("()", .expectedTag, 1), ("!", .expectedTag, 1), ("a || )", .expectedTag, 5),
            ("a b", .expectedOperator, 2), ("a !b", .expectedOperator, 2), ("a (b)", .expectedOperator, 2),
            ("(a) b", .expectedOperator, 4), ("(a b)", .expectedOperator, 3), ("a $UserId:{x}", .expectedOperator, 2),
            ("a | b", .singleOperatorCharacter, 2), ("a &", .singleOperatorCharacter, 2), ("a |& b", .singleOperatorCharacter, 2),
            ("a)", .unmatchedClosingParenthesis, 1), ("(a))", .unmatchedClosingParenthesis, 3),
            ("(a", .unclosedParenthesis, 0), ("a || ((b)", .unclosedParenthesis, 5), ("(a || b", .unclosedParenthesis, 0),
            ("a+b", .invalidCharacter, 1), ("a || é", .invalidCharacter, 5), ("a\r\nX: y", .invalidCharacter, 1),
            ("a\0", .invalidCharacter, 1), ("'a'", .invalidCharacter, 0), ("(a;b)", .invalidCharacter, 2),
            ("a || $x", .tag(.malformedReservedTag), 5), ("$UserId:{x", .tag(.malformedReservedTag), 0),
            ("a || $UserId:{b$}", .tag(.invalidCharacter(offset: 10)), 15),
        ] as [(String, TagExpressionError.SyntaxFault, Int)])
    func faultsAreFoundWhereTheyStand(_ text: String, reason: TagExpressionError.SyntaxFault, position: Int) {
        #expect(throws: TagExpressionError(reason, at: position)) { try TagExpression(parsing: text) }
    }

    /// Expressions that a device without any tag meets, and such that it does not.
    @Test(arguments: [
        ("!nobody", true), ("!a || b", true), ("!(a && b)", true), ("!a && !b", true), ("a || !b", true),
        ("!(a || b) || c", true), ("!!!a", true), ((0..<70).map { "!t\($0)" }.joined(separator: " && "), true),
        ("a", false), ("a || b", false), ("a && !b", false), ("!!a", false), ("(a && !b) || c", false), ("!(!a || b)", false),
        ((0..<70).map { "!t\($0)" }.joined(separator: " && ") + " && t", false), ("a !b", false), ("!", false), ("", false),
    ])
    func aNegationReachesWhoeverLacksATag(_ text: String, isMet: Bool) {
        #expect(TagExpression.matchesUntagged(Array(text.utf8)) == isMet)
        if let expression = try? TagExpression(parsing: text) { #expect(expression.matches([]) == isMet) }
    }

    @Test func twentyTagsJoinedByOrAreTheLimit() throws {
        let twenty = (0..<20).map { "t\($0)" }.joined(separator: " || ")
        let expression = try TagExpression(parsing: twenty)
        #expect(expression.isOrOnly)
        #expect(expression.tags.count == 20)
        #expect(throws: TagExpressionError(.tooManyTags(count: 21, limit: 20), at: twenty.utf8.count + 4)) {
            try TagExpression(parsing: twenty + " || t20")
        }
    }

    @Test(arguments: ["a && b && c && d && e && f", "!a || b || c || d || e || f", "(a || b) && (a || b) && (a || b)"])
    func sixTagsAreTheLimitOfEveryOtherExpression(_ text: String) throws {
        let expression = try TagExpression(parsing: text)
        #expect(!expression.isOrOnly)
        #expect(expression.tags.count == 6)
        #expect(throws: TagExpressionError(.tooManyTags(count: 7, limit: 6), at: text.utf8.count + 4)) {
            try TagExpression(parsing: text + " || g")
        }
    }

    @Test(arguments: ["(", "!", "!("])
    func nestingIsBounded(_ opener: String) throws {
        let deepest = String(repeating: opener, count: 32 / opener.utf8.count)
        let closing = String(repeating: ")", count: deepest.utf8.count { $0 == UInt8(ascii: "(") })
        #expect(try TagExpression(parsing: deepest + "a" + closing).tags.count == 1)
        #expect(throws: TagExpressionError(.tooDeep, at: 32)) { try TagExpression(parsing: deepest + opener + "a") }
        #expect(throws: TagExpressionError(.tooDeep, at: 32)) {
            try TagExpression(parsing: String(repeating: opener, count: 2000))
        }
    }

    @Test func closedGroupsDoNotCountTowardsTheDepth() throws {
        let groups = (0..<20).map { "((((t\($0)))))" }.joined(separator: "||")
        #expect(try TagExpression(parsing: groups).tags.count == 20)
    }

    @Test func aMegabyteOfParenthesesIsRefusedByItsLength() {
        let bytes = [UInt8](repeating: UInt8(ascii: "("), count: 1 << 20)
        #expect(throws: TagExpressionError(.tooLong(byteCount: 1 << 20), at: 4096)) { try TagExpression(parsing: bytes) }
    }

    @Test func anExpressionCannotBeMadeOfNothing() throws {
        #expect(throws: TagExpressionError(.empty, at: 0)) { try TagExpression(anyOf: []) }
        let tags = try (0..<21).map { try HubTag("t\($0)") }
        #expect(throws: TagExpressionError(.tooManyTags(count: 21, limit: 20), at: 20)) { try TagExpression(anyOf: tags) }
        #expect(try TagExpression(anyOf: Array(tags.prefix(2))).description == "(t0 || t1)")
        #expect(try TagExpression(anyOf: [tags[3]]) == TagExpression(tags[3]))
    }

    @Test func matchingIgnoresCase() throws {
        let expression = try TagExpression(parsing: "World && !$UserId:{Alice}")
        #expect(expression.matches(["world"]))
        #expect(!expression.matches(["world", "$userid:{alice}"]))
        #expect(!expression.matches([]))
    }

    @Test func everyReasonHasItsOwnSentence() {
        let reasons: [TagExpressionError.SyntaxFault] = [
            .empty, .tooLong(byteCount: 5000), .expectedTag, .expectedOperator, .singleOperatorCharacter,
            .unmatchedClosingParenthesis, .unclosedParenthesis, .invalidCharacter, .tag(.malformedReservedTag), .tooDeep,
            .tooManyTags(count: 21, limit: 20), .tooManyTags(count: 7, limit: 6), .cannotBeSplit(size: 7), .tooManyParts,
            .tooIntricate, .reachesNobody,
        ]
        #expect(Set(reasons.map { TagExpressionError($0, at: 7).description }).count == reasons.count)
        #expect(TagExpressionError(.expectedTag, at: 7).description.contains("character 8"))
    }
}
