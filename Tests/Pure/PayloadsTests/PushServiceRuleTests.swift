import PushModel
import TestSupport
import Testing

@testable import Payloads

/// The rules of push services: for each, a payload that breaks it and one that just does not.
struct PushServiceRuleTests {
    @Test(
        arguments: [
            // Data holds strings, wherever it stands.
            (#"{"data":{"k":1}}"#, #"{"data":{"k":"1"}}"#, "data/k"),
            (#"{"data":{"k":null}}"#, #"{"data":null}"#, "data/k"),
            (#"{"android":{"data":{"k":1}}}"#, #"{"android":{"data":{"k":""}}}"#, "android/data/k"),
            (#"{"android":{"data":{"k":{}}}}"#, #"{"android":{"data":{}}}"#, "android/data/k"),
            (#"{"webpush":{"data":{"k":true}}}"#, #"{"webpush":{"data":{"k":"true"}}}"#, "webpush/data/k"),
            (#"{"webpush":{"headers":{"TTL":15}}}"#, #"{"webpush":{"headers":{"TTL":"15"}}}"#, "webpush/headers/TTL"),
            (
                #"{"apns":{"headers":{"apns-priority":5}}}"#, #"{"apns":{"headers":{"apns-priority":"5"}}}"#,
                "apns/headers/apns-priority"
            ),
            (#"{"data":{"message_type":"x"}}"#, #"{"data":{"messageType":"x"}}"#, "data/message_type"),
            (#"{"data":{"google.x":"x"}}"#, #"{"data":{"googlex":"x"}}"#, "data/google.x"),
            (#"{"android":{"data":{"from":"x"}}}"#, #"{"android":{"data":{"From":"x"}}}"#, "android/data/from"),
            (#"{"webpush":{"data":{"gcm.x":"x"}}}"#, #"{"webpush":{"data":{"gcm":"x"}}}"#, "webpush/data/gcm.x"),
            // Durations.
            (#"{"android":{"ttl":"3600"}}"#, #"{"android":{"ttl":"3600s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":3600}}"#, #"{"android":{"ttl":"3.5s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":"s"}}"#, #"{"android":{"ttl":"0s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":"-1s"}}"#, #"{"android":{"ttl":"1.000000001s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":"1.s"}}"#, #"{"android":{"ttl":"2419200.000s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":"2419201s"}}"#, #"{"android":{"ttl":"2419200s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":"2419200.1s"}}"#, #"{"android":{"ttl":"2419199.9s"}}"#, "android/ttl"),
            (#"{"android":{"ttl":"99999999999999999999s"}}"#, #"{"android":{"ttl":null}}"#, "android/ttl"),
            (#"{"android":{"ttl":"1h"}}"#, #"{"android":{"ttl":"60s"}}"#, "android/ttl"),
            // Words, flags and numbers.
            (#"{"android":{"priority":"low"}}"#, #"{"android":{"priority":"high"}}"#, "android/priority"),
            (#"{"android":{"priority":true}}"#, #"{"android":{"priority":"NORMAL"}}"#, "android/priority"),
            (#"{"android":{"direct_boot_ok":1}}"#, #"{"android":{"directBootOk":true}}"#, "android/direct_boot_ok"),
            (#"{"android":{"collapse_key":1}}"#, #"{"android":{"collapseKey":"1"}}"#, "android/collapse_key"),
            (#"{"notification":{"title":1}}"#, #"{"notification":{"title":"1"}}"#, "notification/title"),
            (#"{"notification":[]}"#, #"{"notification":{}}"#, "notification"),
            (
                #"{"android":{"notification":{"color":"red"}}}"#, ##"{"android":{"notification":{"color":"#FF00aa"}}}"##,
                "android/notification/color"
            ),
            (
                #"{"android":{"notification":{"title_loc_args":"a"}}}"#,
                #"{"android":{"notification":{"title_loc_args":["a"]}}}"#, "android/notification/title_loc_args"
            ),
            (
                #"{"android":{"notification":{"body_loc_args":["a",1]}}}"#, #"{"android":{"notification":{"bodyLocArgs":[]}}}"#,
                "android/notification/body_loc_args/1"
            ),
            (
                #"{"android":{"notification":{"notification_count":1.5}}}"#,
                #"{"android":{"notification":{"notification_count":1.0}}}"#, "android/notification/notification_count"
            ),
            (
                #"{"android":{"notification":{"notification_count":2147483648}}}"#,
                #"{"android":{"notification":{"notification_count":"3"}}}"#, "android/notification/notification_count"
            ),
            (
                #"{"android":{"notification":{"visibility":"hidden"}}}"#,
                #"{"android":{"notification":{"visibility":"SECRET"}}}"#, "android/notification/visibility"
            ),
            (
                #"{"android":{"notification":{"proxy":"maybe"}}}"#, #"{"android":{"notification":{"proxy":"DENY"}}}"#,
                "android/notification/proxy"
            ),
            (
                #"{"android":{"notification":{"notification_priority":"HIGH"}}}"#,
                #"{"android":{"notification":{"notification_priority":"PRIORITY_HIGH"}}}"#,
                "android/notification/notification_priority"
            ),
            (
                #"{"android":{"notification":{"event_time":"today"}}}"#,
                #"{"android":{"notification":{"event_time":"2026-01-31T12:00:00Z"}}}"#, "android/notification/event_time"
            ),
            (
                #"{"android":{"notification":{"vibrate_timings":["1"]}}}"#,
                #"{"android":{"notification":{"vibrate_timings":["1s","0.5s"]}}}"#, "android/notification/vibrate_timings/0"
            ),
            (
                #"{"android":{"notification":{"light_settings":{"color":{"red":"x"}}}}}"#,
                #"{"android":{"notification":{"light_settings":{"color":{"red":0.5}}}}}"#,
                "android/notification/light_settings/color/red"
            ),
            (
                #"{"fcm_options":{"analytics_label":"a b"}}"#, #"{"fcm_options":{"analytics_label":"a-b_1.~%"}}"#,
                "fcm_options/analytics_label"
            ),
            (
                #"{"webpush":{"fcm_options":{"link":"http://a.example"}}}"#,
                #"{"webpush":{"fcmOptions":{"link":"https://a.example"}}}"#, "webpush/fcm_options/link"
            ),
            // Names that FCM does not know.
            (#"{"notification":{"tag":"x"}}"#, #"{"android":{"notification":{"tag":"x"}}}"#, "notification/tag"),
            (
                #"{"notification":{"clickAction":"x"}}"#, #"{"android":{"notification":{"clickAction":"x"}}}"#,
                "notification/clickAction"
            ),
            (
                #"{"android":{"notification":{"badge":1}}}"#, #"{"android":{"notification":{"notificationCount":1}}}"#,
                "android/notification/badge"
            ),
            (#"{"android":{"collapse_Key":"x"}}"#, #"{"android":{"collapse_key":"x"}}"#, "android/collapse_Key"),
            (#"{"priority":"high"}"#, #"{"android":{"priority":"high"}}"#, "priority"),
            (#"{"tokens":[]}"#, #"{"name":"x"}"#, "tokens"),
            // Web Push.
            (#"{"webpush":{"headers":{"ttl":"-1"}}}"#, #"{"webpush":{"headers":{"ttl":"0"}}}"#, "webpush/headers/ttl"),
            (
                #"{"webpush":{"headers":{"Urgency":"urgent"}}}"#, #"{"webpush":{"headers":{"Urgency":"very-low"}}}"#,
                "webpush/headers/Urgency"
            ),
            (#"{"webpush":{"headers":{"Topic":"a.b"}}}"#, #"{"webpush":{"headers":{"Topic":"a_b-1"}}}"#, "webpush/headers/Topic"),
            (
                #"{"webpush":{"headers":{"Topic":"123456789012345678901234567890123"}}}"#,
                #"{"webpush":{"headers":{"Topic":"12345678901234567890123456789012"}}}"#, "webpush/headers/Topic"
            ),
            (
                #"{"webpush":{"notification":"x"}}"#, #"{"webpush":{"notification":{"actions":[{"title":1}]}}}"#,
                "webpush/notification"
            ),
            // Apple's rules below message.apns.
            (
                #"{"apns":{"payload":{"aps":{"badge":"1"}}}}"#, #"{"apns":{"payload":{"aps":{"badge":1},"x":1}}}"#,
                "apns/payload/aps/badge"
            ),
            (#"{"apns":{"payload":"{}"}}"#, #"{"apns":{"payload":{}}}"#, "apns/payload"),
            (
                #"{"apns":{"headers":{"apns-priority":"11"}}}"#,
                #"{"notification":{},"apns":{"headers":{"apns-priority":"10"}}}"#, "apns/headers/apns-priority"
            ),
            (
                #"{"data":{"k":"v"},"apns":{"headers":{"apns-priority":"10"}}}"#,
                #"{"data":{"k":"v"},"apns":{"headers":{"apns-priority":"5"}}}"#, "apns/headers/apns-priority"
            ),
            (
                #"{"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1}}}}"#,
                #"{"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1,"alert":"x"}}}}"#,
                "apns/headers/apns-priority"
            ),
            (
                #"{"notification":{},"apns":{"headers":{"apns-priority":"10","apns-push-type":"background"}}}"#,
                #"{"notification":{},"apns":{"headers":{"apns-priority":"10","apns-push-type":"alert"}}}"#,
                "apns/headers/apns-priority"
            ),
            // A Live Activity, whose updates need no alert, and what has nothing for Apple's devices.
            (
                #"{"data":{"k":"v"},"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-state":{}}}}}"#,
                #"{"data":{},"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"event":"end","content-state":{}}}}}"#,
                "apns/headers/apns-priority"
            ),
            (
                #"{"data":{},"android":{"notification":{}},"apns":{"headers":{"apns-priority":"10"}}}"#,
                #"{"android":{"notification":{}},"apns":{"headers":{"apns-priority":"10"}}}"#, "apns/headers/apns-priority"
            ),
            // Empty texts, which protocol buffers take as not set.
            (
                #"{"fcm_options":{"analytics_label":" "}}"#, #"{"fcm_options":{"analytics_label":""}}"#,
                "fcm_options/analytics_label"
            ),
            (
                #"{"webpush":{"fcm_options":{"link":" "}}}"#, #"{"webpush":{"fcm_options":{"link":""}}}"#,
                "webpush/fcm_options/link"
            ),
            (#"{"token":"t"}"#, #"{"token":null,"topic":null,"condition":null}"#, "token"),
            (
                #"{"android":{"notification":{"title_loc_args":["a",null]}}}"#,
                #"{"android":{"notification":{"title_loc_args":null}}}"#, "android/notification/title_loc_args/1"
            ),
            (
                ##"{"android":{"notification":{"color":"#"}}}"##,
                #"{"android":{"notification":{"color":"","bypass_proxy_notification":true}}}"#, "android/notification/color"
            ),
        ])
    func messageOfFCM(_ broken: String, _ kept: String, _ place: String) throws {
        let error = try payloadError { try native(.fcmv1, "{\"body\":{\"message\":\(broken)}}") }
        #expect(error.pointer == "/payloads/fcmv1/body/message/\(place)", "\(error.sentence)")
        #expect(error.code == .payloadRejected)
        #expect(throws: Never.self) { try native(.fcmv1, "{\"body\":{\"message\":\(kept)}}") }
        // The same as a string.
        let text = "{\"message\":\(broken)}".replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let told = try payloadError { try native(.fcmv1, "{\"body\":\"\(text)\"}") }
        #expect(told.pointer == "/payloads/fcmv1/body" && told.sentence == "In the body at /message/\(place): \(error.sentence)")
    }

    @Test func bodyOfFCMHasNothingBesideTheMessage() throws {
        let error = try payloadError { try native(.fcmv1, #"{"body":{"message":{},"data":{}}}"#) }
        #expect(error.pointer == "/payloads/fcmv1/body/data" && error.sentence.contains("no field of this name"))
        #expect(throws: PayloadError.self, "FCM would deliver nothing") {
            try native(.fcmv1, #"{"body":{"message":{},"validateOnly":true}}"#)
        }
        #expect(throws: PayloadError.self) { try native(.fcmv1, #"{"body":{"message":null}}"#) }
    }

    @Test(
        arguments: [
            (Platform.apple, "apns-collapse-id", String(repeating: "a", count: 65), String(repeating: "a", count: 64)),
            (.apple, "APNS-Collapse-Id", String(repeating: "a", count: 65), ""),
            (.apple, "apns-priority", "9", "1"), (.apple, "X-Apns-Priority", "high", "10"), (.apple, "apns-priority", "", "5"),
            (.apple, "apns-expiration", "2026-01-31", "0"), (.apple, "apns-expiration", "-1", "1795176000"),
            (.apple, "apns-push-type", "silent", "controls"),
            (.apple, "apns-id", "1", "123e4567-e89b-12d3-a456-4266554400a0"),
            (.apple, "apns-id", "123e4567e89b12d3a4564266554400a0", "123E4567-E89B-12D3-A456-4266554400A0"),
            (.windows, "X-WNS-Type", "wns/phone", "wns/toast"), (.windows, "X-WNS-TTL", "1h", "3600"),
            (.windows, "X-WNS-Tag", "12345678901234567", "1234567890123456"), (.windows, "X-WNS-Tag", "a-b", "ab"),
            (.windows, "X-WNS-Group", "a b", "a"), (.windows, "X-WNS-Cache-Policy", "yes", "no-cache"),
            (.windows, "X-WNS-RequestForStatus", "1", "true"), (.windows, "x-wns-priority", "5", "4"),
        ])
    func header(_ platform: Platform, _ name: String, _ broken: String, _ kept: String) throws {
        let body = platform == .apple ? #"{"aps":{"alert":"x"}}"# : #""<toast/>""#
        let payload = { (value: String) in "{\"body\":\(body),\"headers\":{\"\(name)\":\"\(value)\"}}" }
        let error = try payloadError { try native(platform, payload(broken)) }
        #expect(error.pointer == "/payloads/\(platform.name)/headers/\(name)")
        #expect(broken.isEmpty || !error.sentence.contains("\(broken).") && !error.sentence.contains("\"\(broken)\""))
        #expect(throws: Never.self) { try native(platform, payload(kept)) }
    }

    @Test func headerThatWindowsRefusesIsRefused() throws {
        let error = try payloadError { try native(.windows, #"{"body":"<toast/>","headers":{"X-WNS-SuppressPopup":"true"}}"#) }
        #expect(error.pointer == "/payloads/windows/headers/X-WNS-SuppressPopup")
    }

    @Test(
        arguments: [
            (Platform.gcm, #"{"data":{"from":"x"}}"#, #"{"data":{"k":1}}"#),
            (.gcm, #"{"data":{"gcmx":"x"}}"#, #"{"data":{"agcm":1}}"#),
            (.gcm, #"{"time_to_live":2419201}"#, #"{"time_to_live":2419200}"#),
            (.gcm, #"{"time_to_live":2419201.0}"#, #"{"time_to_live":2419200.0}"#),
            (.gcm, #"{"priority":"low"}"#, #"{"priority":"high"}"#),
            (.gcm, #"{"notification":"x"}"#, #"{"notification":{"x":1}}"#),
            (.gcm, #"{"collapse_key":1}"#, #"{"collapse_key":"1"}"#),
            (.adm, #"{"data":{"k":1}}"#, #"{"data":{"k":"1"}}"#), (.adm, #"{"data":"x"}"#, #"{"data":{}}"#),
            (.adm, #"{"expiresAfter":0}"#, #"{"expiresAfter":1}"#),
            (.adm, #"{"expiresAfter":2678401}"#, #"{"expiresAfter":2678400}"#),
            (.adm, #"{"expiresAfter":"60"}"#, #"{"expiresAfter":60}"#), (.adm, #"{"md5":1}"#, #"{"md5":"x"}"#),
            (.adm, #"{"consolidationKey":1}"#, #"{"consolidationKey":"x"}"#),
        ])
    func bodyForTheOthers(_ platform: Platform, _ broken: String, _ kept: String) throws {
        #expect(
            try payloadError { try native(platform, "{\"body\":\(broken)}") }.pointer.hasPrefix(
                "/payloads/\(platform.name)/body/"))
        #expect(throws: Never.self) { try native(platform, "{\"body\":\(kept)}") }
    }

    /// Whatever a request says beside it, the headers that the formatter writes are none that the push service refuses.
    @Test(arguments: 0..<400)
    func messageThatIsFormattedKeepsTheRules(_ seed: Int) throws {
        var random = SeededNumbers(state: UInt64(seed))
        let request = try broadcast(Self.message(&random))
        for platform in [Platform.apple, .fcmv1, .gcm, .windows] {
            let payload = try rendered(request, platform)
            var document: JSONDocument?
            if payload.contentType.isJSON {
                document = JSONDocument()
                try document?.read(payload.body.bytes.span)
            }
            let refusal = PushServiceRules.refusal(
                of: payload.body.bytes.span, document: document, headers: try payload.headerLines(), by: platform)
            #expect(refusal == nil, "\(platform): \(payload.headers.text)\(payload.body.text)")
        }
    }

    private static func message(_ random: inout SeededNumbers) -> String {
        var members: [String] = []
        for name in ["title", "subtitle", "body", "sound", "deep_link", "action_category", "thread_id"]
        where Bool.random(using: &random) {
            members.append("\"\(name)\":\"\(name == "deep_link" ? "app://x/" : "")\(Int.random(in: 0...9, using: &random))\"")
        }
        if Bool.random(using: &random) { members.append(#""image_url":"https://a.example/1.png""#) }
        if Bool.random(using: &random) { members.append("\"badge\":\([0, 1, 99_999].randomElement(using: &random) ?? 0)") }
        if Bool.random(using: &random) { members.append("\"silent\":true") }
        members.append(
            #""data":{"a b":"1","gcm":"x","aps2":"é"}"#.replacing("gcm", with: "g\(Int.random(in: 0...9, using: &random))"))
        var request = "\"message\":{\(members.joined(separator: ","))}"
        if Bool.random(using: &random) {
            request += ",\"priority\":\"\(["low", "normal", "high"].randomElement(using: &random) ?? "low")\""
        }
        if Bool.random(using: &random) {
            request += ",\"ttl_seconds\":\([0, 1, 60, 2_419_200].randomElement(using: &random) ?? 0)"
        }
        if Bool.random(using: &random) {
            request += ",\"collapse_key\":\"" + String(repeating: "a <b>", count: Int.random(in: 1...12, using: &random)) + "\""
        }
        return request
    }

    @Test func emulatorsViewIsThatOfTheFormatter() throws {
        func refusal(_ json: String, _ headers: [(name: String, value: String)], _ platform: Platform, _ extra: Int = 0) throws
            -> String?
        {
            var document = JSONDocument()
            try document.read(Array(json.utf8).span)
            let body = Array(json.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: extra)
            let found = PushServiceRules.refusal(of: body.span, document: document, headers: headers, by: platform)
            return found.map { ($0.isTooLarge ? "size: " : "") + $0.sentence }
        }
        #expect(
            try refusal(#"{"message":{"data":{"k":1}}}"#, [], .fcmv1)
                == "message.data has a value that is no string; it holds strings only.")
        #expect(
            try refusal(#"{"aps":{"content-available":1}}"#, [("apns-priority", "10")], .apple)?.contains("background") == true)
        #expect(try refusal(#"{"aps":{"alert":"x"}}"#, [("apns-priority", "10"), ("anything", "é")], .apple) == nil)
        #expect(
            try refusal(#"{"aps":{}}"#, [], .apple, 4_087) == "size: The body for apple has 4097 bytes; at most 4096 are allowed."
        )
        #expect(try refusal(#"{"aps":{}}"#, [("apns-push-type", "voip")], .apple, 4_087) == nil)
    }

    @Test(
        arguments: [
            ("<toast/>", nil, "x-wns-type must stand there."), ("<toast/>", "wns/toast", nil),
            ("<toast>&</toast>", "wns/raw", nil),
            ("<toast>&</toast>", "wns/toast", "The body is not XML."),
            ("<Toast/>", "wns/toast", "The body must be an XML text with the root"),
            ("<toast/>", "wns/tile", "X-WNS-Type says wns/tile"),
            ("<?xml version=\"1.0\" encoding=\"utf-16\"?><toast/>", "wns/toast", nil),
        ] as [(String, String?, String?)])
    func aHubHandsXMLOnWhateverEncodingItDeclares(_ body: String, _ type: String?, _ sentence: String?) {
        let headers = type.map { [(name: "X-WNS-Type", value: $0)] } ?? []
        let refusal = PushServiceRules.refusal(of: Array(body.utf8).span, document: nil, headers: headers, by: .windows)
        #expect(sentence.map { refusal?.sentence.hasPrefix($0) == true } ?? (refusal == nil))
    }

    @Test func pageRequestsHasTheRulesOfThePushServices() throws {
        let page = try GeneratedPage("Requests")
        #expect(page.parts(of: "push rules") == ["apple", "fcmv1", "gcm", "windows", "adm"])
        let difference = try page.difference("push rules") { part in
            let rows = Platform(name: part).map { PushServiceRules.rows(for: $0) } ?? []
            return GeneratedPage.table(
                ["Field or header", "Rule", "Source"], rows.map { ["`\($0.field)`", $0.rule, "[\($0.source)](\($0.address))"] })
        }
        #expect(difference == nil)
        #expect(Platform.allCases.filter { PushServiceRules.rows(for: $0).isEmpty } == [.baidu, .browser, .xiaomi])
    }
}

/// Formats a payload that no reader has checked.
func native(_ platform: Platform, _ payload: String) throws -> RenderedPayload {
    try rendered(unread("{\"payloads\":{\"\(platform.name)\":\(payload)}}"), platform)
}
