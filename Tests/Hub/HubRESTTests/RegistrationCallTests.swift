import HubREST
import PushModel
import TestSupport
import Testing

/// Calls about devices, as bytes.
struct RegistrationCallTests {
    private func write(_ call: RegistrationCall, _ calling: inout Calling) throws -> String? {
        var writer = ByteWriter()
        writer.append("left over")
        let serial = try calling.client.write(call, now: Calling.now, into: &writer)
        #expect((serial == nil) == (writer.count == 0))
        return serial == nil ? nil : writer.text
    }

    private func write(_ call: RegistrationCall) throws -> String? {
        var calling = try Calling()
        return try write(call, &calling)
    }

    /// The request line alone.
    private func line(_ call: RegistrationCall) throws -> String {
        let text = try #require(try write(call))
        return String(try #require(text.split(separator: "\r\n").first))
    }

    private static let phone: Installation = {
        var phone = Installation(
            id: "4f1c", platform: .known(.apple), pushChannel: "62\"BC", tags: ["username:bob", "news"], userID: "bob")
        phone.templates = JSONObjectText(#"{"t":{"body":"{\"aps\":{}}","tags":["t"]}}"#)
        phone.isChannelExpired = true
        return phone
    }()

    @Test func aPutHasTheWholeInstallation() throws {
        let body =
            #"{"installationId":"4f1c","platform":"apns","pushChannel":"62\"BC","tags":["username:bob","news"],"#
            + #""userId":"bob","templates":{"t":{"body":"{\"aps\":{}}","tags":["t"]}}}"#
        #expect(
            try write(.putInstallation(Self.phone)) == """
                PUT /newshub/installations/4f1c?api-version=2020-06 HTTP/1.1\r
                Host: contoso.servicebus.windows.net\r
                User-Agent: pushfan/test\r
                Authorization: \(Calling.token())\r
                Content-Type: application/json\r
                Content-Length: \(body.utf8.count)\r
                \r
                \(body)
                """)
    }

    @Test func aReadHasNeitherBodyNorLength() throws {
        #expect(
            try write(.getInstallation(id: "4f1c")) == """
                GET /newshub/installations/4f1c?api-version=2020-06 HTTP/1.1\r
                Host: contoso.servicebus.windows.net\r
                User-Agent: pushfan/test\r
                Authorization: \(Calling.token())\r
                \r

                """)
    }

    @Test func aPatchHasItsChangesInTheirOrder() throws {
        let changes = [
            InstallationChange.adding(tag: "news"), .removing(tag: "a/b~c"),
            InstallationChange(op: .replace, path: "/pushChannel", value: "62\"BC"),
        ]
        let body =
            #"[{"op":"add","path":"/tags","value":"news"},{"op":"remove","path":"/tags/a~1b~0c"},"#
            + #"{"op":"replace","path":"/pushChannel","value":"62\"BC"}]"#
        #expect(
            try write(.patchInstallation(id: "4f1c", changes: changes)) == """
                PATCH /newshub/installations/4f1c?api-version=2020-06 HTTP/1.1\r
                Host: contoso.servicebus.windows.net\r
                User-Agent: pushfan/test\r
                Authorization: \(Calling.token())\r
                Content-Type: application/json-patch+json\r
                Content-Length: \(body.utf8.count)\r
                \r
                \(body)
                """)
    }

    @Test(arguments: [
        ("username:bob", "username%3Abob"), ("$UserId:{b=}", "%24UserId%3A%7Bb%3D%7D"), ("a@b#c", "a%40b%23c"),
    ])
    func theRegistrationsOfATagAreListed(tag: String, segment: String) throws {
        #expect(
            try line(.listTagged(tag: tag, count: 7, token: RegistrationPage.Token("x%3D")))
                == "GET /newshub/tags/\(segment)/registrations?$top=7&api-version=2020-06&continuationtoken=x%3D HTTP/1.1")
    }

    @Test(
        arguments: [
            ("1", "If-Match: \"1\""), (nil, "If-Match: *"), ("", "If-Match: *"), ("1\"\r\nX: y", "If-Match: *"),
        ] as [(String?, String)])
    func aRegistrationIsRemovedInItsVersion(etag: String?, field: String) throws {
        let text = try #require(try write(.deleteRegistration(id: "12-34-1", etag: etag)))
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.first == "DELETE /newshub/registrations/12-34-1?api-version=2020-06 HTTP/1.1")
        #expect(lines.dropFirst(4).map(String.init) == [field, "", ""])
    }

    /// An installation's id can hold what a tag can, of which not all can stand in a path.
    @Test(arguments: [
        ("a-b_c.d", "a-b_c.d"), ("a@b", "a%40b"), ("a:b=", "a%3Ab%3D"), ("a#b", "a%23b"),
    ])
    func anInstallationsIDIsEncoded(id: String, segment: String) throws {
        #expect(
            try line(.deleteInstallation(id: id)) == "DELETE /newshub/installations/\(segment)?api-version=2020-06 HTTP/1.1")
    }

    @Test(
        arguments: [
            (.apple, "<62bc 0f>", "DeviceToken%20eq%20%2762BC0F%27"), (.apple, "62bcÄf", "DeviceToken%20eq%20%2762bc%C3%84f%27"),
            (.apple, "{LENGTH=32,BYTES=0X6F2A… }", "DeviceToken%20eq%20%27%7BLENGTH%3D32%2CBYTES%3D0X6F2A%E2%80%A6%20%7D%27"),
            (.fcmv1, "a:B", "FcmV1RegistrationId%20eq%20%27a%3AB%27"), (.gcm, "aB", "GcmRegistrationId%20eq%20%27aB%27"),
            (.windows, "https://x/?a=b", "ChannelUri%20eq%20%27https%3A%2F%2Fx%2F%3Fa%3Db%27"),
            (.adm, "a", "AdmRegistrationId%20eq%20%27a%27"), (.xiaomi, "a", "XiaomiRegistrationId%20eq%20%27a%27"),
            (.baidu, "u-c", "BaiduChannelId%20eq%20%27c%27%20and%20BaiduUserId%20eq%20%27u%27"),
            (.baidu, "c", "BaiduChannelId%20eq%20%27c%27"), (.browser, "https://e", "Endpoint%20eq%20%27https%3A%2F%2Fe%27"),
            (
                .browser, #"{"endpoint":"e","p256dh":"p","auth":"s"}"#,
                "Endpoint%20eq%20%27e%27%20and%20P256DH%20eq%20%27p%27%20and%20Auth%20eq%20%27s%27"
            ),
            (.browser, #"{"endpoint":"e"}"#, "Endpoint%20eq%20%27e%27"), (nil, "a", "ChannelUri%20eq%20%27a%27"),
            (nil, "a' or '1", "ChannelUri%20eq%20%27a%27%27%20or%20%27%271%27"),
            (nil, "'\u{301}", "ChannelUri%20eq%20%27%27%27%CC%81%27"), (nil, "a&b\r\n", "ChannelUri%20eq%20%27a%26b%0D%0A%27"),
        ] as [(Platform?, String, String)])
    func aHandleIsLookedUpByItsPlatformsFilter(platform: Platform?, handle: String, filter: String) throws {
        #expect(
            try line(.listRegistrations(handle: handle, platform: platform, count: 100, token: nil))
                == "GET /newshub/registrations?$filter=\(filter)&$top=100&api-version=2020-06 HTTP/1.1")
    }

    /// The token comes percent-encoded, and goes back as it came.
    @Test(arguments: [(2, 2), (0, 1), (-5, 1), (101, 100), (.max, 100)] as [(Int, Int)])
    func aListGoesOnWhereItEnded(count: Int, top: Int) throws {
        let token = try #require(RegistrationPage.Token("MzEobik7Mg%3D%3D"))
        #expect(
            try line(.listRegistrations(handle: "a", platform: .gcm, count: count, token: token))
                == "GET /newshub/registrations?$filter=GcmRegistrationId%20eq%20%27a%27&$top=\(top)&api-version=2020-06"
                + "&continuationtoken=MzEobik7Mg%3D%3D HTTP/1.1")
    }

    @Test(arguments: ["", "a b", "a&b", "a#b", "a\r\nb", "é", "\u{7F}", String(repeating: "x", count: 2049)])
    func whatCouldEndTheQueryIsNoToken(text: String) {
        #expect(RegistrationPage.Token(text) == nil)
    }

    @Test(arguments: [("2013-10", "2015-01"), ("2015-01", "2015-01"), ("2031-01", "2031-01")])
    func noCallIsOlderThanInstallations(configured: String, asked: String) throws {
        var calling = try Calling(endpoint: "http://127.0.0.1:8800/a/", apiVersion: configured)
        let text = try #require(try write(.getInstallation(id: "x"), &calling))
        #expect(text.hasPrefix("GET /a/newshub/installations/x?api-version=\(asked) HTTP/1.1\r\nHost: 127.0.0.1:8800\r\n"))
    }

    @Test(
        arguments: [
            .getInstallation(id: ""), .getInstallation(id: "."), .getInstallation(id: ".."), .getInstallation(id: "a/b"),
            .deleteInstallation(id: "a b"), .deleteInstallation(id: "a}"), .getInstallation(id: "é"),
            .getInstallation(id: String(repeating: "a", count: 121)), .deleteRegistration(id: "..", etag: nil),
            .deleteRegistration(id: "a/b", etag: nil), .deleteRegistration(id: "a?b", etag: nil),
            .putInstallation(Installation(id: "a\r\nb", platform: .known(.apple), pushChannel: "AB")),
            .listRegistrations(handle: "", platform: .apple, count: 1, token: nil),
            .patchInstallation(id: "a/b", changes: [.adding(tag: "a")]), .patchInstallation(id: "a", changes: []),
            .listTagged(tag: "", count: 1, token: nil), .listTagged(tag: "..", count: 1, token: nil),
            .listTagged(tag: "a/b", count: 1, token: nil), .listTagged(tag: "$UserId:{", count: 1, token: nil),
            .listRegistrations(handle: String(repeating: "a", count: 4097), platform: .apple, count: 1, token: nil),
        ] as [RegistrationCall])
    func whatNoHubCanHaveIsNotAskedFor(call: RegistrationCall) throws {
        #expect(try write(call) == nil)
    }

    /// Whatever stands in a handle or id, the head stays as many lines as it was.
    @Test(arguments: 0..<20)
    func noTextLeavesItsPlace(seed: Int) throws {
        var random = SeededRandom(seed)
        var calling = try Calling()
        let pieces = ["\r\n", "'", "\u{301}", "&", "#", "?", "/", "..", "%0d%0a", " ", "a", "\"", "\\", "é", "\u{0}", "}"]
        for _ in 0..<60 {
            let text = (0..<(1 + random.below(5))).map { _ in pieces[random.below(pieces.count)] }.joined()
            let platform = Platform.allCases[random.below(Platform.allCases.count)]
            let calls: [(call: RegistrationCall, lines: Int)] = [
                (.getInstallation(id: text), 6), (.deleteRegistration(id: text, etag: text), 7),
                (.deleteRegistration(id: "1-2-3", etag: text), 7),
                (.listRegistrations(handle: text, platform: platform, count: 1, token: RegistrationPage.Token(text)), 6),
                (
                    .putInstallation(
                        Installation(id: "x", platform: .known(platform), pushChannel: text, tags: [text], userID: text)), 8
                ),
            ]
            for (call, count) in calls {
                guard let written = try write(call, &calling) else { continue }
                let lines = written.split(separator: "\r\n", omittingEmptySubsequences: false)
                #expect(lines.count == count)
                #expect(lines[0].split(separator: " ").count == 3)
            }
        }
    }

    @Test(
        arguments: [
            ("apns", .known(.apple), "apns"), ("APNS", .known(.apple), "apns"), ("wns", .known(.windows), "wns"),
            ("gcm", .known(.gcm), "gcm"), ("fcmv1", .known(.fcmv1), "fcmV1"), ("FCMV1", .known(.fcmv1), "fcmV1"),
            ("browser", .known(.browser), "browser"), ("MPNS", .other("mpns"), "mpns"), ("pigeon2", .other("pigeon2"), "pigeon2"),
            ("", nil, ""), ("a b", nil, ""), ("apple\n", nil, ""),
        ] as [(String, InstallationPlatform?, String)])
    func aPlatformIsReadInAnyCase(word: String, platform: InstallationPlatform?, written: String) {
        #expect(InstallationPlatform(word: word) == platform)
        #expect((platform?.word ?? "") == written)
    }

    @Test func nothingShowsAHandle() throws {
        let secret = "5EC2E7"
        var phone = Installation(id: "i", platform: .known(.browser), pushChannel: secret, tags: [secret])
        phone.secondaryTiles = JSONObjectText("{\"a\":\"\(secret)\"}")
        let registration = DeviceRegistration(id: "1-2-3", platform: .apple, handle: secret, tags: [secret])
        let shown: [Any] = [
            phone, try #require(phone.secondaryTiles), registration, RegistrationPage(registrations: [registration]),
            RegistrationCall.putInstallation(phone), RegistrationReply.installation(phone),
            RegistrationReply.page(RegistrationPage(registrations: [registration])),
            RegistrationCall.listRegistrations(handle: secret, platform: .apple, count: 1, token: nil),
            RegistrationCall.listTagged(tag: secret, count: 1, token: nil),
            InstallationChange(op: .replace, path: "/pushChannel", value: secret),
            RegistrationCall.patchInstallation(id: "i", changes: [.adding(tag: secret), .removing(tag: secret)]),
        ]
        for value in shown {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains(secret)) }
        }
    }
}
