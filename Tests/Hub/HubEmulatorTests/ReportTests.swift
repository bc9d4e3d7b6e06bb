import HTTPServing
import PushModel
import Testing

@testable import HubEmulator
@testable import HubServer

struct ReportTests {
    private func admin(_ hub: TestHub, _ method: String, _ target: String) -> HTTPServerResponse {
        hub.hub.handle(HTTPServerRequest(method: method, target: target))
    }

    @Test func headIsAllowedWhereGetIs() throws {
        let hub = try TestHub()
        #expect(admin(hub, "HEAD", "/livez").status == 200 && admin(hub, "PATCH", "/livez").headers["Allow"] == "GET, HEAD")
        #expect(admin(hub, "PATCH", "/calls").headers["Allow"] == "GET, HEAD, DELETE")
    }

    @Test func callsAreRecordedExactly() throws {
        let hub = try TestHub()
        try hub.register("bob", "apns", tags: ["a"])
        try hub.send("apple", to: "a", #"{"x":"é"}"#, ["apns-collapse-id": "c"])
        try hub.send("apple", to: "a+b")
        var document = JSONDocument()
        try document.read(admin(hub, "GET", "/calls").body.span)
        #expect(document.childCount(of: document.root) == 2)
        let text = admin(hub, "GET", "/calls?after=0&limit=1").text
        #expect(
            text.hasPrefix(
                #"[{"id":1,"time":"2026-01-01T00:00:00.000Z","method":"POST","path":"/newshub/messages?api-version=2020-06","#))
        #expect(
            text.contains(
                #""operation":"send","format":"apple","tags":"a","handle":null,"status":201,"accepted":true,"notification_id":""#)
        )
        #expect(text.contains(#""rung":1,"fault":null,"collapse":"c","client":"127.0.0.1:0","#))
        #expect(text.contains(#""body":"{\"x\":\"é\"}""#) && text.contains(#""apns-collapse-id":"c""#))
        #expect(!text.contains("SharedAccessSignature"))
        #expect(admin(hub, "GET", "/calls?after=1").text.contains(#""status":400,"accepted":false,"notification_id":null"#))
        #expect(admin(hub, "GET", "/calls?limit=0").headers["X-Total-Count"] == "2")
        #expect(admin(hub, "GET", "/calls?after=x").status == 400)
        #expect(admin(hub, "DELETE", "/calls").status == 204)
        #expect(admin(hub, "GET", "/calls").text == "[]\n")
        try hub.send("apple")
        #expect(hub.hub.calls().map(\.id) == [3])
    }

    @Test func devicesAreListedFilteredAndReset() throws {
        let hub = try TestHub()
        try hub.register("bob", "apns", tags: ["a", "B"])
        try hub.register("tim", "gcm", tags: ["b"])
        try hub.send("apple", to: "a", #"{"y":1}"#)
        var document = JSONDocument()
        try document.read(admin(hub, "GET", "/devices").body.span)
        #expect(document.childCount(of: document.root) == 2)
        #expect(hub.hub.devices(tag: "b").count == 2 && hub.hub.devices(tag: "a").count == 1)
        let text = admin(hub, "GET", "/devices?handle=HANDLE-BOB").text
        #expect(
            text.contains(
                #""platform":"apple","handle":"handle-bob","tags":["a","B","$InstallationId:{bob}"],"installations":["bob"]"#))
        #expect(text.contains(#""rung_count":1,"rung":[{"notification_id":""#))
        #expect(admin(hub, "DELETE", "/devices/rung").status == 204)
        #expect(hub.hub.rungCount == 0 && hub.hub.devices().count == 2)
        #expect(admin(hub, "GET", "/livez").text == "ok\n")
    }

    @Test func memoryIsBounded() throws {
        let hub = try TestHub { $0.maximumRecords = 10 }
        try hub.register("a", "apns")
        try hub.register("b", "apns")
        for index in 0..<30 { try hub.send("apple", "{\"n\":\(index)}") }
        let devices = hub.hub.devices()
        #expect(devices.map(\.rungCount) == [30, 30])
        #expect(devices.map { $0.rung.count }.reduce(0, +) == 10)
        #expect(devices.first?.rung.last?.body == #"{"n":29}"#)
        #expect(hub.hub.calls().map(\.id) == Array(21...30))
    }

    @Test(arguments: [HubEmulatorConfiguration.Recording.full, .light, .off])
    func recordingKeepsWhatItIsAskedTo(_ recording: HubEmulatorConfiguration.Recording) throws {
        let hub = try TestHub { $0.recording = recording }
        try hub.register("a", "apns")
        try hub.send("apple")
        #expect(hub.hub.rungCount == 1)
        #expect(hub.hub.calls().count == (recording == .off ? 0 : 1))
        #expect(hub.hub.calls().first?.body.isEmpty != (recording == .full))
        let ring = try #require(hub.hub.devices().first?.rung.first)
        #expect(ring.body.isEmpty == (recording == .off))
    }

    @Test func queuesForgetTheOldestFirst() {
        var queue = NewestValues<Int>(capacity: 100)
        var dropped: [Int] = []
        for value in 0..<1000 { if let old = queue.append(value) { dropped.append(old) } }
        #expect(queue.elements == Array(900..<1000) && dropped == Array(0..<900))
        #expect(queue.popFirst() == 900 && queue.count == 99 && queue[0] == 901)
    }

    @Test(arguments: [
        ("devices", false), ("Calls", false), ("a b", false), ("demo", true), ("", false),
    ])
    func hubNamesMustNotHideTheEmulatorsPaths(_ name: String, _ isValid: Bool) {
        var configuration = HubEmulatorConfiguration()
        configuration.hubName = name
        #expect(configuration.problems().isEmpty == isValid)
        if !isValid { #expect(throws: HubEmulatorError.self) { try EmulatedHub(configuration) } }
    }

    @Test(
        arguments: [
            (1_767_225_599_999, "20251231235959", "12/31/2025 11:59:59 PM", "Wed, 31 Dec 2025 23:59:59 GMT"),
            (1_770_000_000_000, "20260202024000", "2/2/2026 2:40:00 AM", "Mon, 02 Feb 2026 02:40:00 GMT"),
            (1_772_539_200_000, "20260303120000", "3/3/2026 12:00:00 PM", "Tue, 03 Mar 2026 12:00:00 GMT"),
        ] as [(Int64, String, String, String)])
    func momentsHaveTheHubsSpellings(_ milliseconds: Int64, _ compact: String, _ american: String, _ http: String) {
        let moment = Moment(milliseconds: milliseconds)
        #expect(moment.compact == compact && moment.american == american && moment.httpDate == http)
    }
}
