import HubEmulator
import HubServer
import Testing

struct StoredDevicesTests {
    private static let phone = EmulatedDevice(
        id: "alice-phone", platform: "apns", handle: String(repeating: "A1", count: 32), tags: ["username:alice"], templates: [:])
    private static let tablet = EmulatedDevice(
        id: "bea-tablet", platform: "fcmV1", handle: "bea-token", tags: ["username:bea"], templates: [:])

    @Test func aHubListsTheDevicesThatItsStoreHas() throws {
        let store = MemoryDevices()
        let first = try EmulatedHub(HubEmulatorConfiguration(), devices: store)
        for device in [Self.phone, Self.tablet] { try first.register(device) }
        let second = try EmulatedHub(HubEmulatorConfiguration(), devices: store)
        #expect(Set(second.devices().map(\.handle)) == [Self.phone.handle, Self.tablet.handle])
        #expect(second.devices(tag: "username:bea").map(\.installations) == [[Self.tablet.id]])
    }

    @Test func aForgottenDeviceHasNoRegistrationAndOthersStay() throws {
        let store = MemoryDevices()
        let hub = try EmulatedHub(HubEmulatorConfiguration(), devices: store)
        for device in [Self.phone, Self.tablet] { try hub.register(device) }
        try hub.forget([Self.phone])
        #expect(try EmulatedHub(HubEmulatorConfiguration(), devices: store).devices().map(\.handle) == [Self.tablet.handle])
    }
}
