@testable import PublishAPI
@testable import GatewayAPI
@testable import AppAPI
import Basics
import FanOut
import HTTPServing
import HubAuth
import PushModel
import ResultQuery
import Testing
import Users

@testable import Console
@testable import HubEmulator
@testable import HubServer
@testable import Audiences

/// Handles, names, tags, platforms and moments as people write them, given to every entrance that reads them: one rule, so one answer.
struct EntranceTests {
    private static let now: Int64 = 1_795_262_400_000

    /// The answer of an entrance to a text: its form, or the sentence that refuses it.
    enum Answer: Equatable {
        case taken(String)
        case refused(String)

        var isTaken: Bool { if case .taken = self { true } else { false } }
    }

    // MARK: - Entrances

    /// A request with these members, and the faults of it.
    private static func request(_ members: String, _ headers: [(String, String)] = []) -> (PushRequest, [RequestFault]) {
        var request = PushRequest()
        var known = PushModel.RecordHeaders()
        for (name, value) in headers { known.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: now))
        let reading = RequestReader(.strict).read(Array("{\(members)}".utf8).span, headers: known, origin: origin, into: &request)
        if case .rejected(let faults) = reading { return (request, faults) }
        return (request, [])
    }

    private static func text(_ value: String) -> String {
        var json = ByteWriter()
        json.append(json: value)
        return json.text
    }

    private static let message = #""message":{"title":"x"}"#

    /// The first element of the audience that a request has, or the first fault.
    private static func audience(_ members: String) -> Answer {
        let (request, faults) = request("\"audience\":\(members),\(message)")
        if let fault = faults.first { return .refused(fault.message) }
        let (list, isOfDevices): (PushRequest.Node, Bool)
        switch request.audience {
        case .users(let node), .installations(let node), .categories(let node): (list, isOfDevices) = (node, false)
        case .devices(let node): (list, isOfDevices) = (node, true)
        case .tagExpression, .broadcast, .none: return .refused("no list")
        }
        guard let first = request.document.firstChild(of: list) else { return .refused("empty") }
        let node = isOfDevices ? request.document.member("handle", of: first) : first
        return node.map { .taken(request.document.string(request.document.text(of: $0))) } ?? .refused("no handle")
    }

    /// The same of what flags of `enqueue` say.
    private static func flags(_ words: String...) throws -> Answer {
        let arguments = try ArgumentParser.parse(words + ["--title", "x"], for: .enqueue)
        var document = JSONDocument()
        let json: [UInt8]
        do { json = try RequestFlags.json(arguments, now: now) } catch { return .refused("\(error)") }
        try document.read(json.span)
        let node = try #require(document.member("audience", of: document.root))
        return audience(document.string(document.text(of: node)))
    }

    /// The same of the last of some lines of a file.
    private static func file(_ lines: String...) throws -> Answer {
        var format = AudienceFormat()
        var parts: AudienceParts?
        for (index, line) in lines.enumerated() {
            do throws(AudienceFormat.Fault) {
                guard try format.read(Array(line.utf8).span) else { continue }
                guard index == lines.count - 1, let kind = format.kind else { continue }
                if parts == nil { parts = FanOutPlanner().parts(of: kind, for: PushRequest(), over: nil) }
                _ = try parts?.add(format)
                return .taken(format.text.text)
            } catch {
                return .refused(error.message)
            }
        }
        return .refused("no line")
    }

    private static func column(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }

    private static func user() throws -> (tag: UserTag, rules: TagRules) {
        let pattern = try UserTag.Pattern("username:{user}")
        return (pattern.tag(of: "alice"), TagRules(users: pattern))
    }

    private static func registered(_ members: String) throws -> Result<RegisterBody, APIProblem> {
        let (user, rules) = try user()
        do throws(APIProblem) {
            return .success(
                try RegisterBody(reading: Array("{\(members)}".utf8), contentType: "application/json", of: user, by: rules))
        } catch {
            return .failure(error)
        }
    }

    private static func query(_ text: String) -> [HTTPServerRequest.QueryItem] {
        HTTPServerRequest(method: "POST", target: "/api?\(text)").percentDecodedQuery
    }

    /// An emulated hub that is asked without a socket.
    private struct Hub {
        let hub: EmulatedHub
        private let token: String

        init() throws {
            var configuration = HubEmulatorConfiguration()
            configuration.hubName = "demo"
            hub = try EmulatedHub(configuration, clock: { EntranceTests.now })
            let policy = try #require(configuration.policies.first)
            let token = try SASToken.sign(
                resource: "http://127.0.0.1/demo", policy: policy.name, key: SecretKey(policy.key),
                expiry: EntranceTests.now / 1000 + 3600, style: .dotNet)
            self.token = String(decoding: token.headerValue, as: UTF8.self)
        }

        func status(_ method: String, _ path: String, _ headers: HTTPFields = [:], _ body: String) -> Int {
            var fields: HTTPFields = ["Host": "127.0.0.1", "Authorization": token]
            for field in headers.all { fields.append(field.name, value: field.value) }
            let target = "/demo/\(path)\(path.contains("?") ? "&" : "?")api-version=2020-06"
            return hub.handle(HTTPServerRequest(method: method, target: target, headers: fields, body: Array(body.utf8))).status
        }

        /// The answers to a handle in each call that has one.
        func statuses(_ platform: Platform, _ handle: String) -> [Int] {
            let format = "\(platform.name)"
            let device = "{\"platform\":\"\(HubPlatform(format: format)?.installationName ?? "")\",\"pushChannel\":"
            let tokens = handle.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            let payload = platform == .windows ? "<toast/>" : "{}"
            let parts = [
                "--b", "Content-Disposition: inline; name=notification", "", payload, "--b",
                "Content-Disposition: inline; name=devices", "", "[\(EntranceTests.text(handle))]", "--b--", "",
            ]
            let type = "multipart/mixed; boundary=b"
            var all = [
                status("PUT", "installations/i", [:], device + EntranceTests.text(handle) + "}"),
                status("POST", "messages?direct", Self.fields(of: handle, on: platform), payload),
                status(
                    "POST", "messages/$batch?direct",
                    ["ServiceBusNotification-Format": format, "Content-Type": type, "X-WNS-Type": "wns/toast"],
                    parts.joined(separator: "\r\n")),
            ]
            if platform == .apple {
                let entry =
                    "<AppleRegistrationDescription xmlns=\"\(XMLWriter.serviceBus)\"><DeviceToken>\(tokens)</DeviceToken>"
                    + "</AppleRegistrationDescription>"
                all.append(
                    status(
                        "POST", "registrations", [:],
                        "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">\(entry)</content></entry>"
                    ))
            }
            return all
        }

        /// The header fields of a direct send. It has a browser's keys in fields of their own.
        private static func fields(of handle: String, on platform: Platform) -> HTTPFields {
            var fields: HTTPFields = [
                "ServiceBusNotification-Format": "\(platform.name)", "ServiceBusNotification-DeviceHandle": handle,
                "X-WNS-Type": "wns/toast",
            ]
            var document = JSONDocument()
            guard platform == .browser, (try? document.read(handle.utf8Span.span)) != nil else { return fields }
            for (name, member) in [("ServiceBusNotification-DeviceHandle", "endpoint"), ("P256DH", "p256dh"), ("Auth", "auth")] {
                fields.remove(name)
                document.forEachMember(of: document.root) { key, value in
                    if document.string(key) == member { fields.append(name, value: document.string(document.text(of: value))) }
                }
            }
            return fields
        }
    }

    // MARK: - Handles

    private static let keys = #"{"endpoint":"https://push.example/1","p256dh":"BN","auth":"x"}"#
    private static let long = String(repeating: "a", count: 512)

    static let handles: [(Platform, String, Answer)] =
        [
            ("6F2A01FF", "6F2A01FF"), ("6f2a01ff", "6F2A01FF"), ("<6f2a01ff>", "6F2A01FF"), ("<6f2a 01ff>", "6F2A01FF"),
            (" 6f2a01ff ", "6F2A01FF"), ("6f2a\t01ff\r\n", "6F2A01FF"), ("00", "00"), (long, long.uppercased()),
        ].map { (.apple, $0, .taken($1)) }
        + [
            ("", .empty), ("<>", .empty), ("   ", .empty), ("6", .oddDigitCount), ("6f2", .oddDigitCount),
            ("6g", .notHexadecimal),
            ("0x6f2a", .notHexadecimal), ("6f2a-01ff", .notHexadecimal), ("６f2a", .notHexadecimal), ("6f2a\0", .notHexadecimal),
            ("\u{FEFF}6f2a", .notHexadecimal), ("32 bytes", .notHexadecimal), ("phone", .notHexadecimal),
            ("6f2a,", .notHexadecimal),
            ("{length=32,bytes=0x740f4707bebcf74f...e6a1}", .elided),
            ("{length = 32, bytes = 0x740f4707 bebcf74f ... e6a1 }", .elided),
            ("{LENGTH=32,BYTES=0X740F4707…E6A1}", .elided), (long + "aa", .tooLong),
            (String(repeating: "a", count: 5000), .tooLong),
        ].map { (text: String, problem: DeviceToken.Problem) in (.apple, text, .refused(problem.description)) }
        + ["cd:APA91b-_", "6f2a", "<6f2a>", "{length=32,bytes=0x74}", String(repeating: "x", count: 4096)].map {
            (.fcmv1, $0, .taken($0))
        }
        + [
            ("", .empty), (" a", .invisibleCharacter), ("a b", .invisibleCharacter), ("a\n", .invisibleCharacter),
            ("é", .invisibleCharacter), ("a\0", .invisibleCharacter), ("a\u{7F}", .invisibleCharacter),
            (String(repeating: "x", count: 4097), .tooLong), (String(repeating: "x", count: 5000), .tooLong),
        ].map { (text: String, problem: DeviceToken.Problem) in (.fcmv1, text, .refused(problem.description)) }
        + [
            (.windows, "https://db5.notify.windows.com/?token=Aw%3d", .taken("https://db5.notify.windows.com/?token=Aw%3d")),
            (.browser, keys, .taken(keys)),
            (.browser, #"{ "auth": "x", "endpoint": "https:\/\/push.example/1", "p256dh": "BN" }"#, .taken(keys)),
            (.browser, "https://push.example/1", .refused(DeviceToken.Problem.noSubscription.description)),
            (.browser, "{}", .refused(DeviceToken.Problem.noSubscription.description)),
        ]

    @Test(arguments: handles) func aHandleIsTheSameEverywhere(_ platform: Platform, _ handle: String, _ expected: Answer) throws {
        let name = "\(platform.name)"
        let device = "{\"platform\":\"\(name)\",\"handle\":\(Self.text(handle))}"
        #expect(Self.audience("{\"devices\":[\(device)]}") == expected)
        #expect(try Self.flags("--device", "\(name):\(handle)") == expected)
        #expect(try Self.file("platform,handle", "\(name),\(Self.column(handle))") == expected)
        #expect(try Self.file(device) == expected)
        switch try Self.registered("\"Platform\":\"\(name)\",\"Handle\":\(Self.text(handle))") {
        case .success(let body): #expect(.taken(body.handle) == expected)
        case .failure(let problem): #expect(problem.faults.map { .refused($0.message) } == [expected])
        }
        guard platform == .apple, case .taken(let form) = expected else { return }
        // The query says no platform, so what can be an Apple token is one.
        #expect(try HandleQuery(handle).text == form && HandleQuery(handle).platform == .apple)
        #expect(DeviceToken.hashedForm(of: handle, on: .apple) == form)
    }

    /// A hub gets handles in their form. Only the case of an Apple token's digits may be another.
    @Test(arguments: handles) func anEmulatedHubTakesNoHandleThatOthersRefuse(
        _ platform: Platform, _ handle: String, _ expected: Answer
    ) throws {
        let hub = try Hub()
        guard case .taken(let form) = expected else {
            return #expect(hub.statuses(platform, handle).allSatisfy { $0 == 400 }, "\(hub.statuses(platform, handle))")
        }
        #expect(hub.statuses(platform, form).allSatisfy { $0 == 200 || $0 == 201 }, "\(hub.statuses(platform, form))")
        guard platform != .browser, form.utf8.count != handle.utf8.count else { return }
        // A reader of XML takes blanks around a text off.
        #expect(try Hub().statuses(platform, handle).prefix(3).allSatisfy { $0 == 400 })
    }

    // MARK: - Names

    static let names: [(String, Bool)] =
        [
            "alice", "Jürgen", "Ju\u{308}rgen", "a b", "a+b@example.com", "지은", "o'hara", "a||b", "x.c3a9", "a:b", "a,b", "\"a\"",
            String(repeating: "a", count: 255),
        ].map { ($0, true) }
        + [
            "", " a", "a ", "\ta", "a\u{A0}", "\u{3000}a", "a\nb", "a\0", "a\u{7F}", "a\u{85}b", "a\u{2028}b",
            String(repeating: "a", count: 256), String(repeating: "a", count: 254) + "é",
        ].map { ($0, false) }

    @Test(arguments: names) func aNameIsTheSameEverywhere(_ name: String, isName: Bool) throws {
        let text = Self.text(name)
        #expect(UserName.isAddressable(name) == isName)
        #expect(Self.audience("{\"users\":[\(text)]}").isTaken == isName)
        #expect(try Self.flags("--user", name).isTaken == isName)
        let composed = Answer.taken(UserName.composed(name))
        for answer in try [Self.file("user", Self.column(name)), Self.file(text), Self.file("{\"user\":\(text)}")] {
            #expect(isName ? answer == composed : !answer.isTaken, "\(answer)")
        }
        if !isName { #expect(Self.audience("{\"users\":[\(text)]}") == .refused(UserName.refusal)) }
        let query = try? NotifyQuery(Self.query("pns=apns&to_tag=\(PercentEncoding.encoded(name))"))
        #expect(query?.recipient == (isName ? name : nil))
        // A name that signs in has no colon besides, which ends it there (RFC 7617, 2).
        #expect(UserName.isLegal(name) == (isName && !name.contains(":")))
    }

    // MARK: - Tags

    static let tags: [(String, Bool)] =
        ["World", "_@#.:-", "follows_RedSox", "0", String(repeating: "a", count: 120)].map { ($0, true) }
        + [
            "", " ", "a b", "a\n", "a\0", "é", "a,b", "a||b", "!a", "(a)", "$UserId:{a}", "$InstallationId:{a}", "$a", "{a}",
            String(repeating: "a", count: 121),
        ].map { ($0, false) }

    @Test(arguments: tags) func aTagIsTheSameEverywhere(_ tag: String, isTag: Bool) throws {
        let text = Self.text(tag)
        let expected = Answer.taken(tag)
        var answers = [
            "request": Self.audience("{\"categories\":[\(text)]}"), "ids": Self.audience("{\"installations\":[\(text)]}"),
            "flag": try Self.flags("--category", tag), "CSV": try Self.file("category", Self.column(tag)),
            "JSON": try Self.file("{\"category\":\(text)}"), "JSON's ids": try Self.file("{\"installation\":\(text)}"),
        ]
        let body = try Self.registered("\"Platform\":\"fcm\",\"Handle\":\"h\",\"Tags\":[\(text)]")
        answers["app"] = (try? body.get()).flatMap { $0.tags.first.map { .taken($0) } } ?? .refused("")
        for (entrance, answer) in answers { #expect(isTag ? answer == expected : !answer.isTaken, "\(entrance): \(answer)") }
        // A back end may name the hub's own tags in an expression, where `!`, `||` and parentheses are operators besides.
        if !tag.contains(where: { "$!|(".contains($0) }) {
            #expect((try? TagExpression(parsing: tag))?.description == (isTag ? tag : nil))
            let device = "{\"platform\":\"gcm\",\"pushChannel\":\"h\",\"tags\":[\(text)]}"
            #expect(try Hub().status("PUT", "installations/i", [:], device) == (isTag ? 200 : 400))
        }
    }

    // MARK: - Platforms

    static let platforms: [(String, Platform?)] =
        Platform.allCases.map { ("\($0.name)", $0) }
        + [("apns", .apple), ("fcm", .fcmv1), ("fcmV1", .fcmv1), ("wns", .windows)]
        + ["", " ", "APNS", "Apple", "FCM", "WNS", "ios", "android", "mpns", "windowsphone", "template", "apple ", "apple\0"].map
    {
        ($0, nil)
    }

    @Test(arguments: platforms) func aPlatformIsTheSameEverywhere(_ word: String, _ platform: Platform?) throws {
        let handle = platform == .apple ? "AA" : platform == .browser ? Self.keys : "x"
        let device = "{\"platform\":\(Self.text(word)),\"handle\":\(Self.text(handle))}"
        let isKnown = platform != nil
        let (_, faults) = Self.request("\"platforms\":[\(Self.text(word))],\"audience\":{\"broadcast\":true},\(Self.message)")
        #expect(faults.contains { $0.pointer == "/platforms/0" && !$0.message.contains("content") } != isKnown, "\(faults)")
        #expect(Self.audience("{\"devices\":[\(device)]}").isTaken == isKnown)
        #expect(try Self.flags("--device", "\(word):\(handle)").isTaken == isKnown)
        #expect(try Self.file("platform,handle", "\(Self.column(word)),\(Self.column(handle))").isTaken == isKnown)
        #expect(try Self.file(device).isTaken == isKnown)
        // Apps write words in any case, name `gcm` what is `fcmv1` by now, and register with four services.
        let meant = Platform(name: word.lowercased()).flatMap { $0 == .gcm ? .fcmv1 : $0 }
        let served = meant.flatMap { [.apple, .fcmv1, .windows, .browser].contains($0) ? $0 : nil }
        #expect(RegisterBody.platform(word) == served)
        let query = try? NotifyQuery(Self.query("pns=\(PercentEncoding.encoded(word))&to_tag=bob"))
        #expect(query?.platform == (served == .browser ? nil : served))
    }

    // MARK: - Moments

    static let moments: [(String, Int64?)] =
        [
            ("2026-11-21T17:00:00Z", 1_795_280_400_000), ("2026-11-21t17:00:00z", 1_795_280_400_000),
            ("2026-11-21T18:00:00+01:00", 1_795_280_400_000), ("2026-11-21T17:00:00.1239Z", 1_795_280_400_123),
            ("2026-11-21T17:00:00-00:00", 1_795_280_400_000), ("2026-12-31T23:59:60Z", 1_798_761_600_000),
            ("2028-02-29T00:00:00Z", 1_835_395_200_000),
        ]
        + [
            "", " ", "now", "2026-11-21", "2026-11-21T17:00Z", "2026-11-21 17:00:00Z", "2026-11-21T17:00:00",
            "2026-02-29T00:00:00Z",
            "2026-11-21T24:00:00Z", "2026-11-21T17:00:60Z", "2026-11-21T17:00:00+0100", "2026-11-21T17:00:00.Z",
            " 2026-11-21T17:00:00Z", "2026-11-21T17:00:00Z ", "2026-11-21T17:00:00Z\0", "26-11-21T17:00:00Z", "1795280400",
            "Sat, 21 Nov 2026 17:00:00 GMT", "２026-11-21T17:00:00Z",
        ].map { ($0, nil) }

    @Test(arguments: moments) func aMomentIsTheSameEverywhere(_ text: String, _ moment: Int64?) throws {
        let isMoment = moment != nil
        for name in ["created_at", "expires_at", "not_before"] {
            let (request, faults) = Self.request(
                "\"\(name)\":\(Self.text(text)),\"audience\":{\"broadcast\":true},\(Self.message)")
            let read = name == "created_at" ? request.createdAt : name == "expires_at" ? request.expiresAt : request.notBefore
            #expect(read?.milliseconds == moment, "\(name)")
            #expect(faults.contains { $0.pointer == "/\(name)" && $0.message.contains("date and time") } != isMoment, "\(faults)")
        }
        let (_, faults) = Self.request("\"audience\":{\"broadcast\":true},\(Self.message)", [("ce_expirytime", text)])
        // An empty header says nothing.
        #expect(faults.contains { $0.message.contains("expirytime") } == (!isMoment && !text.isEmpty))
        var fields: HTTPFields = ["ce-specversion": "1.0", "ce-id": "a", "ce-source": "/a", "ce-type": "push.request.v1"]
        fields.append("ce-time", value: PercentEncoding.encoded(text))
        #expect(CloudEvent(fields).faults(in: .binaryEvent).isEmpty == isMoment)
        // People who type may leave out what is clear, and .NET writes the time of a schedule without its zone.
        guard let moment else { return }
        #expect(TimeWords.moment(text, now: 0, isPast: true)?.milliseconds == moment)
        #expect(Moment(reading: text)?.milliseconds == moment)
    }
}
