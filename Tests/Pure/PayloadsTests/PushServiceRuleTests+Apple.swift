import PushModel
import TestSupport
import Testing

@testable import Payloads

/// The rules for the body of Apple, sent by APNs and by FCM, and for a push in the background.
extension PushServiceRuleTests {
    @Test(
        arguments: [
            (#"{"aps":[]}"#, #"{"aps":{}}"#, "/aps"),
            (#"{"aps":{"alert":1}}"#, #"{"aps":{"alert":null,"sound":"s"}}"#, "/aps/alert"),
            (#"{"aps":{"alert":{"title":1}}}"#, #"{"aps":{"alert":{"title":{"loc-key":"x"}}}}"#, "/aps/alert/title"),
            (#"{"aps":{"alert":{"loc-args":[1]}}}"#, #"{"aps":{"alert":{"loc-args":["1"]}}}"#, "/aps/alert/loc-args/0"),
            (#"{"aps":{"badge":"1"}}"#, #"{"aps":{"badge":0}}"#, "/aps/badge"),
            (#"{"aps":{"badge":-1}}"#, #"{"aps":{"badge":1}}"#, "/aps/badge"),
            (#"{"aps":{"badge":1.5}}"#, #"{"aps":{"badge":1.0}}"#, "/aps/badge"),
            (#"{"aps":{"badge":-1.0}}"#, #"{"aps":{"badge":1e2}}"#, "/aps/badge"),
            (#"{"aps":{"sound":1}}"#, #"{"aps":{"sound":{"critical":1,"name":"x"}}}"#, "/aps/sound"),
            (#"{"aps":{"content-available":"1"}}"#, #"{"aps":{"content-available":1}}"#, "/aps/content-available"),
            (#"{"aps":{"mutable-content":[]}}"#, #"{"aps":{"mutable-content":1}}"#, "/aps/mutable-content"),
            (#"{"aps":{"thread-id":7}}"#, #"{"aps":{"thread-id":"7"}}"#, "/aps/thread-id"),
            (#"{"aps":{"category":{}}}"#, #"{"aps":{"category":""}}"#, "/aps/category"),
            (
                #"{"aps":{"interruption-level":"loud"}}"#, #"{"aps":{"interruption-level":"time-sensitive"}}"#,
                "/aps/interruption-level"
            ),
            (#"{"aps":{"relevance-score":"1"}}"#, #"{"aps":{"relevance-score":0.5}}"#, "/aps/relevance-score"),
            (#"{"aps":{"content-state":"x"}}"#, #"{"aps":{"content-state":{}}}"#, "/aps/content-state"),
        ])
    func bodyForApple(_ broken: String, _ kept: String, _ place: String) throws {
        func message(_ payload: String) -> String { "{\"body\":{\"message\":{\"apns\":{\"payload\":\(payload)}}}}" }
        let error = try payloadError { try native(.fcmv1, message(broken)) }
        #expect(error.pointer == "/payloads/fcmv1/body/message/apns/payload\(place)", "\(error.sentence)")
        #expect(throws: Never.self) { try native(.fcmv1, message(kept)) }
        // APNs itself judges none of this.
        #expect(throws: Never.self) { try native(.apple, "{\"body\":\(broken)}") }
    }

    @Test func bodyForAppleIsNotEmpty() throws {
        #expect(try payloadError { try native(.apple, #"{"body":{}}"#) }.pointer == "/payloads/apple/body")
        #expect(throws: Never.self) { try native(.apple, #"{"body":{"mdm":"x"}}"#) }
    }

    @Test(
        arguments: [
            (#"{"aps":{"content-available":1}}"#, #""apns-priority":"10""#, "/headers/apns-priority"),
            (#"{"aps":{"content-available":1,"alert":null}}"#, #""X-Apns-Priority":"10""#, "/headers/X-Apns-Priority"),
            (#"{"k":"v"}"#, #""apns-priority":"10","apns-push-type":"background""#, "/headers/apns-priority"),
            (
                #"{"aps":{"content-available":1}}"#, #""apns-push-type":"background","apns-priority":"10""#,
                "/headers/apns-priority"
            ),
            (#"{"aps":{"alert":"x"}}"#, #""apns-push-type":"background""#, "/body/aps/alert"),
            (#"{"aps":{"content-available":1,"badge":1}}"#, #""apns-push-type":"background""#, "/body/aps/badge"),
            (#"{"aps":{"content-available":1,"sound":"s"}}"#, #""apns-push-type":"background""#, "/body/aps/sound"),
        ])
    func contradictionOfABackgroundPushIsRefused(_ body: String, _ headers: String, _ place: String) throws {
        let error = try payloadError { try native(.apple, "{\"body\":\(body),\"headers\":{\(headers)}}") }
        #expect(error.pointer == "/payloads/apple" + place)
    }

    @Test(
        arguments: [
            (#"{"aps":{"content-available":1}}"#, #""apns-priority":"5""#),
            (#"{"aps":{"content-available":1}}"#, #""apns-priority":"1""#),
            (#"{"aps":{"content-available":1,"alert":"x"}}"#, #""apns-priority":"10""#),
            (#"{"aps":{"content-available":1}}"#, #""apns-priority":"10","apns-push-type":"voip""#),
            (#"{"aps":{"content-available":0}}"#, #""apns-priority":"10""#),
            (#"{"aps":{"alert":"x"}}"#, #""apns-priority":" 10 ""#),
        ])
    func whatOnlyLooksLikeAContradictionIsSent(_ body: String, _ headers: String) throws {
        #expect(throws: Never.self) { try native(.apple, "{\"body\":\(body),\"headers\":{\(headers)}}") }
    }

    @Test(arguments: ["", #","headers":{"apns-push-type":"background"}"#])
    func backgroundPushSaysPriorityFiveUnlessItsHeadersSayOne(_ headers: String) throws {
        let payload = try native(.apple, #"{"body":{"aps":{"content-available":1}}\#(headers)}"#)
        #expect(try payload.header("apns-priority") == "5")
    }
}
