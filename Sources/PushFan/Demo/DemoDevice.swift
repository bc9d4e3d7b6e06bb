import HubEmulator

/// A device of the demo, with the name that a person would give it.
struct DemoDevice {
    let name: String
    let emulated: EmulatedDevice

    init(
        _ name: String, _ platform: String, _ handle: String, tags: [String], templates: [String: String] = [:]
    ) {
        self.name = name
        let id = String(name.prefix { $0 != " " })
        emulated = EmulatedDevice(id: id, platform: platform, handle: handle, tags: tags, templates: templates)
    }

    /// The phone on which the requests of the scene with the kill ring.
    static let crowded = DemoDevice("cleo-phone", "apns", String(repeating: "C1", count: 32), tags: ["username:cleo"])

    static let all: [DemoDevice] = [
        DemoDevice("alice-phone", "apns", String(repeating: "A1", count: 32), tags: ["username:alice"]),
        DemoDevice("bea-phone", "apns", String(repeating: "B1", count: 32), tags: ["username:bea"]),
        DemoDevice("bea-laptop", "wns", "https://wns2.notify.windows.com/?token=bea", tags: ["username:bea"]),
        DemoDevice("bea-tablet", "fcmV1", "bea-registration-token", tags: ["username:bea"]),
        crowded,
        DemoDevice("dan-phone", "apns", String(repeating: "D1", count: 32), tags: ["username:dan"]),
        DemoDevice(
            "ada-phone (English)", "apns", String(repeating: "E1", count: 32), tags: ["World"],
            templates: ["news": #"{"aps":{"alert":"$(headline_en)"}}"#]),
        DemoDevice(
            "jo-tablet (German)", "fcmV1", "jo-registration-token", tags: ["World", "Sports"],
            templates: ["news": #"{"message":{"notification":{"title":"Nachrichten","body":"$(headline_de)"}}}"#]),
        DemoDevice(
            "emi-phone (Japanese)", "apns", String(repeating: "E3", count: 32), tags: ["Sports"],
            templates: ["news": #"{"aps":{"alert":"$(headline_ja)"}}"#]),
    ]

    /// Devices whose apps register them through the gateway.
    static let apps: [DemoDevice] = [
        DemoDevice("fay-phone", "apns", String(repeating: "F4", count: 32), tags: []),
        DemoDevice("fay-laptop", "wns", "https://wns2.notify.windows.com/?token=fay", tags: []),
        DemoDevice("gus-phone", "fcm", "gus-registration-token", tags: []),
    ]

    /// Devices whose apps register templates at the hub, with their categories.
    static let subscribers: [DemoDevice] = [
        DemoDevice("hal-phone", "apns", String(repeating: "8A", count: 32), tags: ["Politics", "Science"]),
        DemoDevice("ivy-phone", "apns", String(repeating: "1F", count: 32), tags: ["Science"]),
    ]

    /// The user of the device.
    var user: String { String(name.prefix { $0 != "-" }) }

    /// The name of the device with `handle`.
    static func name(of handle: String) -> String {
        (all + apps + subscribers).first { $0.emulated.handle == handle }?.name ?? "a device"
    }
}
