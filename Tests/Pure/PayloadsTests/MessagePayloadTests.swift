import Payloads
import PushModel
import Testing

/// Rules of messages that a golden file alone would not explain.
struct MessagePayloadTests {
    @Test(
        arguments: [
            (#""priority":"high""#, "10", "1"), (#""priority":"normal""#, "5", "2"), (#""priority":"low""#, "1", "3"),
            (#""hub":"prod""#, "10", nil),
        ] as [(String, String, String?)])
    func priorityIsTheServicesOwnUnlessTheRequestNamesOne(_ member: String, _ apple: String, _ windows: String?) throws {
        let request = try broadcast(#""message":{"title":"Hi"},\#(member)"#)
        #expect(try rendered(request, .apple).header("apns-priority") == apple)
        #expect(try rendered(request, .windows).header("X-WNS-PRIORITY") == windows)
    }

    @Test(arguments: ["high", "normal", "low"])
    func backgroundPushAlwaysHasPriorityFive(_ priority: String) throws {
        let request = try broadcast(#""message":{"silent":true,"data":{"k":"v"}},"priority":"\#(priority)""#)
        #expect(try rendered(request, .apple).header("apns-priority") == "5")
        #expect(try rendered(request, .apple).header("apns-push-type") == "background")
    }

    @Test func applePushAlwaysHasAnExpiry() throws {
        let request = try broadcast(#""message":{"title":"Hi"}"#)
        let payload = try rendered(request, .apple)
        #expect(try payload.header("apns-expiration") == "\(noon.milliseconds / 1000 + 86_400)")
        #expect(try payload.header("ServiceBusNotification-Apns-Expiry") == "2026-11-21T12:00:00Z")
        let template = try renderedTemplate(broadcast(#""template":{"k":"v"}"#))
        #expect(try template.header("ServiceBusNotification-Apns-Expiry") == "2026-11-21T12:00:00Z")
    }

    @Test(
        arguments: [
            // Short and plain: as it is.
            (#""collapse_key":"game-42""#, "game-42", "21db143e23033064"),
            (#""collapse_key":"ABCdef0123456789""#, "ABCdef0123456789", "ABCdef0123456789"),
            // A quotation mark is plain in no JSON string, a blank at an end in no header.
            (#""collapse_key":"a\"b""#, "a_b-", nil),
            (#""collapse_key":" a ""#, "_a_-", nil),
        ] as [(String, String, String?)])
    func collapseKeyStandsAsItIsWhereItCan(_ member: String, _ start: String, _ tag: String?) throws {
        let request = try broadcast(#""message":{"title":"Hi"},\#(member)"#)
        let id = try #require(try rendered(request, .apple).header("apns-collapse-id"))
        #expect(id.hasPrefix(start) && id.utf8.count == (start.hasSuffix("-") ? start.utf8.count + 16 : start.utf8.count))
        let found = try #require(try rendered(request, .windows).header("X-WNS-Tag"))
        if let tag { #expect(found == tag) }
        #expect((1...16).contains(found.utf8.count) && found.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }

    @Test func longIdentityHas64BytesAndDependsOnItsEnd() throws {
        let long = String(repeating: "x", count: 127)
        let ids = try ["a", "b"].map { end in
            let request = try request(#"{"id":"\#(long)\#(end)","audience":{"broadcast":true},"message":{"title":"Hi"}}"#)
            return try #require(try rendered(request, .apple).header("apns-collapse-id"))
        }
        #expect(ids.allSatisfy { $0.utf8.count == 64 && $0.hasPrefix(String(repeating: "x", count: 47) + "-") })
        #expect(ids[0] != ids[1])
    }

    @Test func identityOf64BytesStandsAsItIs() throws {
        let id = String(repeating: "y", count: 64)
        let request = try request(#"{"id":"\#(id)","audience":{"broadcast":true},"message":{"title":"Hi"}}"#)
        #expect(try rendered(request, .apple).header("apns-collapse-id") == id)
    }

    @Test func requestsOfTwoSourcesWithOneIdDoNotReplaceOneAnother() throws {
        let ids = try ["", #","source":"/a""#, #","source":"/b""#].map { source in
            let request = try broadcast(#""message":{"title":"Hi"}\#(source)"#)
            return try #require(try rendered(request, .apple).header("apns-collapse-id"))
        }
        #expect(Set(ids).count == 3 && ids[0] == "r-1")
    }

    @Test func derivedIdentityNeverBecomesACollapseKeyOfFCM() throws {
        let request = try broadcast(#""message":{"title":"Hi"}"#)
        let body = try rendered(request, .fcmv1).body.text
        #expect(body.contains(#""tag":"r-1""#) && !body.contains("collapse_key"))
    }

    @Test func requestWithoutAnIdentityHasNoneOnTheDevice() throws {
        var configuration = PayloadFormatter.Configuration()
        configuration.derivesCollapseID = false
        let request = try broadcast(#""message":{"title":"Hi"}"#)
        #expect(try rendered(request, .apple, configuration).header("apns-collapse-id") == nil)
        #expect(try rendered(request, .windows, configuration).header("X-WNS-Tag") == nil)
        #expect(try rendered(request, .fcmv1, configuration).body.text == #"{"message":{"notification":{"title":"Hi"}}}"#)
        let alert = try broadcast(#""payloads":{"apple":{"body":{"aps":{"alert":"Hi"}}},"wns":{"body":"<toast/>"}}"#)
        #expect(try rendered(alert, .apple, configuration).header("apns-collapse-id") == nil)
        #expect(try rendered(alert, .windows, configuration).header("X-WNS-Tag") == nil)
        let keyed = try broadcast(#""message":{"title":"Hi"},"collapse_key":"k""#)
        #expect(try rendered(keyed, .apple, configuration).header("apns-collapse-id") == "k")
    }

    @Test(
        arguments: [
            (Platform.apple, "aps"), (.fcmv1, "from"), (.fcmv1, "message_type"), (.fcmv1, "google.x"), (.fcmv1, "gcm.x"),
            (.gcm, "from"), (.gcm, "message_type"), (.gcm, "googlex"), (.gcm, "gcm"),
        ])
    func dataKeyThatThePlatformKeepsForItselfIsRefused(_ platform: Platform, _ key: String) throws {
        let request = try broadcast(#""message":{"title":"Hi","data":{"fine":"x","\#(key)":"x"}}"#)
        let error = try payloadError { try rendered(request, platform) }
        #expect(error.code == .payloadRejected && error.pointer == "/message/data/\(key)")
    }

    @Test(
        arguments: [
            (Platform.apple, ["from", "gcm", "APS", "aps.x"]), (.fcmv1, ["aps", "From", "fromage", "googlex", "gcmx"]),
            (.windows, ["aps", "from", "google.x"]),
        ])
    func otherDataKeysAreFree(_ platform: Platform, _ keys: [String]) throws {
        for key in keys {
            let request = try broadcast(#""message":{"title":"Hi","data":{"\#(key)":"x"}}"#)
            #expect(try rendered(request, platform).body.text.contains(key))
        }
    }

    @Test(arguments: [Platform.apple, .fcmv1, .gcm, .windows])
    func dataThatIsNoStringIsRefusedEvenIfNobodyReadItBefore(_ platform: Platform) throws {
        for value in ["1", "null", "true", "[]", "{\"a\":\"b\"}"] {
            let request = try unread("{\"message\":{\"data\":{\"k\":\(value)}}}")
            let error = try payloadError { try rendered(request, platform) }
            #expect(error.code == .payloadRejected && error.pointer == "/message/data/k")
        }
    }

    @Test(arguments: [Platform.apple, .fcmv1, .gcm, .windows])
    func fieldAndDataKeyOfOneNameAreRefusedOnlyWhereTheyWouldMeet(_ platform: Platform) throws {
        let met = try broadcast(#""message":{"title":"Hi","deep_link":"a:b","data":{"deep_link":"c:d"}}"#)
        let error = try payloadError { try rendered(met, platform) }
        #expect(error.pointer == "/message/data/deep_link")
        let apart = try broadcast(#""message":{"title":"Hi","data":{"deep_link":"elsewhere","title":"x"}}"#)
        #expect(try rendered(apart, platform).body.text.contains("elsewhere"))
    }

    @Test(arguments: [#""template":{"k":1}"#, #""template":{"k":{"a":"b"}}"#, #""template":{}"#, #""template":[]"#])
    func templateOfAnythingButStringsIsRefusedEvenIfNobodyReadItBefore(_ member: String) throws {
        let request = try unread("{\(member)}")
        #expect(try payloadError { try renderedTemplate(request) }.code == .payloadRejected)
    }

    @Test func contentIsFoundUnderEveryNameOfAPlatform() throws {
        let request = try broadcast(#""message":{"title":"Hi"},"payloads":{"adm":{"body":{"data":{}}}}"#)
        let found = Platform.allCases.filter { PayloadFormatter.hasContent(request, for: $0) }
        #expect(found == [.apple, .fcmv1, .gcm, .windows, .adm])
        let template = try broadcast(#""template":{"k":"v"}"#)
        #expect(Platform.allCases.allSatisfy { !PayloadFormatter.hasContent(template, for: $0) })
    }

    @Test(arguments: [(0, true), (86_400, true), (2_592_000, true), (-1, false), (2_592_001, false)] as [(Int64, Bool)])
    func lifetimeOutOfRangeIsNamed(_ seconds: Int64, _ isValid: Bool) {
        var configuration = PayloadFormatter.Configuration()
        configuration.defaultLifetimeSeconds = seconds
        #expect(configuration.validate().isEmpty == isValid)
    }
}
