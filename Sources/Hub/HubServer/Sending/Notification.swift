package import FanOut
package import HTTPServing
package import Payloads
package import PushModel

/// A notification on its way to devices.
package struct Notification: Sendable {
    package enum Content: Sendable {
        /// A body for one platform, passed through.
        case native(HubPlatform)
        /// Properties by lower-cased name, for the template registrations of every platform.
        case template([String: String])
    }

    /// The addressees of a notification.
    package enum Audience: Sendable {
        /// Every registration of the content's kind.
        case everyone
        case tags(TagExpression)
        /// Devices by handle, registered or not.
        case handles([String])
    }

    package var id: String
    package let callID: Int
    package let content: Content
    package let audience: Audience
    package let body: [UInt8]
    /// Header fields for the push service.
    package let headers: HTTPFields
    /// The collapse key of a native notification. Templates bring their own.
    package let collapseKey: String?
    /// The refusal of a native notification by its push service. Templates bring their own.
    package let refusal: PushServiceRules.Refusal?

    /// The send's format as it stands in the records.
    package var format: String {
        switch content {
        case .native(let platform): platform.format
        case .template: "template"
        }
    }
}

/// A device that a notification reaches, and its content.
package struct Delivery: Sendable {
    package let device: DeviceKey
    package let handle: String
    /// Empty for a handle that a send names.
    package let registrationID: String
    package let installationID: String?
    /// The last write of the registration, in milliseconds since 1970.
    package let registeredAt: Int64?
    package let template: String?
    package let body: [UInt8]
    package let headers: HTTPFields
    package let collapseKey: String?
    /// The rule that the push service refuses it by.
    package let refusal: PushServiceRules.Refusal?
}

extension Notification {
    /// The audience among the devices of a hub, or nil for handles.
    ///
    /// - Parameters:
    ///   - now: The time, in milliseconds since 1970.
    ///   - end: Devices of this number and above are not meant. Nil for all.
    /// - Returns: The audience.
    package func devices(at now: Int64, end: DeviceNumber? = nil) -> DeviceAudience? {
        let platform: HubPlatform? = if case .native(let platform) = content { platform } else { nil }
        switch audience {
        case .handles: return nil
        case .everyone: return DeviceAudience(expression: nil, platform: platform, end: end, now: now)
        case .tags(let expression): return DeviceAudience(expression: expression, platform: platform, end: end, now: now)
        }
    }

    /// The deliveries to the devices of handles, each once.
    package var directReach: Reach {
        var reach = Reach()
        guard case .native(let platform) = content, case .handles(let handles) = audience else { return reach }
        var seen: Set<DeviceKey> = []
        for handle in handles {
            let key = DeviceKey(platform: platform, handle: handle)
            guard seen.insert(key).inserted else {
                reach.skipped.append(platform)
                continue
            }
            reach.rung.append(delivery(to: key, handle: handle, registration: nil))
        }
        return reach
    }

    /// Adds the deliveries to a device. With several templates it gets each of them. The same template twice is one delivery.
    package func add(_ device: AudienceDevice, to reach: inout Reach) {
        var seen: Set<String> = []
        for registration in device.registrations {
            let identity = registration.template.map { ($0.name ?? "") + "\u{0}" + $0.text } ?? ""
            guard seen.insert(identity).inserted else {
                reach.skipped.append(registration.platform)
                continue
            }
            if let delivery = delivery(to: registration) { reach.rung.append(delivery) }
        }
    }

    /// Its delivery to a device as it was sent.
    private func delivery(to device: DeviceKey, handle: String, registration: Registration?) -> Delivery {
        Delivery(
            device: device, handle: handle, registrationID: registration?.id ?? "",
            installationID: registration?.installationID, registeredAt: registration?.writtenAt, template: nil, body: body,
            headers: headers, collapseKey: collapseKey, refusal: refusal)
    }

    private func delivery(to registration: Registration) -> Delivery? {
        let key = registration.deviceKey
        switch (content, registration.template) {
        case (.native(let platform), nil) where platform == registration.platform:
            return delivery(to: key, handle: registration.handle, registration: registration)
        case (.template(let properties), let template?):
            let body = template.body.rendered(properties)
            let headers = template.renderedHeaders(properties, followedBy: headers)
            var read = JSONDocument()
            let document = registration.platform.takesJSON && (try? read.read(body.span)) != nil ? read : nil
            return Delivery(
                device: key, handle: registration.handle, registrationID: registration.id,
                installationID: registration.installationID, registeredAt: registration.writtenAt,
                template: template.name ?? "", body: body, headers: headers,
                collapseKey: CollapseKey.of(registration.platform, headers: headers, document: document),
                refusal: registration.platform.refusal(of: body, document: document, headers: headers.withoutDateOfExpiry))
        default:
            return nil
        }
    }
}

extension HubPlatform {
    /// The refusal of a push by this push service.
    package func refusal(of body: [UInt8], document: JSONDocument?, headers: HTTPFields) -> PushServiceRules.Refusal? {
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
    package var outcome: String { isTooLarge ? "InvalidNotificationSize" : "InvalidNotificationFormat" }
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
