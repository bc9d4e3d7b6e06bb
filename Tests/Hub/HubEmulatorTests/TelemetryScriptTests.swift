import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

struct TelemetryScriptTests {
    private static let platforms = "apple, windows, windowsphone, gcm, fcmv1, adm, baidu, browser, xiaomi"
    private static let duration = "a duration such as 200ms, 10s or 2m, at most a day"

    @Test(arguments: [
        ("", TelemetryScriptError.empty), ("count=1", .empty), ("tags=a", .empty), ("status=500", .unknownField("status")),
        ("State", .badValue(field: "state", value: "", expected: "a word of letters and digits")),
        ("state=a b", .badValue(field: "state", value: "a b", expected: "a word of letters and digits")),
        ("state=Processing/soon", .badValue(field: "state", value: "soon", expected: duration)),
        ("state=Completed,state=Abandoned", .endlessState("Completed")),
        ("hidden=2d", .badValue(field: "hidden", value: "2d", expected: duration)),
        ("hidden,hidden=1s", .repeatedField("hidden")),
        ("apple.Success=1", .needs(field: "apple.Success", other: "state")),
        ("counts=none", .needs(field: "counts", other: "state")),
        ("state=Completed,counts=all", .badValue(field: "counts", value: "all", expected: "none")),
        ("state=Completed,apple.Success=x", .badValue(field: "apple.Success", value: "x", expected: "0 to 1000000000")),
        ("state=Completed,nokia.Success=1", .badValue(field: "nokia.Success", value: "nokia", expected: "one of \(platforms)")),
        ("state=Completed,apple.=1", .badValue(field: "apple.", value: "", expected: "a word of letters and digits")),
        ("refuse=", .badValue(field: "refuse", value: "", expected: "a word of letters and digits")),
        ("device=h", .needs(field: "device", other: "refuse")), ("refuse=BadChannel,hidden=1s", .conflict("hidden", "refuse")),
        ("tags=a,refuse=BadChannel", .conflict("tags", "refuse")),
        ("refuse=BadChannel,platform=apns", .badValue(field: "platform", value: "apns", expected: "one of \(platforms)")),
        ("hidden,every=0", .badValue(field: "every", value: "0", expected: "1 to 1000000000")),
    ])
    func aFaultyLineIsNamed(_ text: String, _ expected: TelemetryScriptError) {
        #expect(throws: expected) { try TelemetryScript(parsing: text) }
        #expect(!expected.description.isEmpty)
    }

    private func hub(_ lines: [String]) throws -> TestHub {
        let hub = try TestHub { configuration in
            configuration.telemetry = lines.compactMap { try? TelemetryScript(parsing: $0) }
        }
        try hub.register("bob", "apns", tags: ["a"])
        try hub.register("ann", "apns", tags: ["a"])
        try hub.register("tim", "gcm", tags: ["a"])
        return hub
    }

    @Test(arguments: [
        (["state=Abandoned,count=2"], "Abandoned Abandoned Completed Completed"),
        (["state=Abandoned,every=2"], "Completed Abandoned Completed Abandoned"),
        (["state=Abandoned,after=3"], "Completed Completed Completed Abandoned"),
        (["state=Unknown,tags=b"], "Completed Completed Completed Completed"),
        (["state=Unknown,tags=A,count=1", "hidden,format=gcm", "state=Paused,format=apple"], "Unknown Paused Paused Paused"),
    ])
    func aLineIsForTheNotificationsItNames(_ lines: [String], _ expected: String) throws {
        let hub = try hub(lines)
        let states = try (0..<4).map { _ in
            String(try hub.progress(try TestHub.id(try hub.send("apple", to: "a"))).prefix { $0 != " " })
        }
        #expect(states.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ("refuse=BadChannel", "Completed Apns.BadChannel=2", []),
        (
            "refuse=BadChannel,device=HANDLE-BOB",
            "Completed Apns.Success=1 Apns.BadChannel=1", ["ann"]
        ),
        ("refuse=Melted,platform=apple,count=1", "Completed Apns.Success=1 Apns.Melted=1", ["ann"]),
        ("refuse=Throttled,platform=gcm", "Completed Apns.Success=2", ["ann", "bob"]),
        ("refuse=Throttled,every=2", "Completed Apns.Success=1 Apns.Throttled=1", ["bob"]),
        ("refuse=Throttled,after=1", "Completed Apns.Success=1 Apns.Throttled=1", ["bob"]),
    ])
    func aRefusedDeviceDoesNotRing(_ line: String, _ expected: String, _ rung: [String]) throws {
        let hub = try hub([line])
        let sent = try hub.send("apple", to: "a")
        #expect(try hub.progress(try TestHub.id(sent)) == expected)
        #expect(hub.rung.keys.sorted() == rung)
        #expect(hub.hub.calls().first?.rungCount == rung.count)
    }

    @Test func aTestSendTellsOfTheRefusedDevice() throws {
        let hub = try hub(["refuse=WrongToken,device=handle-bob", "refuse=ExpiredChannel,device=handle-ann"])
        let text = try hub.send("apple", to: "a", query: "?test").text
        #expect(text.contains("<Success>0</Success><Failure>2</Failure>"))
        #expect(text.contains("The Token obtained from the Token Provider is wrong"))
        #expect(text.contains("The Push Notification System handle for the registration is invalid"))
    }

    @Test func theScriptIsChangedAtRunTime() throws {
        let hub = try hub([])
        func admin(_ method: String, _ body: String = "") -> HTTPServerResponse {
            hub.hub.handle(HTTPServerRequest(method: method, target: "/telemetry", body: Array(body.utf8)))
        }
        #expect(admin("PUT", "state=Abandoned,count=1\n\n refuse=BadChannel,platform=gcm \n").status == 200)
        #expect(try hub.progress(try TestHub.id(try hub.send("apple", to: "a"))) == "Abandoned")
        #expect(
            admin("GET").text == #"[{"telemetry":"state=Abandoned,count=1","met":1,"struck":1},"#
                + #"{"telemetry":"refuse=BadChannel,platform=gcm","met":0,"struck":0}]"# + "\n")
        #expect(admin("POST", #"["hidden"]"#).text.contains("hidden"))
        #expect(admin("PUT", "state=").status == 400)
        #expect(admin("PUT", "[").status == 400)
        #expect(try hub.progress(try TestHub.id(try hub.send("apple", to: "a"))) == "404")
        #expect(admin("DELETE").status == 204)
        #expect(try hub.progress(try TestHub.id(try hub.send("apple", to: "a"))) == "Completed Apns.Success=2")
        #expect(admin("PATCH").status == 405)
    }
}
