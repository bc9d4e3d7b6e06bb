import HTTPServing
import HubAuth
import Testing

@testable import HubEmulator
@testable import HubServer

struct SendingTests {
    private func hub(_ configure: (inout HubEmulatorConfiguration) -> Void = { _ in }) throws -> TestHub {
        let hub = try TestHub(configure)
        try hub.register(
            "bob", "apns", tags: ["username:bob", "World"], user: "u-1", templates: ["news": #"{"aps":{"alert":"$(m)"}}"#])
        try hub.register("ann", "apns", tags: ["username:ann", "World", "Sports"])
        try hub.register(
            "tim", "fcmV1", tags: ["username:tim", "World"], templates: ["n": #"{"message":{"data":{"m":"$(m)"}}}"#])
        return hub
    }

    @Test(arguments: [
        (nil, ["ann", "bob"]), ("World", ["ann", "bob"]), ("WORLD", ["ann", "bob"]), ("username:bob", ["bob"]),
        ("username:bob || username:ann", ["ann", "bob"]), ("World && !Sports", ["bob"]),
        ("Sports||(World&&username:bob)", ["ann", "bob"]),
        ("$InstallationId:{ann}", ["ann"]), ("$UserId:{u-1}", ["bob"]), ("nobody", []), ("!World", []),
    ])
    func nativeSendsReachNativeRegistrationsOfTheirPlatform(_ tags: String?, _ expected: [String]) throws {
        let hub = try hub()
        let response = try hub.send("apple", to: tags)
        #expect(response.status == 201 && response.body.isEmpty)
        #expect(hub.rung.keys.sorted() == expected)
        #expect(hub.hub.rungCount == expected.count)
    }

    @Test func templateSendsReachTemplateRegistrationsOfEveryPlatform() throws {
        let hub = try hub()
        #expect(try hub.send("template", to: "World", #"{"M":"a\"b"}"#).status == 201)
        #expect(hub.rung == ["bob": [#"{"aps":{"alert":"a\"b"}}"#], "tim": [#"{"message":{"data":{"m":"a\"b"}}}"#]])
        try hub.send("template", to: "news", #"{"m":"by name"}"#)
        #expect(hub.rung["bob"]?.count == 2 && hub.rung["tim"]?.count == 1)
    }

    @Test(arguments: [("servicebusnotification-tags", "Tags"), ("ServiceBusNotification-Format", "Format")])
    func aFieldThatComesTwiceIsRefusedAndRingsNobody(name: String, named: String) throws {
        let hub = try hub()
        let answer = try hub.send("apple", to: "World", nil, [name: "apple"])
        #expect(answer.status == 400 && hub.rung.isEmpty)
        #expect(answer.detail == "The HTTP header \"ServiceBusNotification-\(named)\" is there more than once")
    }

    @Test func anAnswerHasIdLocationAndTrackingId() throws {
        let hub = try hub()
        let response = try hub.send("apple", to: nil, query: "/?direct&api-version=2020-06&x=1")
        #expect(response.status == 400)
        let sent = try hub.send("apple", query: "/?api-version=2020-06&x=1")
        let location = try #require(sent.headers["Location"])
        let match = try #require(
            location.wholeMatch(
                of: /http:\/\/127\.0\.0\.1\/newshub\/messages\/([0-9a-f]{32}-20260101000000-\d+-\d+)\?api-version=2020-06&x=1/))
        let tracking = try #require(sent.headers["TrackingId"])
        #expect(tracking.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(sent.headers["x-ms-correlation-request-id"] == tracking)
        #expect(sent.headers["Content-Type"] == "application/xml; charset=utf-8")
        let call = try #require(hub.hub.calls().last)
        #expect(call.notificationID == String(match.1))
        #expect(hub.hub.devices(handle: "handle-bob").first?.rung.first?.notificationID == String(match.1))
    }

    @Test(arguments: [
        ("Basic", 201, true), ("Free", 201, true), ("Standard", 201, false),
    ])
    func onlyTheStandardTierGivesALocation(_ tier: String, _ status: Int, _ isAbsent: Bool) throws {
        let hub = try hub { $0.tier = HubTier(rawValue: tier.lowercased()) ?? .standard }
        let response = try hub.send("apple")
        #expect(response.status == status)
        #expect((response.headers["Location"] == nil) == isAbsent)
    }

    @Test(arguments: [
        ("fcmlegacy", nil, "{}", 400), ("", nil, "{}", 400), ("apple", nil, "{", 400), ("apple", nil, "[]", 400),
        ("apple", nil, "", 400), ("windows", nil, "", 400), ("template", nil, #"{"a":1}"#, 400), ("template", nil, "x", 400),
        ("template", nil, #"{"a":{"b":"c"}}"#, 400), ("apple", "a b", "{}", 400), ("apple", "a+b", "{}", 400),
        ("apple", "a &&", "{}", 400), ("apple", "(a", "{}", 400), ("apple", "a&&b&&c&&d&&e&&f&&g", "{}", 400),
        ("fcmV1", nil, "{}", 201), ("FCMV1", nil, "{}", 201), ("baidu", nil, "a=b", 201),
    ])
    func whatTheHubRefusesIsRefused(_ format: String, _ tags: String?, _ body: String, _ status: Int) throws {
        #expect(try hub().send(format, to: tags, body).status == status)
    }

    @Test func refusalsHaveTheServicesWords() throws {
        let hub = try hub()
        #expect(
            try hub.send("fcmlegacy").detail
                == #"The HTTP header "ServiceBusNotification-Format" has an invalid value: "fcmlegacy". Allowed values are "#
                + #""windows", "apple", "gcm", "template", "adm", or "windowsphone". "#
                + #"This hub also takes "fcmv1", "browser", "baidu" and "xiaomi"."#)
        #expect(
            try hub.send("apple", to: "a+b").detail
                == "An invalid tag(s) 'a+b' was supplied. Valid tag characters are alphanumeric, _, @, -, ., : and #.")
        let error = try hub.send("apple", to: "a+b").text
        #expect(error.hasPrefix("<Error><Code>400</Code><Detail>An invalid"))
        #expect(error.hasSuffix(",TimeStamp:1/1/2026 12:00:00 AM</Detail></Error>"))
    }

    @Test(arguments: [(20, 201), (21, 400)])
    func twentyTagsJoinedByOrAreTheLimit(_ count: Int, _ status: Int) throws {
        let tags = (0..<count).map { "t\($0)" }.joined(separator: "||")
        #expect(try hub().send("apple", to: tags).status == status)
    }

    @Test(arguments: [(65_536, 201), (65_537, 413)])
    func aMessageHasAtMost64Kilobytes(_ count: Int, _ status: Int) throws {
        let body = #"{"a":""# + String(repeating: "x", count: count - 8) + #""}"#
        #expect(body.utf8.count == count)
        #expect(try hub().send("apple", to: nil, body).status == status)
    }

    @Test func directSendsNeedNoRegistration() throws {
        let hub = try hub()
        for query in ["?direct&api-version=2015-04", "?api-version=2020-06&direct=true", "?api-version=2015-01&direct="] {
            let sent = try hub.send(
                "fcmv1", #"{"message":{}}"#, ["ServiceBusNotification-DeviceHandle": "handle-new"], query: query)
            #expect(sent.status == 201)
            #expect(sent.headers["Location"]?.hasSuffix(query) == true)
        }
        #expect(hub.rung == ["new": Array(repeating: #"{"message":{}}"#, count: 3)])
        let wrong: HTTPFields = ["ServiceBusNotification-DeviceHandle": "{length=32,bytes=0x740f4707bebcf74f...e6a1}"]
        #expect(try hub.send("apple", nil, wrong, query: "?direct").status == 400)
        #expect(try hub.send("template", "{}", ["ServiceBusNotification-DeviceHandle": "h"], query: "?direct").status == 400)
    }

    @Test(arguments: ["Mixed", "clean", "sloppy"])
    func batchesAreReadInEveryClientsSpelling(_ spelling: String) throws {
        let hub = try hub()
        let (boundary, header, quote) =
            switch spelling {
            case "Mixed": ("nh-batch-multipart-boundary", #"multipart/mixed; boundary="nh-batch-multipart-boundary""#, "\"")
            case "clean": ("b1", "multipart/form-data; boundary=b1", "\"")
            default: ("nh-boundary-1", #"Multipart/Mixed; Boundary = "nh-boundary-1""#, "'")
            }
        let end = spelling == "sloppy" ? "\n" : "\r\n"
        let parts = [
            "--\(boundary)", "Content-Type: application/json", "Content-Disposition: inline; name=devices", "",
            "[\(quote)h1\(quote), \(quote)h2\(quote), \(quote)h1\(quote)]", "--\(boundary)",
            #"content-disposition: inline; name="notification""#, "", #"{"a":1}"#, "--\(boundary)--", "",
        ]
        let path = spelling == "clean" ? "messages/%24batch?direct" : "messages/$batch?direct"
        let response = try hub.call(
            "POST", path, ["Content-Type": header, "ServiceBusNotification-Format": "gcm"], parts.joined(separator: end))
        #expect(response.status == 201)
        #expect(response.headers["Location"]?.contains("/newshub/messages/$batch/") == true)
        #expect(hub.hub.devices().filter { $0.rungCount > 0 }.map(\.handle) == ["h1", "h2"])
        #expect(hub.hub.devices(handle: "h1").first?.rung.map(\.body) == [#"{"a":1}"#])
    }

    @Test(arguments: [(1000, 201), (1001, 400), (0, 400)])
    func aBatchHasUpToAThousandHandles(_ count: Int, _ status: Int) throws {
        let handles = (0..<count).map { "\"\(String(repeating: "A", count: 150))\(1000 + $0)\"" }.joined(separator: ",")
        let body =
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{\"aps\":{}}\r\n--b\r\n"
            + "Content-Disposition: inline; name=devices\r\n\r\n[\(handles)]\r\n--b--"
        let headers: HTTPFields = ["Content-Type": "multipart/mixed; boundary=b", "ServiceBusNotification-Format": "apple"]
        let hub = try hub()
        #expect(try hub.call("POST", "messages/$batch?direct", headers, body).status == status)
        #expect(hub.hub.rungCount == (status == 201 ? count : 0))
    }

    @Test func aBatchWithoutItsPartsHasTheServicesWords() throws {
        let headers: HTTPFields = ["Content-Type": "multipart/mixed; boundary=b", "ServiceBusNotification-Format": "apple"]
        let response = try hub().call("POST", "messages/$batch?direct", headers, "--b\r\n\r\n{}\r\n--b--")
        #expect(response.status == 400)
        #expect(response.detail == "Could not find a part of the multipart content supplied.")
        let test = try hub().call("POST", "messages/$batch?direct&test", headers, "--b\r\n\r\n{}\r\n--b--")
        #expect(test.status == 400 && test.detail == "The flag 'test' is not allowed in a batch's query")
        let free = try hub { $0.tier = .free }
        #expect(try free.call("POST", "messages/$batch?direct", headers, "").status == 403)
    }

    @Test func testSendsAnswerTheirOutcomeAndAreLimited() throws {
        let hub = try TestHub()
        for index in 0..<25 { try hub.register("d\(index)", "apns", tags: ["all"]) }
        for _ in 0..<10 {
            let response = try hub.send("apple", to: "all", query: "?test&api-version=2020-06")
            #expect(response.status == 201)
            #expect(response.text.contains("<Success>10</Success><Failure>0</Failure><Results><RegistrationResult>"))
            #expect(response.headers["Location"] == nil)
        }
        #expect(hub.hub.rungCount == 100)
        #expect(try hub.send("apple", to: "all", query: "?test&api-version=2020-06").status == 429)
        #expect(try hub.send("apple", to: "all", query: "?test&api-version=2015-01").status == 403)
        hub.advance(seconds: 61)
        #expect(try hub.send("apple", to: "none", query: "?test=").text.contains("<Results></Results>"))
    }

    @Test func scheduledMessagesRingWhenTheyAreDue() throws {
        let hub = try hub()
        func schedule(_ time: String, _ body: String) throws -> HTTPServerResponse {
            try hub.call(
                "POST", "schedulednotifications/",
                [
                    "ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": time,
                    "ServiceBusNotification-Tags": "username:bob",
                ], body)
        }
        let late = try schedule("2026-01-01T00:02:00", #"{"n":2}"#)
        let soon = try schedule("2026-01-01T01:01:00.000+01:00", #"{"n":1}"#)
        #expect(late.status == 201 && soon.status == 201)
        let id = try #require(
            late.headers["Location"]?.firstMatch(
                of: /schedulednotifications\/([0-9a-f]{32}_20260101000000_\d+_\d+_QNHQueue[0-9a-f]+-S\d+)\?/)
        ).1
        #expect(hub.rung.isEmpty)
        hub.advance(seconds: 60)
        #expect(hub.rung == ["bob": [#"{"n":1}"#]])
        #expect(hub.hub.devices(handle: "handle-bob").first?.rung.first?.milliseconds == TestHub.start + 60_000)
        #expect(try hub.call("DELETE", "schedulednotifications/\(id)").status == 200)
        #expect(try hub.call("DELETE", "schedulednotifications/\(id)").status == 404)
        hub.advance(seconds: 3600)
        #expect(hub.hub.rungCount == 1)
        for time in ["2026-01-01T00:00:00", "2026-01-09T00:00:00", "tomorrow", ""] {
            #expect(try schedule(time, "{}").status == 400)
        }
    }

    @Test func oneHandleRingsOncePerNotification() throws {
        let hub = try hub()
        try hub.hub.register(EmulatedDevice(id: "twin", platform: "apns", handle: "HANDLE-BOB", tags: ["World"]))
        try hub.send("apple", to: "World")
        #expect(hub.hub.devices(handle: "handle-bob").map(\.rungCount) == [1])
    }

    @Test(
        arguments: [
            ("apple", "apns", #"{"aps":{}}"#, ["apns-collapse-id": "c"] as HTTPFields, 1),
            ("windows", "wns", "<toast/>", ["X-WNS-Tag": "c", "X-WNS-Type": "wns/toast"], 1),
            ("fcmv1", "fcmV1", #"{"message":{"android":{"collapse_key":"k","notification":{"tag":"c"}}}}"#, [:], 1),
            ("gcm", "gcm", #"{"collapse_key":"k","notification":{"tag":"c"}}"#, [:], 1),
            ("gcm", "gcm", #"{"collapse_key":"k"}"#, [:], 2), ("apple", "apns", #"{"aps":{}}"#, [:], 2),
            ("windows", "wns", "<toast/>", ["X-WNS-Group": "c", "X-WNS-Type": "wns/toast"], 2),
        ] as [(String, String, String, HTTPFields, Int)])
    func aCollapseIdReplacesWhatIsVisible(
        _ format: String, _ platform: String, _ body: String, _ headers: HTTPFields, _ visible: Int
    ) throws {
        let hub = try TestHub()
        try hub.register("d", platform)
        try hub.send(format, to: nil, body, headers)
        try hub.send(format, to: nil, body, headers)
        let device = try #require(hub.hub.devices().first)
        #expect(device.rungCount == 2 && device.rung.count == 2 && device.visible.count == visible)
        #expect(device.visible.last?.callID == 2)
    }
}
