import HTTP1
import HubREST
import PushModel
import Testing

/// What a hub's answers mean to calls about devices.
struct RegistrationReplyTests {
    private static let now: Int64 = 1_795_176_000_000
    private static let put = RegistrationCall.putInstallation(
        Installation(id: "4f1c", platform: .known(.apple), pushChannel: "5EC2E7"))
    private static let ask = RegistrationCall.getInstallation(id: "4f1c")
    private static let delete = RegistrationCall.deleteInstallation(id: "4f1c")
    private static let list = RegistrationCall.listRegistrations(handle: "5EC2E7", platform: .apple, count: 100, token: nil)
    private static let patch = RegistrationCall.patchInstallation(id: "4f1c", changes: [.adding(tag: "news")])
    private static let tagged = RegistrationCall.listTagged(tag: "news", count: 100, token: nil)
    private static let remove = RegistrationCall.deleteRegistration(id: "1-2-3", etag: "1")

    private func reply(_ answer: Answer, to call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        try RegistrationReply(answer, to: call, now: Self.now)
    }

    /// The failure that an answer leads to.
    private func failure(_ answer: Answer, _ call: RegistrationCall = put) throws -> RegistrationFailure {
        try #require(throws: RegistrationFailure.self) { try reply(answer, to: call) }
    }

    private func error(_ detail: String) -> String { "<Error><Code>404</Code><Detail>\(detail)</Detail></Error>" }

    @Test(
        arguments: [
            (put, 200, .done), (put, 201, .done), (put, 204, .done), (delete, 200, .done), (delete, 204, .done),
            (delete, 404, .done), (ask, 404, .absent), (remove, 200, .done), (remove, 204, .done), (remove, 404, .done),
            (remove, 410, .done), (put, 404, nil), (put, 202, nil), (ask, 204, nil), (list, 404, nil), (list, 201, nil),
            (patch, 200, .done), (patch, 204, .done), (patch, 404, nil), (patch, 409, nil), (tagged, 404, nil),
            (tagged, 403, nil),
            (remove, 412, nil), (delete, 410, nil), (delete, 403, nil), (ask, 302, nil),
        ] as [(RegistrationCall, Int, RegistrationReply?)])
    func aStatusMeans(call: RegistrationCall, status: Int, expected: RegistrationReply?) throws {
        let said = try answer(status)
        if let expected {
            #expect(try reply(said, to: call) == expected)
        } else {
            #expect(try failure(said, call).status == status)
        }
    }

    /// A sign-in or a proxy that answers in the hub's place has done nothing, whatever it says (page HubProtocol, "Answers").
    @Test(arguments: [
        (put, 200), (put, 201), (delete, 200), (delete, 404), (ask, 200), (ask, 404), (list, 200), (remove, 200), (remove, 404),
        (remove, 410),
    ])
    func aPageIsNoSuccess(call: RegistrationCall, status: Int) throws {
        for fields in ["Content-Type: text/html; charset=utf-8\r\n", "x-ms-request-id: 9-8\r\n", "TrackingId: 9-8\r\n"] {
            let failure = try failure(try answer(status, fields: fields, body: "<html><body>Sign in</body></html>"), call)
            #expect(failure.status == status)
            #expect(failure.cause == (status == 200 || status == 201 ? .unreadable(.page) : .refused))
            #expect(status > 201 || failure.code == .responseInvalid && failure.isWorthRetrying)
        }
    }

    /// Only there is nothing to change then, and the hub is well.
    @Test(arguments: [("Installation not found", true), ("No service is hosted at the specified address", false)])
    func aPatchOfWhatIsNotThereFails(detail: String, isAbsent: Bool) throws {
        let failure = try failure(try answer(404, body: error(detail)), Self.patch)
        #expect(failure.status == 404 && failure.cause == (isAbsent ? .absent : .refused))
        #expect(failure.isWorthRetrying != isAbsent)
    }

    /// A hub that is not there has no devices, but it must not look as if they were removed.
    @Test(arguments: [ask, delete, remove])
    func aMissingHubIsNoMissingDevice(call: RegistrationCall) throws {
        let hub = "No service is hosted at the specified address..TrackingId:9-8,TimeStamp:1/1/2019"
        let failure = try failure(try answer(404, body: error(hub)), call)
        #expect(failure.code == .hubNotFound && failure.trackingID == "9-8" && failure.isWorthRetrying)
        for detail in ["", ".TrackingId:9-8,TimeStamp:1", "Installation not found.TrackingId:9-8,TimeStamp:1"] {
            let expected = call == Self.ask ? RegistrationReply.absent : .done
            #expect(try reply(try answer(404, body: error(detail)), to: call) == expected)
        }
    }

    private func installation(_ body: String) throws -> Installation? {
        guard case .installation(let found) = try reply(try answer(200, body: body), to: Self.ask) else { return nil }
        return found
    }

    @Test func anInstallationIsReadWithAllThatAPutWouldReplace() throws {
        let found = try #require(
            try installation(
                #"""
                {"installationId":"4F1C","pushChannel":"62BC","pushChannelExpired":true,"platform":"APNS","userID":"bob",
                "expirationTime":"2027-01-01T00:00:00Z","tags":["a","b"],"templates":{"t":{"body":"{}"}},"secondaryTiles":{ },
                "pushVariables":{"x":"y"},"lastUpdate":"2026-01-01T00:00:00Z"}
                """#))
        var expected = Installation(id: "4f1c", platform: .known(.apple), pushChannel: "62BC", tags: ["a", "b"], userID: "bob")
        expected.templates = JSONObjectText(#"{"t":{"body":"{}"}}"#)
        expected.secondaryTiles = JSONObjectText("{ }")
        expected.pushVariables = JSONObjectText(#"{"x":"y"}"#)
        expected.expirationTime = "2027-01-01T00:00:00Z"
        expected.isChannelExpired = true
        #expect(found == expected)
    }

    @Test(arguments: [
        #"{"platform":"fcmv1","pushChannel":"a"}"#,
        #"{"installationId":"4f1c","platform":"fcmV1","pushChannel":"a","expirationTime":"9999-12-31T23:59:59.9999999Z"}"#,
        #"{"platform":"FCMV1","pushChannel":"a","tags":null,"userId":null,"templates":null,"pushChannelExpired":false}"#,
    ])
    func whatIsMissingIsNone(body: String) throws {
        #expect(try installation(body) == Installation(id: "4f1c", platform: .known(.fcmv1), pushChannel: "a"))
    }

    @Test(
        arguments: [
            ("", .malformed), ("<entry/>", .malformed), ("{", .malformed), (#"{"a":1}{}"#, .malformed), ("[]", .otherDocument),
            ("null", .otherDocument), ("{}", .unexpected("platform")), (#"{"platform":1}"#, .unexpected("platform")),
            (#"{"platform":"a b","pushChannel":"a"}"#, .unexpected("platform")),
            (#"{"platform":"apns"}"#, .unexpected("pushChannel")),
            (#"{"platform":"apns","pushChannel":""}"#, .unexpected("pushChannel")),
            (#"{"platform":"apns","pushChannel":["a"]}"#, .unexpected("pushChannel")),
            (#"{"platform":"apns","pushChannel":"a","installationId":"other"}"#, .unexpected("installationId")),
            (#"{"platform":"apns","pushChannel":"a","tags":"b"}"#, .unexpected("tags")),
            (#"{"platform":"apns","pushChannel":"a","tags":["b",1]}"#, .unexpected("tags")),
            (#"{"platform":"apns","pushChannel":"a","userId":1}"#, .unexpected("userId")),
            (#"{"platform":"apns","pushChannel":"a","templates":[]}"#, .unexpected("templates")),
            (String(repeating: "[", count: 1000), .malformed),
        ] as [(String, RegistrationFault)])
    func whatIsNoInstallationIsToldAsUnreadable(body: String, fault: RegistrationFault) throws {
        let failure = try failure(try answer(200, fields: "TrackingId: 9-8\r\n", body: body), Self.ask)
        #expect(failure.cause == .unreadable(fault) && failure.status == 200 && failure.trackingID == "9-8")
        #expect(failure.code == .responseInvalid && !failure.isWorthRetrying)
    }

    @Test(
        arguments: [("", nil), ("x-ms-continuationtoken: Mg%3D%3D\r\n", "Mg%3D%3D"), ("X-MS-ContinuationToken:\r\n", nil)]
            as [(String, String?)])
    func aPageTellsWhereTheNextOneIs(field: String, token: String?) throws {
        let reply = try reply(try answer(200, fields: field, body: "<feed/>"), to: Self.list)
        #expect(reply == .page(RegistrationPage(registrations: [], next: token.flatMap { RegistrationPage.Token($0) })))
    }

    @Test func aTokenThatCannotGoBackIsToldAndNotSent() throws {
        let page = try answer(200, fields: "X-MS-ContinuationToken: a&b\r\n", body: "<feed/>")
        #expect(try failure(page, Self.list).cause == .unreadable(.token))
        #expect(try failure(try answer(200, body: "<entry/>"), Self.list).cause == .unreadable(.otherDocument))
    }

    @Test(
        arguments: [
            (400, "", .payloadRejected, false), (401, "", .hubUnauthorized, false), (403, "", .hubForbidden, false),
            (403, "Retry-After: 2\r\n", .hubThrottled, true), (404, "", .hubNotFound, true), (408, "", .hubTimeout, true),
            (409, "", .hubThrottled, true), (410, "", .hubNotFound, false), (412, "", .payloadRejected, false),
            (413, "", .payloadTooLarge, false), (429, "", .hubThrottled, true), (429, "Retry-After: 2\r\n", .hubThrottled, true),
            (500, "", .hubUnavailable, true), (502, "", .hubUnavailable, true),
            (503, "Retry-After: 2\r\n", .hubUnavailable, true),
            (302, "", .responseInvalid, false),
        ] as [(Int, String, ErrorCode, Bool)])
    func aRefusalSaysWhetherToTryAgain(status: Int, fields: String, code: ErrorCode, isWorthRetrying: Bool) throws {
        let failure = try failure(try answer(status, fields: fields))
        #expect(failure.cause == .refused && failure.status == status && failure.code == code)
        #expect(failure.isWorthRetrying == isWorthRetrying)
        #expect(failure.retryAfter == (fields.isEmpty ? nil : 2000))
        #expect(failure.description.contains("\(status)"))
    }

    @Test(
        arguments: [
            ("<Error><Code>404</Code><Detail>x</Detail></Error>", 404),
            ("<Error><Code>409</Code><Detail>SubCode=40901. Conflict</Detail></Error>", 40901), ("", nil), ("<Code>", nil),
            ("<Code>x</Code>", nil), ("<Code>99999999999999999999999</Code>", nil), ("{\"error\":1}", nil),
        ] as [(String, Int?)])
    func theHubsOwnCodeIsKept(body: String, code: Int?) throws {
        #expect(try failure(try answer(409, body: body)).hubCode == code)
    }

    @Test func aQuotaIsNotTriedAgain() throws {
        let failure = try failure(try answer(403, body: error("The quota is exceeded.TrackingId:9-8_G3,TimeStamp:1")))
        #expect(failure.code == .hubQuota && !failure.isWorthRetrying && failure.trackingID == "9-8_G3")
    }

    @Test(arguments: [
        "5EC2E75EC2E75EC2E75EC2E75EC2E75EC2E75EC2E75EC2E75EC2E7", "sig=5EC2E7", "5EC2E7 x", "SharedAccessSignature",
    ])
    func noFailureRepeatsAHandleOrToken(said: String) throws {
        let body = error(
            "The DeviceToken '5EC2E7' is not valid, SharedAccessSignature sr=a&amp;sig=5EC2E7.TrackingId:\(said),TimeStamp:1")
        for (status, fields) in [(400, "TrackingId: \(said)\r\n"), (401, ""), (200, "TrackingId: \(said)\r\n")] {
            let failure = try failure(try answer(status, fields: fields, body: body), Self.list)
            var dumped = ""
            dump(failure, to: &dumped)
            for text in ["\(failure)", String(reflecting: failure), dumped] {
                #expect(!text.contains("5EC2E7") && !text.contains("SharedAccess"))
            }
        }
    }
}
