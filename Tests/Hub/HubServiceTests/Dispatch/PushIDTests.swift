import HTTPServing
import Testing

@testable import HubServer

@Suite("The id of a push")
struct PushIDTests {
    private func delivery(
        _ platform: HubPlatform = .apple, handle: String = "AB", template: String? = nil, body: String = "x"
    ) -> Delivery {
        Delivery(
            device: DeviceKey(platform: platform, handle: handle), handle: handle, registrationID: "1", installationID: nil,
            registeredAt: nil, template: template, body: Array(body.utf8), headers: [:], collapseKey: nil, refusal: nil)
    }

    @Test("is a UUID of version 8")
    func form() {
        let groups = delivery().pushID(of: "n").split(separator: "-")
        #expect(groups.map(\.count) == [8, 4, 4, 4, 12])
        #expect(groups[2].first == "8")
        #expect(groups[3].first.map { "89ab".contains($0) } == true)
    }

    @Test("is the same for the same push, a device token in any case")
    func equality() {
        #expect(delivery(handle: "ab").pushID(of: "n") == delivery(handle: "AB", body: "other").pushID(of: "n"))
    }

    @Test("differs by notification, platform, handle, template and filled-in body")
    func difference() {
        let ids = [
            delivery().pushID(of: "n"), delivery().pushID(of: "m"), delivery(.windows).pushID(of: "n"),
            delivery(handle: "AC").pushID(of: "n"), delivery(template: "").pushID(of: "n"),
            delivery(template: "t").pushID(of: "n"), delivery(template: "t", body: "y").pushID(of: "n"),
        ]
        #expect(Set(ids).count == ids.count)
    }
}
