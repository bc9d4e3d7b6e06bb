import EventLoop
import HubAuth
import HubEmulator
import HubServer

/// The steps of the breaking-news tutorial: calls of the hub itself, signed with its keys.
struct DemoNews {
    let stage: DemoStage
    let calls: DemoCalls

    /// Registers a device's template with the device's categories as tags, as its app does.
    func subscribe(_ device: DemoDevice) throws {
        let categories = device.emulated.tags
        let type = "AppleTemplateRegistrationDescription"
        let entry =
            #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><"# + type
            + #" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
            + "<Tags>\(categories.joined(separator: ","))</Tags><DeviceToken>\(device.emulated.handle)</DeviceToken>"
            + #"<BodyTemplate><![CDATA[{"aps":{"alert":"$(messageParam)"}}]]></BodyTemplate><Expiry>0</Expiry>"#
            + "<TemplateName>simpleAPNSTemplate</TemplateName></\(type)></content></entry>"
        let fields = try [
            authorization(DemoStage.listenPolicy), (name: "Content-Type", value: "application/atom+xml;type=entry;charset=utf-8"),
        ]
        try calls.make(
            device.user, shown: "template for \(categories.joined(separator: ", "))", method: "POST",
            url: url("registrations"), fields: fields, body: entry
        ) { _ in "\(device.name) is registered" }
    }

    /// Sends news to a category, or to an expression of some.
    func send(_ text: String, to tags: String) throws {
        let fields = try [
            authorization(DemoStage.sendPolicy), (name: "Content-Type", value: "application/json;charset=utf-8"),
            (name: "ServiceBusNotification-Format", value: "template"), (name: "ServiceBusNotification-Tags", value: tags),
        ]
        try calls.make(
            "desk", shown: "POST /demo/messages to \(tags)", method: "POST", url: url("messages"), fields: fields,
            body: #"{"messageParam":"\#(text)"}"#)
    }

    /// The value of an `Authorization` header for the demo's hub. It is a secret like the key. The demo's values are none.
    /// `lifetime` is seconds.
    static func token(_ hubURL: String, policy: HubPolicy, lifetime: Int64) throws -> String {
        let token = try SASToken.sign(
            resource: "\(hubURL)/demo", policy: policy.name, key: SecretKey(policy.key),
            expiry: WallClock.millisecondsSince1970() / 1000 + lifetime)
        return String(decoding: token.headerValue, as: UTF8.self)
    }

    private func authorization(_ policy: HubPolicy) throws -> (name: String, value: String) {
        (name: "Authorization", value: try Self.token(stage.emulatorURL, policy: policy, lifetime: 1200))
    }

    private func url(_ path: String) -> String { "\(stage.emulatorURL)/demo/\(path)?api-version=2015-01" }
}
