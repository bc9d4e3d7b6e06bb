import HTTPServing

@testable import HubServer

/// Everything that a store gives, as a text to compare.
enum DeviceText {
    static func of(_ registration: Registration?) -> String {
        guard let registration else { return "none" }
        var parts = [
            registration.id, "\(registration.etag)", registration.platform.rawValue, registration.handle,
            registration.extras.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ","),
            registration.tags.joined(separator: ","), registration.pushVariables ?? "-", registration.installationID ?? "-",
            "\(registration.writtenAt)", registration.expiresAt.map { "\($0)" } ?? "-",
        ]
        if let template = registration.template {
            parts += [
                template.name ?? "-", template.text, rendered(template.body), of(template.headers), template.expiry ?? "-",
                template.priority ?? "-", template.messageType ?? "-",
            ]
        }
        return parts.joined(separator: " | ")
    }

    static func of(_ registrations: [Registration]) -> String { registrations.map { of($0) }.joined(separator: "\n") }

    static func of(_ installation: StoredInstallation?) -> String {
        guard let installation else { return "none" }
        let head = [
            installation.id, installation.platform.rawValue, installation.userID ?? "-", installation.expirationTime ?? "-",
            "\(installation.isChannelExpired)", of(installation.pushVariables), of(installation.target),
        ]
        return (head + installation.secondaryTiles.map { "\($0.name): \(of($0.target))" }).joined(separator: " | ")
    }

    static func of(_ devices: [AudienceDevice]) -> String {
        devices.map { "\($0.place.platform) \($0.place.number): \(of($0.registrations))" }.joined(separator: "\n")
    }

    private static func of(_ target: InstallationTarget) -> String {
        let templates = target.templates.map { template in
            [
                template.name, template.text, rendered(template.body), of(template.headers), template.expiry ?? "-",
                template.tags.joined(separator: ","),
            ].joined(separator: "/")
        }
        return "\(target.pushChannel) [\(target.tags.joined(separator: ","))] \(templates.joined(separator: "; "))"
    }

    private static func of(_ fields: HTTPFields) -> String { of(fields.all.map { ($0.name, $0.value) }) }

    private static func of(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    }

    private static func rendered(_ body: BodyTemplate) -> String {
        String(decoding: body.rendered(["message": "hello"]), as: UTF8.self)
    }
}
