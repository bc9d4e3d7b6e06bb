import Payloads
import PushModel
import Testing

/// What is refused of native payloads, and where the error points.
struct NativePayloadTests {
    @Test(
        arguments: [
            // Bodies that are nothing the platform takes.
            (Platform.apple, #"{"body":"[]"}"#, "/body", "JSON object"),
            (.apple, #"{"body":"\"text\""}"#, "/body", "JSON object"),
            (.apple, #"{"body":"{}"}"#, "/body", "empty"),
            (.apple, #"{"body":{}}"#, "/body", "empty"),
            (.apple, #"{"body":""}"#, "/body", "not empty"),
            (.apple, #"{"body":"{\"aps\":{}} x"}"#, "/body", "not JSON"),
            (.apple, #"{"body":"{\"aps\":\"\\ud800\"}"}"#, "/body", "not JSON"),
            (.apple, #"{"body":"\#(String(repeating: "[", count: 3000))"}"#, "/body", "not JSON"),
            (.apple, #"{"body":{"aps":{}},"content_type":"application/xml"}"#, "/content_type", "JSON"),
            (.adm, #"{"body":"[1]"}"#, "/body", "JSON object"),
            (.baidu, #"{"body":"a=b"}"#, "/body", "not JSON"),
            // Targets and data of FCM.
            (.fcmv1, #"{"body":{}}"#, "/body", "message"),
            (.fcmv1, #"{"body":{"notification":{}}}"#, "/body", "message"),
            (.fcmv1, #"{"body":{"message":[]}}"#, "/body/message", "object"),
            (.fcmv1, #"{"body":{"message":{"token":"t"}}}"#, "/body/message/token", "target"),
            (.fcmv1, #"{"body":{"message":{"topic":"t"}}}"#, "/body/message/topic", "target"),
            (.fcmv1, #"{"body":{"message":{"condition":"'a' in topics"}}}"#, "/body/message/condition", "target"),
            (.fcmv1, #"{"body":{"message":{"fid":"f"}}}"#, "/body/message/fid", "target"),
            (.fcmv1, #"{"body":"{\"message\":{\"token\":\"t\"}}"}"#, "/body", "/message/token"),
            (.fcmv1, #"{"body":"{\"message\":{},\"message\":{\"token\":\"t\"}}"}"#, "/body", "target"),
            (.fcmv1, #"{"body":{"message":{"data":[]}}}"#, "/body/message/data", "object"),
            (.fcmv1, #"{"body":{"message":{"data":{"n":1}}}}"#, "/body/message/data/n", "string"),
            (.fcmv1, #"{"body":{"message":{"data":{"from":"x"}}}}"#, "/body/message/data/from", "reserved"),
            (.fcmv1, #"{"body":{"message":{"data":{"gcm.x/y":"x"}}}}"#, "/body/message/data/gcm.x~1y", "reserved"),
            (.gcm, #"{"body":{"to":"/topics/all"}}"#, "/body/to", "target"),
            (.gcm, #"{"body":{"registration_ids":[]}}"#, "/body/registration_ids", "target"),
            // XML of Windows.
            (.windows, #"{"body":{"k":"v"}}"#, "/body", "wns/raw"),
            (.windows, #"{"body":"hello"}"#, "/body", "wns/raw"),
            (.windows, #"{"body":"<toast>"}"#, "/body", "ends at byte 7"),
            (.windows, #"{"body":"</toast>"}"#, "/body", "closing tag at byte 2"),
            (.windows, #"{"body":"<toast/><toast/>"}"#, "/body", "second root element at byte 9"),
            (.windows, #"{"body":"<toast/>text"}"#, "/body", "outside its root element at byte 8"),
            (.windows, #"{"body":"<toast a='>"}"#, "/body", "ends at byte 11"),
            (.windows, #"{"body":"<toast><text></toast>"}"#, "/body", "closing tag at byte 15"),
            (.windows, #"{"body":"<!DOCTYPE toast><toast/>"}"#, "/body", "document type"),
            (.windows, #"{"body":"<!-- <toast/>"}"#, "/body", "ends at byte 13"),
            (.windows, #"{"body":"<"}"#, "/body", "name must begin at byte 1"),
            (.windows, #"{"body":"<toast>Tom & Jerry</toast>"}"#, "/body", "bare & at byte 11; write &amp;."),
            (.windows, #"{"body":"<toast launch='?a=1&b=2'/>"}"#, "/body", "bare & at byte 19"),
            (.windows, #"{"body":"<toast>&nbsp;</toast>"}"#, "/body", "reference at byte 7"),
            (.windows, #"{"body":"<toast>\u000b</toast>"}"#, "/body", "character at byte 7"),
            (.windows, #"{"body":"<toast>&#11;</toast>"}"#, "/body", "reference at byte 7"),
            (.windows, #"{"body":" <?xml version='1.0'?><toast/>"}"#, "/body", "declaration at byte 1 must be the first thing"),
            (.windows, #"{"body":"<?xml version='1.0' encoding='utf-16'?><toast/>"}"#, "/body", "encoding declared at byte 30"),
            (.windows, #"{"body":"<toast a='1' a='2'/>"}"#, "/body", "attribute at byte 13"),
            (.windows, #"{"body":"<badge value=7/>"}"#, "/body", "quotation marks at byte 13"),
            (.windows, #"{"body":"<tile></tile >&#32;"}"#, "/body", "outside"),
            (.windows, #"{"body":"<toast>]]></toast>"}"#, "/body", "]]>"),
            (.windows, #"{"body":"<toast>&</toast>","headers":{"X-WNS-Type":"wns/toast"}}"#, "/body", "bare &"),
            (.windows, #"{"body":"<toast>&</toast>","content_type":"application/octet-stream"}"#, "/body", "bare &"),
            (.windows, #"{"body":"<toaster/>"}"#, "/body", "root"),
            (.windows, #"{"body":"<tile/>","headers":{"X-WNS-Type":"wns/toast"}}"#, "/body", "tile"),
            (.windows, #"{"body":"<tile/>","headers":{"X-WNS-Type":"wns/phone"}}"#, "/headers/X-WNS-Type", "one of"),
        ])
    func impossibleBodyIsRefusedWhereItsFaultStands(
        _ platform: Platform, _ payload: String, _ pointer: String, _ words: String
    ) throws {
        let request = try unread("{\"payloads\":{\"\(platform.name)\":\(payload)}}")
        let error = try payloadError { try rendered(request, platform) }
        #expect(error.code == .payloadRejected && error.measuredByteCount == nil)
        #expect(error.pointer == "/payloads/\(platform.name)" + pointer)
        #expect(error.sentence.contains(words), "\(error.sentence)")
    }

    @Test(
        arguments: [
            "Authorization", "authorization", "HOST", "Content-Length", "content-type", "Content-Encoding", "Transfer-Encoding",
            "Connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "Expect", "Proxy-Authorization", "Cookie", "User-Agent",
            "TrackingId", "x-ms-version", "X-HTTP-Method-Override", "ServiceBusNotification-Tags",
            "servicebusnotification-format", "ServiceBusNotification-DeviceHandle", "ServiceBusNotification-ScheduleTime",
            "ServiceBusNotification-Anything", "ServiceBusNotification-Apns-Expiry2",
            // No tokens.
            "", " ", "a b", "a:", "a:b", "x\\r\\nHost", "x\\nHost", "x\\u0000", "x\\t", "\\u00e9", "(x)", "x/y", "x\\\"",
        ])
    func headerThatTheHubCallOwnsOrThatIsNoTokenIsRefused(_ name: String) throws {
        let json = #"{"payloads":{"apple":{"body":{"aps":{}},"headers":{"apns-topic":"t","\#(name)":"v"}}}}"#
        let request = try unread(json)
        let error = try payloadError { try rendered(request, .apple) }
        #expect(error.code == .payloadRejected)
        #expect(error.pointer.hasPrefix("/payloads/apple/headers/"))
    }

    @Test(
        arguments: [
            #""a\r\nAuthorization: b""#, #""a\nb""#, #""a\rb""#, #""a\u0000b""#, #""\u007f""#, #""\u001b[2J""#, #""é""#,
            #""\u2028""#, "1", "true", "null", "[]", "{}",
        ])
    func headerValueThatCouldEndALineIsRefused(_ value: String) throws {
        let request = try unread(#"{"payloads":{"apple":{"body":{"aps":{}},"headers":{"apns-topic":\#(value)}}}}"#)
        let error = try payloadError { try rendered(request, .apple) }
        #expect(error.code == .payloadRejected && error.pointer == "/payloads/apple/headers/apns-topic")
    }

    @Test func headerThatStandsTwiceIsRefusedWhateverItsCase() throws {
        let request = try unread(#"{"payloads":{"apple":{"body":{"aps":{}},"headers":{"apns-id":"1","APNS-ID":"2"}}}}"#)
        let error = try payloadError { try rendered(request, .apple) }
        #expect(error.pointer == "/payloads/apple/headers/apns-id" && error.sentence.contains("twice"))
    }

    @Test func moreThanSixteenHeadersAreRefused() throws {
        let headers = (0..<17).map { "\"X-\($0)\":\"v\"" }.joined(separator: ",")
        let request = try unread("{\"payloads\":{\"apple\":{\"body\":{\"aps\":{}},\"headers\":{\(headers)}}}}")
        let error = try payloadError { try rendered(request, .apple) }
        #expect(error.pointer == "/payloads/apple/headers")
    }

    @Test(
        arguments: [
            #"[]"#, #""text""#, #"{}"#, #"{"body":1}"#, #"{"body":null}"#, #"{"body":[]}"#,
            #"{"body":{"aps":{}},"headers":[]}"#, #"{"body":{"aps":{}},"content_type":1}"#,
            #"{"body":{"aps":{}},"content_type":"text/plain\r\nHost: x"}"#,
        ])
    func payloadOfAnotherShapeIsRefusedEvenIfNobodyReadItBefore(_ payload: String) throws {
        let request = try unread("{\"payloads\":{\"apple\":\(payload)}}")
        #expect(try payloadError { try rendered(request, .apple) }.code == .payloadRejected)
    }

    @Test(arguments: ["", "content_type", "application/json"])
    func bodyStaysAsItWasWrittenWhateverItsBlanks(_ type: String) throws {
        let body = "{ \"aps\":\t{ \"alert\" : \"\\u00e9\\/\" } , \"n\" : 1.0e2 }"
        let named = type.contains("/") ? ",\"content_type\":\"\(type)\"" : ""
        let request = try unread("{\"payloads\":{\"apple\":{\"body\":\(body)\(named)}}}")
        let payload = try rendered(request, .apple)
        #expect(payload.body.text == body && payload.origin == .native)
        #expect(payload.contentType == (type.contains("/") ? .json : .jsonUTF8))
    }

    @Test(
        arguments: [
            (
                #""<?xml version='1.0' encoding='UTF-8'?><toast launch='a&amp;b'><text>Tom &amp; Jerry &#x1F600;</text></toast>""#,
                ""
            ),
            (#""\ufeff<badge value='7'/>\n""#, ""), (#""<tile/>""#, #","content_type":"application/xml""#),
            (#""Tom & <Jerry""#, #","headers":{"X-WNS-Type":"wns/raw"}"#),
            (#""Tom & <Jerry""#, #","headers":{"X-WNS-Type":"wns/raw"},"content_type":"application/xml""#),
            (#"{"k":"&"}"#, #","headers":{"X-WNS-Type":"wns/raw"},"content_type":"application/json;charset=utf-8""#),
        ])
    func bodyForWindowsIsXMLUnlessItIsRaw(_ body: String, _ rest: String) throws {
        #expect(try rendered(unread("{\"payloads\":{\"windows\":{\"body\":\(body)\(rest)}}}"), .windows).origin == .native)
    }

    @Test func formatterKeepsNothingOfThePayloadBefore() throws {
        var formatter = PayloadFormatter()
        var payload = RenderedPayload()
        let requests = [
            try broadcast(#""payloads":{"windows":{"body":"x","headers":{"X-WNS-Type":"wns/raw"}}}"#),
            try broadcast(#""payloads":{"apple":{"body":"{\"aps\":{\"content-available\":1}}"}},"priority":"high""#),
            try broadcast(#""message":{"title":"Hi"}"#),
        ]
        for (request, platform) in [(requests[0], Platform.windows), (requests[1], .apple), (requests[2], .fcmv1)] {
            try formatter.format(request, for: platform, now: noon, into: &payload)
            #expect(payload == (try rendered(request, platform)))
        }
    }
}
