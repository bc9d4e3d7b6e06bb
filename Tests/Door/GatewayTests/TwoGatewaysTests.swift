import GatewayAPI
import HubEmulator
import TestSupport
import Testing

/// Two gateways at the hubs of a spread, called by users who share ids and handles.
@Suite(.tags(.threads)) struct TwoGatewaysTests {
    /// Ids that differ in case are two devices.
    private static let ids = ["a", "A", "b", "c"]
    private static let users = [SpreadStage.user(of: 0), SpreadStage.user(of: 1)]

    /// One device, as all who look must see it.
    private struct Device {
        var user: String
        var handle: String
        var tags: Set<String>
    }

    /// A call: its method, path and body, and the status and the devices that come of it.
    private struct Change {
        let method: String
        var path: String
        var body = ""
        var status: Int
        var devices: [String: Device]
    }

    private func list(_ tags: Set<String>) -> String { "[" + tags.sorted().map { "\"\($0)\"" }.joined(separator: ",") + "]" }

    private func change(
        of devices: [String: Device], by user: String, _ random: inout SeededRandom
    ) -> Change {
        let id = Self.ids[random.below(Self.ids.count)]
        let (handle, tag) = ("h\(random.below(3))", "t\(random.below(3))")
        let tags: Set<String> = ["t\(random.below(3))", tag]
        let found = devices[id]
        let isOwn = found?.user == user
        var next = devices
        switch random.below(7) {
        case 0, 1, 2:
            let body = #"{"platform":"fcm","handle":"\#(handle)","tags":\#(list(tags))}"#
            guard found == nil || isOwn || found?.handle == handle else {
                return Change(method: "PUT", path: id, body: body, status: 404, devices: devices)
            }
            // Of ids that differ in case alone both stay.
            next = next.filter { $0.value.handle != handle || $0.key.lowercased() == id.lowercased() }
            next[id] = Device(user: user, handle: handle, tags: tags)
            return Change(method: "PUT", path: id, body: body, status: 200, devices: next)
        case 3:
            next[id]?.tags = tags
            let body = #"[{"op":"replace","path":"/tags","value":\#(list(tags))}]"#
            return Change(method: "PATCH", path: id, body: body, status: isOwn ? 200 : 404, devices: isOwn ? next : devices)
        case 4:
            next[id]?.tags.insert(tag)
            return Change(method: "PUT", path: "\(id)/tags/\(tag)", status: isOwn ? 204 : 404, devices: isOwn ? next : devices)
        case 5:
            next[id]?.tags.remove(tag)
            return Change(
                method: "DELETE", path: "\(id)/tags/\(tag)", status: isOwn ? 204 : 404, devices: isOwn ? next : devices)
        default:
            next[id] = nil
            let isGone = isOwn || found == nil
            return Change(method: "DELETE", path: id, status: isGone ? 204 : 404, devices: isGone ? next : devices)
        }
    }

    @Test(arguments: 0..<6) func eachSeesWhatTheOtherHasDone(_ seed: Int) throws {
        let first = try SpreadStage()
        defer { first.stop() }
        let second = try SpreadStage(hubs: first.hubs)
        defer { second.stopGateway() }
        var random = SeededRandom(seed)
        var devices: [String: Device] = [:]
        for _ in 0..<40 {
            let (gateway, user) = ([first, second][random.below(2)], Self.users[random.below(2)])
            let change = change(of: devices, by: user, &random)
            let answer = try gateway.ask(change.method, change.path, as: user, body: change.body)
            try #require(answer.status == change.status, "\(change.method) \(change.path): \(answer.text)")
            devices = change.devices
            for id in Self.ids {
                let shown = try gateway.ask("GET", id, as: user)
                let own = devices[id].flatMap { $0.user == user ? $0 : nil }
                try #require(shown.status == (own == nil ? 404 : 200), "\(id): \(shown.text)")
                guard let own else { continue }
                let words = [#""handle":"\#(own.handle)""#, #""tags":\#(list(own.tags))"#]
                #expect(words.allSatisfy { shown.text.contains($0) }, "\(shown.text)")
            }
        }
        for (home, user) in Self.users.enumerated() {
            var expected = [[], []] as [[String]]
            expected[home] = devices.filter { $0.value.user == user }.map { "\($0.key) \($0.value.handle)" }.sorted()
            #expect(first.devices(of: user) == expected)
        }
    }

    /// Copies under one id at two hubs, of which another user has one: neither the gateway's own calls nor those of apps touch it.
    @Test func theCopyOfAnotherUserIsNotTouched() throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let (mallory, bob) = (Self.users[0], Self.users[1])
        // As a call at the hub of its user alone would leave it.
        #expect(try stage.ask("PUT", "x?hub=one", as: mallory, body: #"{"platform":"fcm","handle":"m"}"#).status == 404)
        #expect(try stage.ask("PUT", "x?hub=all", as: mallory, body: #"{"platform":"fcm","handle":"m"}"#).status == 200)
        try put("x", of: bob, handle: "b", at: stage.hubs[1])
        #expect(try stage.ask("DELETE", "x", as: mallory).status == 404)
        #expect(try stage.ask("PUT", "x", as: mallory, body: #"{"platform":"fcm","handle":"n"}"#).status == 404)
        #expect(try stage.register("PUT", "x", as: mallory, handle: "m") == 404)
        #expect(try stage.register("DELETE", "x", as: mallory) == 404)
        #expect(stage.devices(of: bob)[1] == ["x b"] && stage.devices(of: mallory)[0] == ["x m"])
    }

    /// Registers a device at one hub, as a gateway without a spread does.
    private func put(_ id: String, of user: String, handle: String, at hub: EmulatedHub) throws {
        let gateway = try ServedGateway(hasKafka: false) { configuration in
            if let first = try? TestGateway.configuration(nil, demo: true, hub: hub.connectionString).first {
                configuration.first = first
            }
        }
        defer { gateway.stop() }
        let body = #"{"Platform":"fcm","Handle":"\#(handle)"}"#
        #expect(try gateway.ask("PUT", "/api/register/\(id)", as: user, body: body).status == 200)
    }
}
