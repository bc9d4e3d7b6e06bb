import FanOut
import HubREST
import PushModel
import Testing

@testable import DeviceAPI

/// How the registrations of a user become the list of its devices.
struct UserDevicesTests {
    private func list(
        _ found: [(hub: String, registrations: [DeviceRegistration])], showsHandles: Bool = true
    ) throws -> String {
        let tag = try UserTag.Pattern("username:{user}").tag(of: "alice")
        var devices = UserDevices(of: "alice", tag: tag, showsHandles: showsHandles)
        for (hub, registrations) in found { devices.add(registrations, at: hub) }
        #expect("\(devices)" == "UserDevices")
        return String(decoding: devices.json(next: nil), as: UTF8.self)
    }

    private func registration(
        _ id: String, _ platform: Platform? = .apple, _ kind: DeviceRegistration.Kind = .native, handle: String? = "62bc",
        tags: [String]
    ) -> DeviceRegistration {
        DeviceRegistration(id: id, platform: platform, kind: kind, handle: handle, tags: tags)
    }

    @Test func nothingIsAnEmptyList() throws {
        #expect(try list([]) == #"{"items":[],"next":null}"#)
        #expect(try list([("eu", [])]) == #"{"items":[],"next":null}"#)
    }

    @Test func theRegistrationsOfAnInstallationAreOneDevice() throws {
        let tags = ["username:alice", "World", "$InstallationId:{4f1c}", "$UserId:{alice}"]
        let found = [
            registration("1", tags: tags),
            registration("2", .apple, .template(name: "news"), tags: tags + ["news", "Sports"]),
        ]
        let row =
            #"{"id":"4f1c","platform":"apns","handle":"62bc","user":"alice","tags":["Sports","World"],"#
            + #""template_names":["news"],"hub":"eu"}"#
        #expect(try list([("eu", found + found)]) == #"{"items":["# + row + #"],"next":null}"#)
    }

    @Test func aRegistrationWithoutInstallationIsADeviceOfItsOwn() throws {
        let found = [
            registration("1-2-3", .fcmv1, tags: ["USERNAME:Alice"]),
            registration("1-2-4", nil, handle: nil, tags: ["username:alice"]),
        ]
        let text = try list([("eu", found)])
        #expect(
            text
                == #"{"items":[{"registration_id":"1-2-3","platform":"fcmv1","handle":"62bc","user":"alice","hub":"eu"},"#
                + #"{"registration_id":"1-2-4","platform":"other","user":"alice","hub":"eu"}],"next":null}"#,
            "\(text)")
    }

    @Test func theSameIDAtTwoHubsIsTwoDevices() throws {
        let found = [registration("1", tags: ["$InstallationId:{4f1c}"])]
        let text = try list([("eu", found), ("us", found)])
        #expect(text.contains(#""hub":"eu""#) && text.contains(#""hub":"us""#))
    }

    /// Of a browser and of Baidu a list has a part of the handle, whose digest would be another's.
    @Test(arguments: [(Platform.apple, true), (.fcmv1, true), (.windows, true), (.browser, false), (.baidu, false)])
    func withoutTheScopeADigestStandsForTheHandle(platform: Platform, hasDigest: Bool) throws {
        let text = try list([("eu", [registration("1", platform, tags: [])])], showsHandles: false)
        #expect(!text.contains("62bc") && text.contains("handle_sha256") == hasDigest)
    }
}
