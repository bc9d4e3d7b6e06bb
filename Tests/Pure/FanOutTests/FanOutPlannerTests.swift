import FanOut
import PushModel
import Testing

struct FanOutPlannerTests {
    @Test func aBroadcastIsPlannedOnlyWhenItIsSaid() throws {
        var planning = Planning()
        try planning.plan(#""audience":{"broadcast":true}"#)
        #expect(planning.plan.calls.map(\.target) == [.broadcast, .broadcast, .broadcast])
        for audience in [
            #"{"users":["a"]}"#, #"{"categories":["a"]}"#, #"{"installations":["a"]}"#, #"{"tag_expression":"a"}"#,
            #"{"devices":[{"platform":"apple","handle":"aa"}]}"#,
        ] {
            try planning.plan(#""audience":\#(audience)"#)
            #expect(!planning.plan.calls.isEmpty)
            #expect(!planning.plan.calls.map(\.target).contains(.broadcast), "\(audience)")
        }
    }

    @Test func aRequestWithoutAnAudienceIsRefused() throws {
        var planning = Planning()
        planning.request.message = PushRequest.Message()
        let fault = try #require(throws: RequestFault.self) { try planning.planner.plan(planning.request, into: &planning.plan) }
        #expect(fault.pointer == "/audience")
        #expect(planning.plan.calls.isEmpty)
    }

    @Test(
        arguments: [
            ("", [.apple, .fcmv1, .windows]), (#","platforms":["windows","gcm"]"#, [.gcm, .windows]),
            (#","platforms":["apns","fcm","wns"]"#, [.apple, .fcmv1, .windows]),
            (#","payloads":{"adm":{"body":{}}}"#, [.adm]),
            (#","payloads":{"adm":{"body":{}},"fcm":{"body":{}}}"#, [.fcmv1, .adm]),
            (#","payloads":{"adm":{"body":{}},"apple":{"body":{}}},"platforms":["apple"]"#, [.apple]),
            (
                #","message":{"title":"t"},"payloads":{"baidu":{"body":{}},"apple":{"body":{}}}"#,
                [.apple, .fcmv1, .windows, .baidu]
            ),
        ] as [(String, [Platform])])
    func platformsAreThoseNamedElseThoseWithContent(members: String, platforms: [Platform]) throws {
        var planning = Planning()
        try planning.plan(#""audience":{"categories":["a"]}\#(members)"#)
        #expect(planning.plan.calls.map(\.platform) == platforms)
    }

    @Test func noPlatformIsAFaultAndNoSilentSuccess() throws {
        var configuration = FanOutPlanner.Configuration()
        configuration.defaultPlatforms = []
        var planning = Planning(configuration)
        let fault = try planning.fault(#""audience":{"broadcast":true}"#)
        #expect(fault.code == .schemaInvalid)
        #expect(fault.pointer == "/platforms")
    }

    @Test(arguments: [
        ("{\"broadcast\":true}", 1), (#"{"users":["a"]}"#, 1), ("{\"users\":\(list((0..<41).map { "u\($0)" }))}", 3),
    ])
    func aTemplateIsSentOnceForAllPlatforms(audience: String, count: Int) throws {
        var planning = Planning()
        try planning.plan(#""audience":\#(audience),"template":{"a":"b"}"#)
        #expect(planning.plan.calls.map(\.platform) == Array(repeating: nil, count: count))
    }

    @Test func aTemplateCannotGoToHandles() throws {
        var planning = Planning()
        let fault = try planning.fault(devices([("apple", "aa")]) + #","template":{"a":"b"}"#)
        #expect(fault.pointer == "/template")
    }

    @Test(arguments: [
        (1, [1]), (2, [2]), (1000, [1000]), (1001, [1000, 1]), (2500, [1000, 1000, 500]),
        (10_000, Array(repeating: 1000, count: 10)),
    ])
    func handlesAreBatchedByThousands(count: Int, sizes: [Int]) throws {
        var planning = Planning()
        let handles = (0..<count).map { "handle-\($0)" }
        try planning.plan(devices(handles.map { ("fcm", $0) }))
        #expect(planning.plan.calls.map { planning.handles(of: $0).count } == sizes)
        #expect(planning.plan.calls.flatMap { planning.handles(of: $0) } == handles)
        #expect(planning.plan.calls.map(\.chunk) == Array(0..<sizes.count))
        for call in planning.plan.calls {
            if case .device = call.target {
                #expect(planning.handles(of: call).count == 1)
            } else if case .devices(let batch) = call.target {
                #expect((2...1000).contains(batch.count))
            } else {
                Issue.record("\(call.target) is not for devices")
            }
        }
    }

    @Test func aHandleThatStandsThereTwiceIsSentToOnce() throws {
        var planning = Planning()
        try planning.plan(
            devices([("apns", "aa"), ("apple", "AA"), ("wns", "aa"), ("wns", "AA"), ("windows", "AA"), ("fcm", "aa")]))
        #expect(planning.plan.calls.map { planning.handles(of: $0) } == [["AA"], ["aa"], ["aa", "AA"]])
        guard case .device? = planning.plan.calls.first?.target else {
            Issue.record("one handle needs no batch")
            return
        }
    }

    @Test func handlesOfSeveralPlatformsGoTheirOwnWays() throws {
        var planning = Planning()
        try planning.plan(
            devices([("wns", "w1"), ("apple", "a1"), ("fcm", "f1"), ("apns", "a2"), ("windows", "w2"), ("fcmv1", "a1")]))
        #expect(planning.plan.calls.map(\.platform) == [.apple, .fcmv1, .windows])
        #expect(planning.plan.calls.map { planning.handles(of: $0) } == [["A1", "A2"], ["f1", "a1"], ["w1", "w2"]])
    }

    @Test func aReusedPlanForgetsTheOneBefore() throws {
        var planning = Planning.forApple
        try planning.plan(#""audience":{"users":\#(list((0..<60).map { "u\($0)" }))}"#)
        try planning.plan(#""audience":{"users":["z"]}"#)
        #expect(try planning.tags() == ["username:z"])
        _ = try planning.fault(#""audience":{"tag_expression":"("}"#)
        try planning.plan(#""audience":{"categories":["z"]}"#)
        #expect(try planning.tags() == ["z"])
    }

    @Test func configurationsAreEqualWhenTheyPlanAlike() {
        var other = FanOutPlanner.Configuration()
        #expect(other == FanOutPlanner.Configuration())
        other.userTag.suffix = "x"
        #expect(other != FanOutPlanner.Configuration())
    }
}
