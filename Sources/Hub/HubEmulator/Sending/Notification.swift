import FanOut
import HTTPServing
import Payloads
import PushModel

/// A notification on its way to devices.
struct Notification: Sendable {
    enum Content: Sendable {
        /// A body for one platform, passed through.
        case native(HubPlatform)
        /// Properties by lower-cased name, for the template registrations of every platform.
        case template([String: String])
    }

    /// The addressees of a notification.
    enum Audience: Sendable {
        /// Every registration of the content's kind.
        case everyone
        case tags(TagExpression)
        /// Devices by handle, registered or not.
        case handles([String])
    }

    var id: String
    let callID: Int
    let content: Content
    let audience: Audience
    let body: [UInt8]
    /// Header fields for the push service.
    let headers: HTTPFields
    /// The collapse key of a native notification. Templates bring their own.
    let collapseKey: String?
    /// The refusal of a native notification by its push service. Templates bring their own.
    let refusal: PushServiceRules.Refusal?

    /// The send's format as it stands in the records.
    var format: String {
        switch content {
        case .native(let platform): platform.format
        case .template: "template"
        }
    }
}

/// A device that a notification reaches, and its content.
struct Delivery: Sendable {
    let device: DeviceKey
    let handle: String
    let registrationID: String
    let template: String?
    let body: [UInt8]
    let headers: HTTPFields
    let collapseKey: String?
    /// The rule that the push service refuses it by.
    let refusal: PushServiceRules.Refusal?
}

extension Notification {
    /// The devices that it reaches, in the order of the registrations, each handle once. A device with several templates gets
    /// each of them. The same template twice on one handle is one delivery.
    func reach(in store: RegistrationStore) -> Reach {
        var seen: Set<DeliveryKey> = []
        var reach = Reach()
        switch audience {
        case .handles(let handles):
            guard case .native(let platform) = content else { return reach }
            for handle in handles {
                let key = DeviceKey(platform: platform, handle: handle)
                guard seen.insert(DeliveryKey(device: key, template: nil)).inserted else {
                    reach.skipped.append(platform)
                    continue
                }
                reach.rung.append(delivery(to: key, handle: handle, registrationID: ""))
            }
        case .everyone:
            store.forEachMatch(of: nil) { add($0, to: &reach, seen: &seen) }
        case .tags(let expression):
            store.forEachMatch(of: expression) { add($0, to: &reach, seen: &seen) }
        }
        return reach
    }

    private struct DeliveryKey: Hashable {
        let device: DeviceKey
        let template: String?
    }

    /// Its delivery to a device as it was sent.
    private func delivery(to device: DeviceKey, handle: String, registrationID: String) -> Delivery {
        Delivery(
            device: device, handle: handle, registrationID: registrationID, template: nil, body: body, headers: headers,
            collapseKey: collapseKey, refusal: refusal)
    }

    private func add(_ registration: Registration, to reach: inout Reach, seen: inout Set<DeliveryKey>) {
        let key = registration.deviceKey
        switch (content, registration.template) {
        case (.native(let platform), nil) where platform == registration.platform:
            guard seen.insert(DeliveryKey(device: key, template: nil)).inserted else {
                reach.skipped.append(platform)
                return
            }
            reach.rung.append(delivery(to: key, handle: registration.handle, registrationID: registration.id))
        case (.template(let properties), let template?):
            let identity = (template.name ?? "") + "\u{0}" + template.text
            guard seen.insert(DeliveryKey(device: key, template: identity)).inserted else {
                reach.skipped.append(registration.platform)
                return
            }
            let body = template.body.rendered(properties)
            let headers = template.renderedHeaders(properties, followedBy: headers)
            var read = JSONDocument()
            let document = registration.platform.takesJSON && (try? read.read(body.span)) != nil ? read : nil
            reach.rung.append(
                Delivery(
                    device: key, handle: registration.handle, registrationID: registration.id,
                    template: template.name ?? "", body: body, headers: headers,
                    collapseKey: CollapseKey.of(
                        registration.platform, headers: headers, document: document),
                    refusal: registration.platform.refusal(
                        of: body, document: document, headers: headers.withoutDateOfExpiry)))
        default:
            return
        }
    }
}

extension HubPlatform {
    /// The refusal of a push by this push service.
    func refusal(of body: [UInt8], document: JSONDocument?, headers: HTTPFields) -> PushServiceRules.Refusal? {
        guard let platform else { return nil }
        return PushServiceRules.refusal(
            of: body.span, document: document, headers: headers.all.map { ($0.name, $0.value) }, by: platform)
    }
}

extension HTTPFields {
    /// The fields without the expiry of a template that is a date: a hub hands it on as seconds.
    fileprivate var withoutDateOfExpiry: HTTPFields {
        guard let expiry = self["apns-expiration"], Moment(reading: expiry) != nil else { return self }
        var fields = self
        fields.remove("apns-expiration")
        return fields
    }
}

extension PushServiceRules.Refusal {
    /// The outcome that telemetry counts it by.
    var outcome: String { isTooLarge ? "InvalidNotificationSize" : "InvalidNotificationFormat" }
}

extension Registration.Template {
    /// The header fields for the push service, expressions filled in, before those of the send.
    fileprivate func renderedHeaders(_ properties: [String: String], followedBy sent: HTTPFields) -> HTTPFields {
        var fields = headers
        if let expiry { fields.append("apns-expiration", value: expiry) }
        if let priority { fields.append("apns-priority", value: priority) }
        var rendered = HTTPFields(capacity: fields.all.count + sent.all.count)
        for field in fields.all {
            let expression = (try? TemplateExpression(parsing: field.value)) ?? .literal
            switch expression.value(properties) {
            case .text(let text), .number(let text): rendered.append(field.name, value: text)
            case nil: rendered.append(field.name, value: field.value)
            }
        }
        for field in sent.all { rendered.append(field.name, value: field.value) }
        return rendered
    }
}
