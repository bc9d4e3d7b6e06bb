import HTTPServing
import HubAuth
import HubREST
import PushModel
import Testing

@testable import HubEmulator
@testable import HubServer

extension TestHub {
    /// The id in an answer's `Location`.
    static func id(_ response: HTTPServerResponse) throws -> String {
        let path = try #require(response.headers["Location"]).prefix { $0 != "?" }
        return String(try #require(path.split(separator: "/").last))
    }

    /// Asks for a notification's telemetry.
    func telemetry(_ id: String, version: String = "2020-06") throws -> HTTPServerResponse {
        try call("GET", "messages/\(id)?api-version=\(version)")
    }

    /// State and counts as telemetry shows them: `Completed apple.Success=2`; the status when it is not 200.
    func progress(_ id: String) throws -> String {
        let response = try telemetry(id)
        guard response.status == 200 else { return String(response.status) }
        let details = try #require(Markup.read(response.body))
        var words = [details.value("State") ?? ""]
        for list in details.children where list.name.hasSuffix("OutcomeCounts") {
            for outcome in list.children {
                words.append("\(list.name.prefix { $0 != "O" }).\(outcome.value("Name") ?? "")=\(outcome.value("Count") ?? "")")
            }
        }
        return words.joined(separator: " ")
    }
}

struct TelemetryTests {
    private func hub(_ script: String..., configure: (inout HubEmulatorConfiguration) -> Void = { _ in }) throws -> TestHub {
        let hub = try TestHub(configure)
        try hub.register("bob", "apns", tags: ["World"], templates: ["t": #"{"aps":{"alert":"$(m)"}}"#])
        try hub.register("ann", "apns", tags: ["World", "Sports"])
        try hub.register("tim", "fcmV1", tags: ["World"], templates: ["t": #"{"message":{"data":{"m":"$(m)"}}}"#])
        hub.hub.script(try script.map { try TelemetryScript(parsing: $0) })
        return hub
    }

    @Test func aNotificationIsToldInTheOrderOfItsContract() throws {
        let hub = try hub("refuse=ExpiredChannel,device=handle-ann", "state=Processing/123ms")
        let sent = try hub.send("apple", to: "World && !Nobody", #"{"a":"<&é"}"#)
        let id = try TestHub.id(sent)
        hub.advance(seconds: 1)
        let answer = try hub.telemetry(id)
        #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/xml; charset=utf-8")
        let uri = try #require(Markup.read(answer.body)?.value("PnsErrorDetailsUri"))
        #expect(
            answer.text == #"<?xml version="1.0" encoding="utf-8"?><NotificationDetails "#
                + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" "#
                + #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><NotificationId>\#(id)</NotificationId>"#
                + "<Location>sb://127.0.0.1/newshub/messages/\(id)?api-version=2020-06</Location><State>Completed</State>"
                + "<EnqueueTime>2026-01-01T00:00:00Z</EnqueueTime><StartTime>2026-01-01T00:00:00Z</StartTime>"
                + "<EndTime>2026-01-01T00:00:00.1230000Z</EndTime><NotificationBody>{\"a\":\"&lt;&amp;é\"}</NotificationBody>"
                + "<Tags>World &amp;&amp; !Nobody</Tags><TargetPlatforms>apple</TargetPlatforms><ApnsOutcomeCounts>"
                + "<Outcome><Name>Success</Name><Count>1</Count></Outcome><Outcome><Name>ExpiredChannel</Name><Count>1</Count>"
                + "</Outcome></ApnsOutcomeCounts><PnsErrorDetailsUri>\(uri.replacing("&", with: "&amp;"))</PnsErrorDetailsUri>"
                + "</NotificationDetails>")
    }

    @Test(arguments: [
        ("apple", "World", "Completed Apns.Success=2", "apple"), ("fcmv1", "World", "Completed FcmV1.Success=1", "fcmv1"),
        ("windows", "World", "NoTargetFound", "windows"), ("apple", "nobody", "NoTargetFound", "apple"),
        ("template", "World", "Completed Apns.Success=1 FcmV1.Success=1", "appletemplate,fcmv1template"),
        ("template", "nobody", "NoTargetFound", "template"),
    ])
    func withoutAScriptItTellsWhatRang(_ format: String, _ tags: String, _ expected: String, _ platforms: String) throws {
        let hub = try hub()
        let body = format == "fcmv1" ? #"{"message":{}}"# : #"{"m":"x"}"#
        let id = try TestHub.id(try hub.send(format, to: tags, body, ["X-WNS-Type": "wns/raw"]))
        #expect(try hub.progress(id) == expected)
        let details = try #require(Markup.read(try hub.telemetry(id).body))
        #expect(details.value("TargetPlatforms") == platforms && details.value("Tags") == tags)
        #expect(details.value("PnsErrorDetailsUri") == nil)
    }

    @Test func directSendsAndBatchesAreToldToo() throws {
        let hub = try hub()
        let direct = try hub.send("apple", nil, ["ServiceBusNotification-DeviceHandle": "aa"], query: "?direct")
        #expect(try hub.progress(try TestHub.id(direct)) == "Completed Apns.Success=1")
        let body = """
            --b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n{"aps":{}}\r\n--b\r\n\
            Content-Disposition: inline; name=devices\r\n\r\n["aa","bb","AA"]\r\n--b--\r\n
            """
        let batch = try hub.call(
            "POST", "messages/$batch?direct",
            ["ServiceBusNotification-Format": "apple", "Content-Type": "multipart/mixed; boundary=b"], body)
        #expect(try hub.progress(try TestHub.id(batch)) == "Completed Apns.Success=2 Apns.Skipped=1")
        let details = try #require(Markup.read(try hub.telemetry(try TestHub.id(batch)).body))
        #expect(details.child("Tags") == nil)
    }

    @Test func aSecondRegistrationOfAHandleIsSkipped() throws {
        let hub = try hub()
        try hub.hub.register(EmulatedDevice(id: "twin", platform: "apns", handle: "HANDLE-BOB", tags: ["World"]))
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        #expect(try hub.progress(id) == "Completed Apns.Success=2 Apns.Skipped=1")
    }

    @Test(arguments: [
        ("hidden=2s", "404 404 Completed Completed Completed"),
        ("hidden", "404 404 404 404 404"),
        ("state=Enqueued/1s,state=Processing/2s", "Enqueued Processing Processing Completed Completed"),
        ("hidden=1s,state=Processing/1s,state=Abandoned", "404 Processing Abandoned Abandoned Abandoned"),
        ("state=Unknown", "Unknown Unknown Unknown Unknown Unknown"),
        ("state=NoTargetFound", "NoTargetFound NoTargetFound NoTargetFound NoTargetFound NoTargetFound"),
        (
            "state=DetailedStateAvailable/4s",
            "DetailedStateAvailable DetailedStateAvailable DetailedStateAvailable "
                + "DetailedStateAvailable Completed"
        ),
        ("state=Cancelled", "Cancelled Cancelled Cancelled Cancelled Cancelled"),
        ("state=Frozen/1s", "Frozen Completed Completed Completed Completed"),
    ])
    func theScriptSaysWhichStateComesWhen(_ script: String, _ expected: String) throws {
        let hub = try hub(script)
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        var seen: [String] = []
        for _ in 0..<5 {
            seen.append(String(try hub.progress(id).prefix { $0 != " " }))
            hub.advance(seconds: 1)
        }
        #expect(seen.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        "Success", "AbandonedNotificationMessages", "BadChannel", "ChannelDisconnected", "ChannelThrottled", "Dropped",
        "ExpiredChannel", "InvalidCredentials", "InvalidNotificationSize", "InvalidNotificationFormat", "NoTargets",
        "PnsInterfaceError", "PnsServerError", "PnsUnavailable", "PnsUnreachable", "Skipped", "Throttled", "UnknownError",
        "WrongToken", "Melted",
    ])
    func everyOutcomeNameCanBeCounted(_ name: String) throws {
        let hub = try hub("state=Processing/1s,apple.\(name)=1,state=Completed,apple.\(name)=3,fcmv1.\(name)=2")
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        #expect(try hub.progress(id) == "Processing Apns.\(name)=1")
        hub.advance(seconds: 1)
        #expect(try hub.progress(id) == "Completed Apns.\(name)=3 FcmV1.\(name)=2")
        #expect(try hub.telemetry(id).text.contains("PnsErrorDetailsUri") == (name != "Success"))
    }

    @Test(arguments: HubPlatform.allCases)
    func everyPlatformHasItsList(_ platform: HubPlatform) throws {
        let hub = try hub("state=Completed,\(platform.format).Success=1")
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        #expect(try hub.progress(id) == "Completed \(platform.countsElement.prefix { $0 != "O" }).Success=1")
    }

    @Test func countsAreThoseOfTheStepOrNone() throws {
        let hub = try hub("state=Processing/1s,state=Completed,counts=none")
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        #expect(try hub.progress(id) == "Processing")
        hub.advance(seconds: 1)
        #expect(try hub.progress(id) == "Completed")
    }

    @Test func timesComeWithTheStates() throws {
        let hub = try hub("state=Enqueued/1s,state=Processing/1s")
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        var seen: [String] = []
        for _ in 0..<3 {
            let details = try #require(Markup.read(try hub.telemetry(id).body))
            seen.append(
                ["EnqueueTime", "StartTime", "EndTime"].map { String(details.value($0)?.suffix(3) ?? "-") }.joined(separator: " ")
            )
            hub.advance(seconds: 1)
        }
        #expect(seen == ["00Z - -", "00Z 01Z -", "00Z 01Z 02Z"])
    }

    @Test(arguments: [("", "Canceled"), ("canceled=Cancelled", "Cancelled")])
    func aScheduledNotificationIsToldUntilItIsTakenBack(_ script: String, _ word: String) throws {
        let hub = script.isEmpty ? try hub() : try hub(script)
        func schedule() throws -> String {
            let headers: HTTPFields = [
                "ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": "2026-01-01T00:01:00",
                "ServiceBusNotification-Tags": "World",
            ]
            return try TestHub.id(try hub.call("POST", "schedulednotifications", headers, #"{"aps":{}}"#))
        }
        let (kept, taken) = (try schedule(), try schedule())
        #expect(try hub.progress(kept) == "Scheduled" && hub.progress(taken) == "Scheduled")
        #expect(try hub.call("DELETE", "schedulednotifications/\(taken)").status == 200)
        #expect(try hub.progress(taken) == word)
        hub.advance(seconds: 60)
        #expect(try hub.progress(kept) == "Completed Apns.Success=2" && hub.progress(taken) == word)
        let details = try #require(Markup.read(try hub.telemetry(kept).body))
        #expect(details.value("EnqueueTime") == "2026-01-01T00:01:00Z")
    }

    @Test(arguments: [
        ("2016-07", "2016-07", true), ("2020-06", "2016-07", true), ("2015-01", "2020-06", false), ("2020-06", "2015-01", false),
    ])
    func errorDetailsNeedTheirVersionOnSendAndQuestion(_ send: String, _ question: String, _ isTold: Bool) throws {
        let hub = try hub("refuse=WrongToken,device=handle-bob")
        let id = try TestHub.id(try hub.send("apple", to: "World", query: "?api-version=\(send)"))
        let answer = try hub.telemetry(id, version: question)
        #expect(answer.status == 200 && answer.text.contains("WrongToken"))
        #expect(answer.text.contains("<PnsErrorDetailsUri>") == isTold)
    }

    @Test(arguments: [("2015-01", 403), ("2020-06", 429)])
    func throttlingLooksAsTheVersionHasIt(_ version: String, _ status: Int) throws {
        let hub = try hub()
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        hub.hub.arm([try Fault(parsing: "throttle,method=GET,path=/messages/,retry-after=7")])
        let answer = try hub.telemetry(id, version: version)
        #expect(answer.status == status && answer.headers["Retry-After"] == "7")
        #expect(try hub.send("apple", to: "World").status == 201)
    }

    @Test(arguments: [
        ("4995f50796f046d6a61aa7580af3c9c7-20260101000000-586152-24", 404),
        ("4995f50796f046d6a61aa7580af3c9c7_20260101000000_586152_24_QNHQueueab-S1", 404), ("x", 400),
        ("4995F50796F046D6A61AA7580AF3C9C7-1", 400), ("4995f50796f046d6a61aa7580af3c9c7", 400),
        ("4995f50796f046d6a61aa7580af3c9c7-%00", 400),
        ("4995f50796f046d6a61aa7580af3c9c7-\(String(repeating: "1", count: 200))", 400),
    ])
    func anIDIsUnknownOrMalformed(_ id: String, _ status: Int) throws {
        #expect(try hub().telemetry(id).status == status)
    }

    @Test(arguments: [("free", 403), ("basic", 403), ("standard", 404)])
    func onlyTheStandardTierHasTelemetryAndFeedback(_ tier: String, _ status: Int) throws {
        let hub = try hub { $0.tier = HubTier(rawValue: tier) ?? .standard }
        let answer = try hub.telemetry("4995f50796f046d6a61aa7580af3c9c7-1")
        #expect(answer.status == status && answer.headers["Retry-After"] == nil)
        #expect(try hub.call("GET", "feedbackcontainer").status == (status == 404 ? 200 : 403))
    }

    @Test(arguments: [("Listen", 403), ("Send", 404), ("Manage", 404)])
    func sendersAndManagersMayAsk(_ rights: String, _ status: Int) throws {
        let policy = try #require(HubPolicy(parsing: "p=k==:\(rights)"))
        let hub = try TestHub { $0.policies = [policy] }
        let answer = try hub.telemetry("4995f50796f046d6a61aa7580af3c9c7-1")
        #expect(answer.status == status && answer.body.isEmpty == (status == 403))
    }

    @Test func memoryOfNotificationsIsBounded() throws {
        let hub = try hub { $0.maximumRecords = 10 }
        let ids = try (0..<25).map { _ in try TestHub.id(try hub.send("apple", to: "World")) }
        let known = try ids.map { try hub.telemetry($0).status == 200 }
        #expect(known == Array(repeating: false, count: 15) + Array(repeating: true, count: 10))
    }

    @Test func nothingIsKeptForMeasurements() throws {
        let hub = try hub { $0.recording = .off }
        #expect(try hub.telemetry(try TestHub.id(try hub.send("apple", to: "World"))).status == 404)
    }

    /// Workers ask for a notification that there never was, to see whether the hub works. Nobody is to take it for a send that failed.
    @Test func aProbeIsRecordedAsOneAndIsNoSend() throws {
        let hub = try hub()
        let connection = try ConnectionString(parsing: hub.hub.connectionString)
        let configuration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("newshub"), credential: connection.credential)
        var client = try HubClient(configuration, userAgent: "pushfan/test")
        var writer = ByteWriter()
        _ = try client.writeQuestion(now: TestHub.start / 1000, into: &writer)
        let target = String(try #require(writer.text.split(separator: " ").dropFirst().first))
        #expect(try hub.call("GET", target).status == 404)
        _ = try hub.call("GET", "installations/pushfan-gateway-readiness")
        _ = try hub.call("GET", "installations/somebody")
        _ = try hub.send("apple", to: "World")
        let calls = hub.hub.calls()
        #expect(calls.map { "\($0.operation)" } == ["probe", "probe", "installation.get", "send"])
        #expect(calls.map(\.isSend) == [false, false, false, true])
    }

    @Test func aQuestionIsRecordedAsOneAndRingsNothing() throws {
        let hub = try hub()
        let id = try TestHub.id(try hub.send("apple", to: "World"))
        _ = try hub.telemetry(id)
        let calls = hub.hub.calls()
        try #require(calls.map { "\($0.operation)" } == ["send", "telemetry"])
        #expect(calls[1].notificationID == nil && calls[1].rungCount == 0 && hub.hub.rungCount == 2)
    }
}
