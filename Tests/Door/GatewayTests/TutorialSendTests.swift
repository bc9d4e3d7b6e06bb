import Delivery
import Foundation
import FoundationXML
import GatewayAPI
import HTTPServing
import HubEmulator
import TestSupport
import Testing
import WorkerRuntime

/// The tutorials' apps send over real HTTP, through gateway, Kafka, worker and hub, and the right devices ring.
@Suite(.tags(.threads)) struct TutorialSendTests {
    private let stage: AppStage

    init() throws { stage = try AppStage.shared.get() }

    @Test func theUsersDevicesOfThePlatformRingAndNoOthers() throws {
        let (alice, bob, carol) = (stage.word("alice"), stage.word("bob"), stage.word("carol"))
        let phones = try (0..<2).map { _ in try stage.phone(of: bob) }
        let (android, windows) = (try stage.android(of: bob), try stage.windows(of: bob))
        let others = [try stage.phone(of: carol), try stage.phone(of: alice)]
        let sender = others[1]
        #expect(try sender.send("Hi", to: bob, on: ["apns"]) == [200])
        #expect(phones.map { stage.rungCount($0.handle) } == [1, 1])
        #expect(stage.rungCount(android.handle) == 0 && stage.rungCount(windows.channel) == 0)
        #expect(try sender.send("Hi", to: bob, on: ["wns", "gcm"]) == [200, 200])
        for phone in phones { #expect(stage.rung(phone.handle).map(\.alert) == ["From \(alice): Hi"]) }
        #expect(stage.rung(android.handle).map { $0.data("message") } == ["From \(alice): Hi"])
        let toast = try #require(stage.rung(windows.channel).first)
        #expect(stage.rungCount(windows.channel) == 1 && toast.headers["X-WNS-Type"] == "wns/toast")
        #expect(
            toast.body.contains(#"<binding template="ToastText01"><text id="1">From \#(alice): Hi</text></binding>"#))
        #expect(others.allSatisfy { stage.rungCount($0.handle) == 0 })
    }

    @Test func whateverIsTypedArrivesUnchanged() throws {
        let user = stage.word("alice")
        let (phone, android, windows) = (try stage.phone(of: user), try stage.android(of: user), try stage.windows(of: user))
        let typed = #"a < b & \"c\" 'd' \\ é 🎉 \n"#
        let statuses = try phone.send(typed, to: user, on: ["apns", "gcm", "wns"])
        #expect(statuses == [200, 200, 200])
        let text = "From \(user): a < b & \"c\" 'd' \\ é 🎉 \n"
        #expect(stage.rung(phone.handle).map(\.alert) == [text])
        #expect(stage.rung(android.handle).map { $0.data("message") } == [text])
        #expect(stage.rung(windows.channel).map { ToastText.read($0.body) } == [text])
    }

    @Test(arguments: ["say \"hi\"", "a\\", "a\nb"]) func whatIsNoStringIsRefusedAndRingsNobody(text: String) throws {
        let user = stage.word("alice")
        let app = try stage.phone(of: user)
        #expect(try app.send(text, to: user, on: ["apns"]) == [400])
        #expect(try app.send("then", to: user, on: ["apns"]) == [200])
        #expect(stage.rung(app.handle).map(\.alert) == ["From \(user): then"])
    }

    @Test func aBarePostRingsTheCallersOwnDevicesOnEveryPlatform() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let (phone, android, windows) = (try stage.phone(of: alice), try stage.android(of: alice), try stage.windows(of: alice))
        let other = try stage.phone(of: bob)
        #expect(try phone.sendToMyself() == 200)
        #expect(stage.rung(phone.handle).map(\.alert) == ["Hello"])
        #expect(stage.rung(android.handle).map { $0.data("msg") } == ["Hello"])
        #expect(stage.rung(windows.channel).count == 1 && stage.rung(windows.channel)[0].body.contains("Hello, \(alice)"))
        #expect(stage.rungCount(other.handle) == 0)
    }

    @Test func ofThreePlatformsTheOneThatFailsIsToldAlone() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let (phone, android, windows) = (try stage.phone(of: bob), try stage.android(of: bob), try stage.windows(of: bob))
        stage.hub.arm([try Fault(parsing: "status=400,format=apple,tags=username:\(bob)")], replacing: false)
        let sender = try stage.phone(of: alice)
        #expect(try sender.send("Hi", to: bob, on: ["wns", "gcm", "apns"]) == [200, 200, 500])
        #expect([phone.handle, android.handle, windows.channel].map { stage.rungCount($0) } == [0, 1, 1])
    }

    @Test func aSecurePushCarriesAnIDAndTheAppFetchesTheTextAtAnyGateway() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let (phone, android, windows) = (try stage.phone(of: bob), try stage.android(of: bob), try stage.windows(of: bob))
        let answer = try AppSession(port: stage.port).call(
            "POST", "/api/notifications?secure=true&to_tag=\(bob)", [basic(alice, alice), "Content-Type: application/json"],
            #""Lunch?""#)
        #expect(answer.status == 200, "\(answer.body)")
        let id = try #require(stage.rung(android.handle).first?.data("secureId"))
        let (ring, raw) = (try #require(stage.rung(phone.handle).first), try #require(stage.rung(windows.channel).first))
        #expect(ring.alert == nil && ring.body.contains("content-available") && ring.body.contains(id))
        #expect(ring.headers["apns-push-type"] == "background")
        #expect(raw.body == id && raw.headers["X-WNS-Type"] == "wns/raw")
        let session = AppSession(port: stage.trackingPort)
        let text = try session.call("GET", "/api/notifications/\(id)", [basic(bob, bob)])
        #expect(text.status == 200 && text.body == #"{"Payload":"From \#(alice): Lunch?"}"#)
        #expect(try session.call("GET", "/api/notifications/\(id)", [basic(alice, alice)]).status == 404)
    }

    @Test func withAlwaysNoTextIsPushedLoggedOrKept() throws {
        let gateway = try stage.startGateway { $0.isAlwaysSecure = true }
        defer { gateway.stop() }
        let alice = stage.word("alice")
        let (phone, android, windows) = (try stage.phone(of: alice), try stage.android(of: alice), try stage.windows(of: alice))
        let app = IOSApp(gateway.port, token: phone.token)
        try app.logIn(alice, alice)
        #expect(try app.sendToMyself() == 200)
        #expect(try app.send("CANARYtext", to: alice, on: ["apns", "gcm", "wns"]) == [200, 200, 200])
        let ids = stage.rung(windows.channel).map(\.body)
        #expect(ids.count == 2 && stage.rungCount(phone.handle) == 2 && stage.rungCount(android.handle) == 2)
        let rung = [phone.handle, android.handle, windows.channel].flatMap { stage.rung($0) }
        #expect(rung.allSatisfy { !$0.body.contains("Hello") && !$0.body.contains("CANARY") })
        let texts = try ids.map { id in
            try app.session.call("GET", "/api/notifications/\(id)", [basic(alice, alice)]).body
        }
        #expect(texts == [#"{"Payload":"Hello"}"#, #"{"Payload":"From \#(alice): CANARYtext"}"#])
        for topic in [stage.topics.requests, stage.topics.results, "push.secure.v1"] {
            #expect(try !stage.text(of: topic).contains("CANARY"))
        }
        for text in [gateway.services.log.text, gateway.services.metrics] { #expect(!text.contains("CANARY")) }
    }

    /// What the hub tells of a notification, and what the app is told.
    static let outcomes: [(script: String?, status: Int, says: String?)] = [
        ("state=Abandoned", 500, "hub_abandoned"), ("state=Unknown", 500, "hub_state_unknown"),
        ("state=Completed,apple.WrongToken=1", 500, "devices_refused"), ("state=NoTargetFound", 200, "no_target"),
        ("state=Completed,counts=none", 200, "nothing_counted"), ("state=Completed,apple.Success=1", 200, nil), (nil, 200, nil),
    ]

    @Test(arguments: outcomes) func abandonedOrUnknownIsAFailure(row: (script: String?, status: Int, says: String?)) throws {
        let user = stage.word("alice")
        let app = try stage.phone(of: user)
        if let script = row.script {
            stage.hub.script([try TelemetryScript(parsing: "\(script),tags=username:\(user)")], replacing: false)
        }
        let session = AppSession(port: stage.trackingPort)
        let answer = try session.call(
            "POST", "/api/notifications?pns=apns&to_tag=\(user)", [basic(user, user), "Content-Type: application/json"], #""Hi""#)
        #expect(answer.status == row.status)
        let hasCode = answer.body.contains(#""code":"#)
        #expect(hasCode == (row.says != nil))
        if let code = row.says { #expect(answer.body.contains(#""code":"\#(code)""#)) }
        #expect(stage.rungCount(app.handle) == 1)
    }
}

/// Reads the text of a toast as Windows would: by a parser that has nothing to do with the writer.
private final class ToastText: NSObject, XMLParserDelegate {
    private var text = ""
    private var isInText = false

    /// The text in the element `text`; nil for what is no XML.
    static func read(_ toast: String) -> String? {
        let reader = ToastText()
        let parser = XMLParser(data: Data(toast.utf8))
        parser.delegate = reader
        return parser.parse() ? reader.text : nil
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        isInText = name == "text"
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        isInText = false
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if isInText { text += string }
    }
}
