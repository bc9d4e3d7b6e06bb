import HubEmulator

/// A device of the demo, with the name that a person would give it.
struct DemoDevice {
    let name: String
    let emulated: EmulatedDevice

    init(
        _ name: String, platform: String, handle: String, tags: [String], templates: [String: String] = [:]
    ) {
        self.name = name
        let id = String(name.prefix { $0 != " " })
        emulated = EmulatedDevice(id: id, platform: platform, handle: handle, tags: tags, templates: templates)
    }

    /// The phone on which the requests of the scene with the kill ring.
    static let crowded = DemoDevice(
        "cleo-phone", platform: "apns", handle: String(repeating: "C1", count: 32), tags: ["username:cleo"])

    static let all: [DemoDevice] = [
        DemoDevice("alice-phone", platform: "apns", handle: String(repeating: "A1", count: 32), tags: ["username:alice"]),
        DemoDevice("bea-phone", platform: "apns", handle: String(repeating: "B1", count: 32), tags: ["username:bea"]),
        DemoDevice("bea-laptop", platform: "wns", handle: "https://wns2.notify.windows.com/?token=bea", tags: ["username:bea"]),
        DemoDevice("bea-tablet", platform: "fcmV1", handle: "bea-registration-token", tags: ["username:bea"]),
        crowded,
        DemoDevice("dan-phone", platform: "apns", handle: String(repeating: "D1", count: 32), tags: ["username:dan"]),
        DemoDevice(
            "ada-phone (English)", platform: "apns", handle: String(repeating: "E1", count: 32), tags: ["World"],
            templates: ["news": #"{"aps":{"alert":"$(headline_en)"}}"#]),
        DemoDevice(
            "jo-tablet (German)", platform: "fcmV1", handle: "jo-registration-token", tags: ["World", "Sports"],
            templates: ["news": #"{"message":{"notification":{"title":"Nachrichten","body":"$(headline_de)"}}}"#]),
        DemoDevice(
            "emi-phone (Japanese)", platform: "apns", handle: String(repeating: "E3", count: 32), tags: ["Sports"],
            templates: ["news": #"{"aps":{"alert":"$(headline_ja)"}}"#]),
    ]

    /// Devices whose apps register them through the gateway.
    static let apps: [DemoDevice] = [
        DemoDevice("fay-phone", platform: "apns", handle: String(repeating: "F4", count: 32), tags: []),
        DemoDevice("fay-laptop", platform: "wns", handle: "https://wns2.notify.windows.com/?token=fay", tags: []),
        DemoDevice("gus-phone", platform: "fcm", handle: "gus-registration-token", tags: []),
    ]

    /// Devices whose apps register templates at the hub, with their categories.
    static let subscribers: [DemoDevice] = [
        DemoDevice("hal-phone", platform: "apns", handle: String(repeating: "8A", count: 32), tags: ["Politics", "Science"]),
        DemoDevice("ivy-phone", platform: "apns", handle: String(repeating: "1F", count: 32), tags: ["Science"]),
    ]

    var user: String { String(name.prefix { $0 != "-" }) }

    /// The name of the device with `handle`.
    static func name(of handle: String) -> String {
        (all + apps + subscribers).first { $0.emulated.handle == handle }?.name ?? "a device"
    }
}
