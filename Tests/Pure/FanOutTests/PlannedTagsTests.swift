import FanOut
import PushModel
import Testing

struct PlannedTagsTests {
    @Test(arguments: [
        (1, [1]), (2, [2]), (19, [19]), (20, [20]), (21, [20, 1]), (40, [20, 20]), (41, [20, 20, 1]),
        (320, Array(repeating: 20, count: 16)),
    ])
    func usersArePackedByTwenties(count: Int, sizes: [Int]) throws {
        var planning = Planning.forApple
        let users = (0..<count).map { "u\($0)" }
        try planning.plan(#""audience":{"users":\#(list(users))}"#)
        let tags = try planning.tags()
        let expressions = try tags.map { try TagExpression(parsing: $0) }
        #expect(expressions.map(\.tags.count) == sizes)
        #expect(expressions.flatMap { $0.tags.map(\.text) } == users.map { "username:\($0)" })
        #expect(planning.plan.calls.map(\.chunk) == Array(0..<sizes.count))
        for (text, expression) in zip(tags, expressions) {
            #expect(expression.isOrOnly)
            #expect(text == expression.description)
        }
    }

    @Test func aPlanWithMoreCallsThanOneRequestMakesIsLarge() throws {
        var planning = Planning.forApple
        try planning.plan(#""audience":{"users":\#(list((0..<320).map { "u\($0)" }))}"#)
        #expect(planning.plan.calls.count == 16 && !planning.planner.isLarge(planning.plan))
        try planning.plan(#""audience":{"users":\#(list((0..<321).map { "u\($0)" }))}"#)
        #expect(planning.plan.calls.count == 17 && planning.planner.isLarge(planning.plan))
    }

    @Test func everyPlatformCountsAgainstTheLimit() throws {
        var planning = Planning()
        try planning.plan(#""audience":{"users":\#(list((0..<100).map { "u\($0)" }))}"#)
        #expect(planning.plan.calls.count == 15 && !planning.planner.isLarge(planning.plan))
        try planning.plan(#""audience":{"users":\#(list((0..<101).map { "u\($0)" }))}"#)
        #expect(planning.plan.calls.count == 18 && planning.planner.isLarge(planning.plan))
    }

    @Test func oneTagNeedsNoParenthesesAndSeveralHaveThem() throws {
        var planning = Planning.forApple
        try planning.plan(#""audience":{"users":["alice"]}"#)
        #expect(try planning.tags() == ["username:alice"])
        try planning.plan(#""audience":{"users":["alice","bob"]}"#)
        #expect(try planning.tags() == ["(username:alice || username:bob)"])
    }

    @Test func categoriesAreTagsAsTheyStand() throws {
        var planning = Planning.forApple
        try planning.plan(#""audience":{"categories":["World","a_b@c#d.e:f-g"]}"#)
        #expect(try planning.tags() == ["(World || a_b@c#d.e:f-g)"])
    }

    @Test func installationsAreTheHubsReservedTags() throws {
        var planning = Planning.forApple
        let long = String(repeating: "x", count: 120)
        try planning.plan(#""audience":{"installations":["4f1c-22","\#(long)"]}"#)
        #expect(try planning.tags() == ["($InstallationId:{4f1c-22} || $InstallationId:{\(long)})"])
        let tags = try #require(try planning.tags().first)
        #expect(try TagExpression(parsing: tags).tags.count == 2)
    }

    @Test(arguments: [
        ("username:", "", 111), ("", "", 120), ("u.", ".v2", 115), ("$UserId:{", "}", 120), ("$userid:{", "}", 120),
    ])
    func usersTakeThePatternOfTheConfigurationAndTheLengthThatATagMayHave(prefix: String, suffix: String, longest: Int) throws {
        var configuration = FanOutPlanner.Configuration()
        configuration.userTag = (prefix, suffix)
        configuration.defaultPlatforms = PlatformSet(.fcmv1)
        var planning = Planning(configuration)
        let name = String(repeating: "n", count: longest)
        try planning.plan(#""audience":{"users":["\#(name)"]}"#)
        #expect(try planning.tags() == [prefix + name + suffix])
        #expect(try HubTag(prefix + name + suffix).text == prefix + name + suffix)
        // One that is longer has a digest.
        try planning.plan(#""audience":{"users":["\#(name)n"]}"#)
        let tag = try #require(try planning.tags().first)
        #expect(tag.hasPrefix(prefix + "h.") && tag.utf8.count == prefix.utf8.count + 66 + suffix.utf8.count)
    }

    @Test func aPatternWithoutRoomForADigestTakesNoLongName() throws {
        var configuration = FanOutPlanner.Configuration()
        configuration.userTag = (String(repeating: "p", count: 94), "")
        var planning = Planning(configuration)
        try planning.plan(#""audience":{"users":["\#(String(repeating: "n", count: 26))","é"]}"#)
        let fault = try planning.fault(#""audience":{"users":["a","\#(String(repeating: "n", count: 27))"]}"#)
        #expect(fault.code == .tagExpressionInvalid && fault.pointer == "/audience/users/1")
        #expect(fault.message.contains("160"))
    }

    /// Case counts in a name that is encoded, so neither is taken for the other.
    @Test func namesThatDifferInCaseAreOneUserOnlyWhereTheyAreTags() throws {
        var planning = Planning.forApple
        let others = (0..<20).map { "u\($0)" }
        try planning.plan(#""audience":{"users":\#(list(others + ["U3", "jürgen", "Jürgen"]))}"#)
        let tags = try planning.tags().flatMap { try TagExpression(parsing: $0).tags.map(\.text) }
        #expect(tags.dropFirst(20) == ["username:x.6ac3bc7267656e", "username:x.4ac3bc7267656e"])
    }

    @Test(arguments: [
        ("a", "a"), (" a ", "a"), ("a||b", "(a || b)"), ("a && b || c", "((a && b) || c)"), ("a || b && c", "(a || (b && c))"),
        ("((a))", "a"), ("!a", "!a"), ("!(a||b) && c", "(!(a || b) && c)"), ("$UserId:{x} && y", "($UserId:{x} && y)"),
    ])
    func anExpressionIsWrittenWithAllItsParentheses(text: String, written: String) throws {
        var planning = Planning.forApple
        try planning.plan(#""audience":{"tag_expression":"\#(text)"}"#)
        #expect(try planning.tags() == [written])
    }

    @Test func anExpressionBeyondTheLimitsIsSplitIfItCanBe() throws {
        var planning = Planning.forApple
        let many = (0..<21).map { "t\($0)" }
        try planning.plan(#""audience":{"tag_expression":"\#(many.joined(separator: " || "))"}"#)
        #expect(try planning.tags() == ["(\(many.prefix(20).joined(separator: " || ")))", "t20"])
        #expect(planning.plan.calls.map(\.chunk) == [0, 1])
        #expect(planning.plan.mayReachTwice)
        try planning.plan(#""audience":{"tag_expression":"a && b && c && d && e && !f"}"#)
        #expect(!planning.plan.mayReachTwice)
        let fault = try planning.fault(#""audience":{"tag_expression":"a && b && c && d && e && !f && g"}"#)
        #expect(fault.code == .tagLimitExceeded)
        #expect(fault.pointer == "/audience/tag_expression")
        #expect(fault.message.contains("7"))
        let lists = ["x", "y"].map { name in "(\((0..<30).map { "\(name)\($0)" }.joined(separator: " || ")))" }
        try planning.plan(#""audience":{"tag_expression":"\#(lists.joined(separator: " && "))"}"#)
        #expect(planning.plan.calls.count == 100 && planning.planner.isLarge(planning.plan))
    }

    @Test func namesThatStandThereTwiceAreSentOnceAcrossCalls() throws {
        var planning = Planning.forApple
        let users = (0..<20).map { "u\($0)" }
        try planning.plan(#""audience":{"users":\#(list(users + ["U3", "u20", "U19"]))}"#)
        #expect(try planning.tags().map { try TagExpression(parsing: $0).tags.count } == [20, 1])
        try planning.plan(#""audience":{"users":\#(list(users + ["U3", "U19"]))}"#)
        #expect(try planning.tags().count == 1)
    }

    @Test(arguments: [("username:", "", true), ("$UserId:{", "}", false)])
    func onlyTagsThatADeviceCanHaveSeveralOfMayReachItTwice(prefix: String, suffix: String, mayReachTwice: Bool) throws {
        var configuration = FanOutPlanner.Configuration()
        configuration.userTag = (prefix, suffix)
        configuration.defaultPlatforms = PlatformSet(.apple)
        var planning = Planning(configuration)
        try planning.plan(#""audience":{"users":\#(list((0..<21).map { "u\($0)" }))}"#)
        #expect(planning.plan.mayReachTwice == mayReachTwice)
        try planning.plan(#""audience":{"users":\#(list((0..<20).map { "u\($0)" }))}"#)
        #expect(!planning.plan.mayReachTwice)
    }

    @Test(arguments: ["a b", "a &", "(a", "a)", " ", "&&", "a+b", "é", "a\\r\\nX: y", "a\\u0000", "$x", "()"])
    func anInvalidExpressionIsRefusedWithItsFault(text: String) throws {
        var planning = Planning.forApple
        let fault = try planning.fault(#""audience":{"tag_expression":"\#(text)"}"#)
        #expect(fault.code == .tagExpressionInvalid)
        #expect(fault.pointer == "/audience/tag_expression")
        #expect(!fault.message.isEmpty)
    }
}
