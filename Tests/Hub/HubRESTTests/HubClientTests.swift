import FanOut
import HubAuth
import HubREST
import Payloads
import PushModel
import TestSupport
import Testing

@Suite struct HubClientTests {
    private func golden(_ query: String, _ fields: String, _ type: String, _ body: String) throws -> String {
        """
        POST /newshub/\(query) HTTP/1.1\r
        Host: contoso.servicebus.windows.net\r
        User-Agent: pushfan/test\r
        Authorization: \(try Calling.token())\r
        \(fields.isEmpty ? "" : fields.replacing("\n", with: "\r\n") + "\r\n")Content-Type: \(type)\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private let appleHeaders = """
        apns-push-type: alert
        apns-priority: 10
        apns-expiration: 1795262400
        ServiceBusNotification-Apns-Expiry: 2026-11-21T12:00:00Z
        apns-collapse-id: c
        """

    @Test func aSendToTags() throws {
        var calling = try Calling()
        let calls = try calling.calls(#""audience":{"users":["alice","bob"]}"#)
        let fields =
            "ServiceBusNotification-Format: apple\n"
            + "ServiceBusNotification-Tags: (username:alice || username:bob)\n" + appleHeaders
        let body = #"{"aps":{"alert":{"title":"Hi"}}}"#
        #expect(
            try calls.map(text)
                == [golden("messages?api-version=2020-06", fields, "application/json;charset=utf-8", body)])
    }

    @Test func aBroadcastOnWindows() throws {
        var calling = try Calling()
        let calls = try calling.calls(#""audience":{"broadcast":true},"platforms":["wns"]"#)
        let written = try RawRequest(try #require(calls.first))
        #expect(written.method == "POST")
        #expect(written.target == "/newshub/messages?api-version=2020-06")
        #expect(written.values("servicebusnotification-format") == ["windows"])
        #expect(written.values("servicebusnotification-tags").isEmpty)
        #expect(written.values("x-wns-type") == ["wns/toast"])
        #expect(written.values("content-type") == ["application/xml"])
        #expect(written.bodyText.hasPrefix("<toast>"))
    }

    @Test func aTemplateToACategory() throws {
        var calling = try Calling()
        let calls = try calling.calls(#""audience":{"categories":["World"]}"#, content: #""template":{"a":"b"}"#)
        let fields = """
            ServiceBusNotification-Format: template
            ServiceBusNotification-Tags: World
            ServiceBusNotification-Apns-Expiry: 2026-11-21T12:00:00Z
            """
        #expect(
            try calls.map(text)
                == [golden("messages?api-version=2020-06", fields, "application/json;charset=utf-8", #"{"a":"b"}"#)])
    }

    @Test func aDirectSend() throws {
        var calling = try Calling()
        let calls = try calling.calls(#""audience":{"devices":[{"platform":"apple","handle":"<abcd 01>"}]}"#)
        let fields =
            "ServiceBusNotification-Format: apple\n"
            + "ServiceBusNotification-DeviceHandle: ABCD01\n" + appleHeaders
        #expect(
            try calls.map(text)
                == [
                    golden(
                        "messages?api-version=2020-06&direct", fields, "application/json;charset=utf-8",
                        #"{"aps":{"alert":{"title":"Hi"}}}"#)
                ])
    }

    /// A browser's keys are headers of their own.
    @Test func aDirectSendToABrowser() throws {
        var calling = try Calling()
        let handle = #"{\"auth\":\"s\",\"endpoint\":\"https://e\",\"p256dh\":\"k\"}"#
        let calls = try calling.calls(
            "\"audience\":{\"devices\":[{\"platform\":\"browser\",\"handle\":\"\(handle)\"}]}",
            content: #""payloads":{"browser":{"body":{"title":"Hi"}}}"#)
        let fields =
            "ServiceBusNotification-Format: browser\nServiceBusNotification-DeviceHandle: https://e\nP256DH: k\nAuth: s"
        #expect(
            try calls.map(text)
                == [golden("messages?api-version=2020-06&direct", fields, "application/json;charset=utf-8", #"{"title":"Hi"}"#)])
    }

    /// The form of page HubProtocol, "Direct batches".
    @Test func aDirectBatch() throws {
        var calling = try Calling()
        let calls = try calling.calls(
            #""audience":{"devices":[{"platform":"apple","handle":"aa"},{"platform":"apns","handle":"bb"}]}"#)
        let body = """
            --nh-batch-multipart-boundary\r
            Content-Type: application/json;charset=utf-8\r
            Content-Disposition: inline; name=notification\r
            \r
            {"aps":{"alert":{"title":"Hi"}}}\r
            --nh-batch-multipart-boundary\r
            Content-Type: application/json; charset=utf-8\r
            Content-Disposition: inline; name=devices\r
            \r
            ["AA","BB"]\r
            --nh-batch-multipart-boundary--\r

            """
        #expect(
            try calls.map(text)
                == [
                    golden(
                        "messages/$batch?api-version=2020-06&direct", "ServiceBusNotification-Format: apple\n" + appleHeaders,
                        "multipart/mixed; boundary=\"nh-batch-multipart-boundary\"", body)
                ])
    }

    @Test(arguments: [
        (#"{"categories":["a"]}"#, "messages?api-version=2020-06&test"),
        (#"{"broadcast":true}"#, "messages?api-version=2020-06&test"),
        (#"{"devices":[{"platform":"apple","handle":"aa"}]}"#, "messages?api-version=2020-06&test&direct"),
        (
            #"{"devices":[{"platform":"apple","handle":"aa"},{"platform":"apple","handle":"bb"}]}"#,
            "messages/$batch?api-version=2020-06&test&direct"
        ),
    ])
    func aTestSendSaysSoWhomeverItReaches(audience: String, target: String) throws {
        var calling = try Calling()
        let calls = try calling.calls(#""audience":\#(audience),"options":{"test_send":true}"#)
        #expect(try calls.map { try RawRequest($0).target } == ["/newshub/" + target])
    }

    @Test func anEndpointsPortAndPathAreKept() throws {
        var calling = try Calling(endpoint: "http://127.0.0.1:8800/a/b")
        let calls = try calling.calls(#""audience":{"categories":["a"]}"#)
        let written = try RawRequest(try #require(calls.first))
        #expect(written.target == "/a/b/newshub/messages?api-version=2020-06")
        #expect(written.values("host") == ["127.0.0.1:8800"])
    }

    @Test func aThousandHandlesAreOneBatch() throws {
        var calling = try Calling()
        let handles = (0..<1001).map { "{\"platform\":\"fcm\",\"handle\":\"handle-\($0)\"}" }.joined(separator: ",")
        let calls = try calling.calls("\"audience\":{\"devices\":[\(handles)]}").map { try RawRequest($0) }
        try #require(calls.count == 2)
        let parts = try calls[0].parts()
        try #require(parts.map(\.name) == ["notification", "devices"])
        var document = JSONDocument()
        let devices = parts[1].content
        try document.read(devices.span)
        #expect(document.childCount(of: document.root) == 1000)
        #expect(calls[1].values("servicebusnotification-devicehandle") == ["handle-1000"])
    }

    /// A publisher's XML could otherwise end its part and bring a list of devices of its own.
    @Test(arguments: ["", "-1", "-1 nh-batch-multipart-boundary-2"])
    func noPayloadCanEndItsPartOfABatch(more: String) throws {
        var calling = try Calling()
        _ = try calling.calls(
            #""audience":{"devices":[{"platform":"wns","handle":"h\"\\/+='<"},{"platform":"wns","handle":"i"}]}"#)
        let hostile = """
            <toast/>\r\n--nh-batch-multipart-boundary\(more)\r\nContent-Type: application/json\r\n\
            Content-Disposition: inline; name=devices\r\n\r\n["victim"]\r\n--nh-batch-multipart-boundary\(more)--\r\n
            """
        let call = try #require(calling.plan.calls.first)
        let bytes = try calling.write(call, payload(hostile, .xml)).bytes
        let parts = try RawRequest(bytes).parts()
        try #require(parts.map(\.name) == ["notification", "devices"])
        #expect(parts[0] == .init(name: "notification", contentType: "application/xml", content: Array(hostile.utf8)))
        #expect(parts[1].content == Array(#"["h\"\\/+='<","i"]"#.utf8))
    }

    @Test func anEmptyBodyHasALengthToo() throws {
        var calling = try Calling()
        _ = try calling.calls(#""audience":{"categories":["a"]}"#)
        let call = try #require(calling.plan.calls.first)
        let written = try RawRequest(try calling.write(call, payload("")).bytes)
        #expect(written.values("content-length") == ["0"])
    }
}

/// The token's life, as the client uses it.
struct HubClientTokenTests {
    private func write(_ calling: inout Calling, now: Int64) throws -> (serial: UInt64, authorization: String) {
        let call = try #require(calling.plan.calls.first)
        let (serial, bytes) = try calling.write(call, payload("{}"), now: now)
        return (serial, try RawRequest(bytes).values("authorization").joined())
    }

    @Test func oneTokenServesCallsUntilNineTenthsOfItsLifeAreOver() throws {
        var calling = try Calling()
        _ = try calling.calls(#""audience":{"categories":["a"]}"#)
        let start = Calling.now
        let first = try write(&calling, now: start)
        for later in [0, 1, 1800, 3239] as [Int64] {
            let next = try write(&calling, now: start + later)
            #expect(next.serial == first.serial)
            #expect(next.authorization == first.authorization)
        }
        let renewed = try write(&calling, now: start + 3240)
        #expect(renewed.serial == first.serial + 1)
        #expect(try renewed.authorization == Calling.token(now: start + 3240))
    }

    @Test func aRefusedTokenIsSignedAnewAndThenWithTheOtherKey() throws {
        let other = "b3RoZXIta2V5LW9mLXRoZS10ZXN0cy0wMTIzNDU2Nzg="
        var calling = try Calling(secondary: other)
        _ = try calling.calls(#""audience":{"categories":["a"]}"#)
        let first = try write(&calling, now: Calling.now + 1)
        do {
            let verdict = calling.client.rejected(token: first.serial)
            #expect(verdict == .renewed)
        }
        let second = try write(&calling, now: Calling.now + 2)
        #expect(try second.authorization == Calling.token(now: Calling.now + 2))
        do {
            let verdict = calling.client.rejected(token: first.serial)
            #expect(verdict == .superseded)
        }
        do {
            let verdict = calling.client.rejected(token: second.serial)
            #expect(verdict == .switched(to: .secondary))
        }
        let third = try write(&calling, now: Calling.now + 2)
        #expect(try third.authorization == Calling.token(now: Calling.now + 2, key: other))
        calling.client.accepted(token: third.serial)
        do {
            let verdict = calling.client.rejected(token: third.serial)
            #expect(verdict == .renewed)
        }
    }
}
