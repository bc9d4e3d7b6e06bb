import Foundation
import HubEmulator
import TestSupport
import Testing

@testable import Console

/// `users remove NAME --devices`, against a hub.
@Suite struct UserDevicesCommandTests {
    /// A hub with devices of alice and bob, and the settings that lead to it.
    private final class Stage {
        let hub: EmulatedHub
        let file = NSTemporaryDirectory() + "pushfan-users-\(UUID().uuidString)"
        var harness = Harness()

        init(hasFile: Bool = true) throws {
            var configuration = HubEmulatorConfiguration()
            configuration.listen = "127.0.0.1:0"
            hub = try EmulatedHub(configuration)
            _ = try hub.start()
            for (user, handle) in [("alice", "a1"), ("alice", "a2"), ("bob", "b1")] {
                try hub.register(
                    EmulatedDevice(id: "i-\(handle)", platform: "fcmV1", handle: handle, tags: ["username:\(user)"]))
            }
            harness.environment = ["PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": hub.connectionString]
            if hasFile { harness.environment["PUSHFAN_GATEWAY_USERS_FILE"] = file }
            harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
            harness.input = "secret\n"
            guard hasFile else { return }
            #expect(harness.run("users set alice").code == .done)
        }

        deinit {
            hub.stop()
            try? FileManager.default.removeItem(atPath: file)
        }

        func run(_ line: String) -> Outcome { harness.run(line) }

        /// The registrations that the hub has of a user.
        func count(of user: String) -> Int { hub.devices(tag: "username:\(user)").reduce(0) { $0 + $1.registrationCount } }
    }

    @Test func theNameGoesFromTheFileAndTheDevicesFromTheHub() throws {
        let stage = try Stage()
        let outcome = stage.run("users remove alice --devices -o ndjson")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output == #"{"name":"alice","state":"removed","hub":"demo","found":2,"removed":2,"left":0}"# + "\n")
        #expect(stage.count(of: "alice") == 0 && stage.count(of: "bob") == 1)
        #expect(stage.run("users list -o ndjson").output.isEmpty)
    }

    @Test(arguments: [true, false]) func aNameThatIsInNoFileHasDevicesToo(hasFile: Bool) throws {
        let stage = try Stage(hasFile: hasFile)
        let outcome = stage.run("users remove bob --devices -o ndjson")
        #expect(outcome.output == #"{"name":"bob","state":"absent","hub":"demo","found":1,"removed":1,"left":0}"# + "\n")
        #expect(outcome.code == .done && stage.count(of: "bob") == 0 && stage.count(of: "alice") == 2)
    }

    /// The hub compares tags without regard to case, so that another user's devices would go.
    @Test func aNameInAnotherCaseRemovesNothing() throws {
        let stage = try Stage()
        let outcome = stage.run("users remove Alice --devices")
        #expect(outcome.code == .nothingMatched && outcome.messages.contains("did you mean 'alice'?"))
        #expect(stage.count(of: "alice") == 2)
    }

    @Test func aHubThatRefusesIsNamedAndTheCommandMayBeRepeated() throws {
        let stage = try Stage()
        let right = stage.hub.connectionString
        stage.harness.environment["PUSHFAN_HUB_CONNECTION_STRING"] = right.replacing(
            "SharedAccessKey=", with: "SharedAccessKey=x")
        let outcome = stage.run("users remove alice --devices -o ndjson")
        #expect(outcome.code == .partlyFailed && outcome.output.contains(#""left":0,"problem":"the hub answers 401"#))
        #expect(outcome.messages.contains("may be repeated") && stage.count(of: "alice") == 2)
        stage.harness.environment["PUSHFAN_HUB_CONNECTION_STRING"] = right
        #expect(stage.run("users remove alice --devices").code == .done && stage.count(of: "alice") == 0)
    }

    @Test(arguments: [[:], ["PUSHFAN_HUB_NAME": "demo"], ["PUSHFAN_HUB_USER_TAG": "{user}"]])
    func withoutAHubNothingIsChanged(environment: [String: String]) throws {
        let stage = try Stage()
        if environment["PUSHFAN_HUB_USER_TAG"] == nil { stage.harness.environment["PUSHFAN_HUB_CONNECTION_STRING"] = nil }
        stage.harness.environment.merge(environment) { $1 }
        #expect(stage.run("users remove alice --devices").code == .configuration)
        stage.harness.environment["PUSHFAN_HUB_USER_TAG"] = nil
        #expect(stage.run("users list -o ndjson").output == #"{"name":"alice"}"# + "\n")
    }
}
