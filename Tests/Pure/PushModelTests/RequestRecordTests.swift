import PushModel
import Testing

@Suite struct RequestRecordTests {
    @Test func theSmallestRecordIsARequestWithTheDefaults() throws {
        var reading = Reading()
        let text =
            #"{"schema_version":1,"audience":{"users":["alice"]},"message":{"title":"Order shipped","body":"Your parcel"}}"#
        #expect(reading.read(text) == .request)
        let request = reading.request
        guard case .users(let users) = request.audience else { return #expect(Bool(false), "\(request.audience)") }
        #expect(reading.string(users) == #"["alice"]"#)
        let message = try #require(request.message)
        #expect(reading.string(message.title) == "Order shipped")
        #expect(reading.string(message.body) == "Your parcel")
        #expect(message.subtitle == nil && message.badge == nil && message.data == nil && !message.isSilent)
        #expect(reading.string(request.id) == "push.requests.v1:3:42")
        #expect(request.source == nil && request.tenant == nil && request.hub == nil && request.createdAt == nil)
        #expect(request.platforms.isEmpty && request.payloads == nil && request.template == nil)
        #expect(request.timeToLive == nil && request.expiresAt == nil && request.notBefore == nil)
        #expect(request.priority == .normal && !request.hasPriority)
        #expect(request.collapseKey == nil && request.orderingKey == nil && request.labels == nil && request.replay == nil)
        #expect(request.options == PushRequest.Options())
        #expect(!request.options.dryRun && !request.options.testSend && request.options.trackOutcome == nil)
        #expect(
            request.options.maxAttempts == nil && request.options.onAmbiguous == .stop
                && request.options.resultDetail == .attempts)
        #expect(request.traceParent == nil && request.traceState == nil && request.unknownFieldCount == 0)
    }

    @Test(arguments: [RequestReader.Strictness.tolerant, .strict])
    func theFullRecordIsReadFieldByField(strictness: RequestReader.Strictness) throws {
        var reading = Reading([], strictness)
        #expect(reading.read(fullRecord) == .request)
        let request = reading.request
        #expect(reading.string(request.id) == "01J8Z6Q7X1J3N5V7B9D1F3H5K7")
        #expect(reading.string(request.source) == "/orders")
        #expect(reading.string(request.hub) == "prod-shop")
        guard case .tagExpression(let expression) = request.audience else { return #expect(Bool(false), "\(request.audience)") }
        #expect(reading.string(expression) == "(follows_RedSox || follows_Cardinals) && location_Boston")
        #expect(request.platforms == [PlatformSet(.apple), PlatformSet(.fcmv1), PlatformSet(.windows)])
        let message = try #require(request.message)
        #expect(reading.string(message.title) == "Game tonight")
        #expect(reading.string(message.deepLink) == "app://games/42")
        #expect(reading.string(message.data) == #"{"game_id": "42"}"#)
        let payload = try #require(request.payload(for: .windows))
        #expect(reading.string(request.document.member("content_type", of: payload)) == "application/xml")
        #expect(request.payload(for: .apple) == nil)
        #expect(request.timeToLive == 3600)
        #expect(request.expiresAt?.milliseconds == Reading.recordTime + 3_600_000)
        #expect(request.notBefore == moment("2026-11-21T17:00:00Z"))
        #expect(request.priority == .high && request.hasPriority)
        #expect(reading.string(request.collapseKey) == "game-42")
        #expect(reading.string(request.orderingKey) == "game-42")
        #expect(request.options.maxAttempts == 6 && request.options.trackOutcome == true)
        #expect(reading.string(request.labels) == #"{"campaign": "mlb"}"#)
    }

    @Test func everyMessageFieldIsRead() throws {
        var reading = Reading()
        let fields =
            #""title":"a","subtitle":"b","body":"c","image_url":"https://x.example/é.png","deep_link":"d","sound":"default","#
        let rest = #""badge":0,"action_category":"e","thread_id":"f","silent":true,"data":{"k":"\u00e9"}"#
        #expect(reading.read(record(#""message":{"# + fields + rest + "}")) == .request)
        let message = try #require(reading.request.message)
        #expect(
            [message.title, message.subtitle, message.body, message.imageURL, message.deepLink, message.sound].map(reading.string)
                == ["a", "b", "c", "https://x.example/é.png", "d", "default"])
        #expect(message.badge == 0 && message.isSilent)
        #expect(reading.string(message.actionCategory) == "e" && reading.string(message.threadID) == "f")
        #expect(reading.string(message.data) == #"{"k":"\u00e9"}"#)
    }

    @Test func everyOptionIsRead() {
        var reading = Reading()
        let options =
            #"{"dry_run":true,"test_send":true,"max_attempts":20,"on_ambiguous":"retry","result_detail":"none","track_outcome":true}"#
        #expect(reading.read(record(#""options":"# + options)) == .request)
        var expected = PushRequest.Options()
        expected.dryRun = true
        expected.testSend = true
        expected.maxAttempts = 20
        expected.onAmbiguous = .retry
        expected.resultDetail = PushRequest.ResultDetail.none
        expected.trackOutcome = true
        #expect(reading.request.options == expected)
        #expect(reading.read(record(#""options":{"result_detail":"summary"}"#)) == .request)
        #expect(reading.request.options.resultDetail == .summary)
    }

    @Test(
        arguments: [
            ("apple", .apple), ("apns", .apple), ("fcmv1", .fcmv1), ("fcmV1", .fcmv1), ("fcm", .fcmv1), ("gcm", .gcm),
            ("windows", .windows),
            ("wns", .windows),
        ] as [(String, Platform)])
    func platformsAreKnownUnderTheHubsWordsAndTheUsualOnes(name: String, platform: Platform) {
        var reading = Reading()
        #expect(reading.read(record("\"platforms\":[\"\(name)\"]")) == .request)
        #expect(reading.request.platforms == PlatformSet(platform))
        #expect(reading.read(record("\"payloads\":{\"\(name)\":{\"body\":{}}}")) == .request)
        #expect(reading.request.payload(for: platform) != nil)
        #expect(Platform.allCases.filter { reading.request.payload(for: $0) != nil } == [platform])
    }

    @Test func everyPlatformTakesAPayloadOfItsOwn() {
        var reading = Reading()
        for platform in Platform.allCases {
            let name = "\(platform.name)"
            #expect(Platform(name: name) == platform)
            #expect(reading.read(record("\"platforms\":[\"\(name)\"],\"payloads\":{\"\(name)\":{\"body\":\"x\"}}")) == .request)
            #expect(reading.request.platforms.contains(platform))
        }
    }

    @Test func aRequestIsNotTouchedByTheOneBefore() throws {
        var reading = Reading()
        #expect(reading.read(fullRecord) == .request)
        #expect(reading.read(record()) == .request)
        let request = reading.request
        #expect(request.hub == nil && request.source == nil && request.payloads == nil && request.labels == nil)
        #expect(request.timeToLive == nil && request.expiresAt == nil && request.notBefore == nil && request.collapseKey == nil)
        #expect(request.platforms.isEmpty && !request.hasPriority && request.options == PushRequest.Options())
        #expect(reading.string(request.id) == "push.requests.v1:3:42")
        #expect(reading.read(record(#""audience":{"broadcast":true}"#)) == .request)
        #expect(reading.request.audience == .broadcast)
        _ = reading.read(record(#""audience":{}"#))
        #expect(reading.request.audience == PushRequest.Audience.none)
        _ = reading.read("")
        #expect(reading.request.message == nil && reading.request.audience == PushRequest.Audience.none)
    }

    @Test func theOtherContentsAreRead() {
        var reading = Reading()
        #expect(reading.read(record(#""template":{"headline":"x"}"#)) == .request)
        #expect(reading.string(reading.request.template) == #"{"headline":"x"}"#)
        #expect(reading.request.message == nil)
        let replay =
            #"{"root_request_id":"r","parent_request_id":"p","generation":2,"job_id":"j","actor":"a","reason":"why","modified":["/x"]}"#
        #expect(reading.read(record(#""replay":"# + replay)) == .request)
        #expect(reading.string(reading.request.replay) == replay)
        #expect(
            reading.read(record(#""tenant":"t-1","created_at":"2026-11-20T11:00:00Z","expires_at":"2026-11-20T13:00:00+01:00""#))
                == .request)
        #expect(reading.string(reading.request.tenant) == "t-1")
        #expect(reading.request.createdAt?.milliseconds == Reading.recordTime - 3_600_000)
        #expect(reading.request.expiresAt?.milliseconds == Reading.recordTime)
    }
}
