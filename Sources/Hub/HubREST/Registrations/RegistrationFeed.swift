internal import Outcomes
internal import PushModel
internal import XML

/// A page of registrations as the hub writes it: an Atom feed (RFC 4287) with a description in each entry (page HubProtocol,
/// "Registrations").
public struct RegistrationFeed: Sendable, Equatable {
    /// The most bytes that are read of one page: 100 registrations with 8,000 bytes of tags and a template each are below 2 MiB.
    public static let maximumByteCount = 4 << 20
    /// The most registrations on one page. Hubs give 100.
    public static let maximumCount = 1000

    /// The registrations, in the feed's order.
    public let registrations: [DeviceRegistration]

    /// Reads a page.
    ///
    /// - Parameter body: XML in UTF-8.
    /// - Throws: ``RegistrationFault``; nothing is made of half a page.
    public init(reading body: Span<UInt8>) throws(RegistrationFault) {
        guard body.count <= Self.maximumByteCount else { throw .tooLarge }
        var scanner = XMLScanner(ofAnswer: body)
        let found: [DeviceRegistration]
        do throws(TelemetryFault) {
            found = try Self.feed(&scanner)
        } catch {
            throw RegistrationFault(error)
        }
        registrations = found
    }

    private static func feed(_ scanner: inout XMLScanner) throws(TelemetryFault) -> [DeviceRegistration] {
        guard case .start(let root) = try scanner.event(), scanner.isName(root, equalTo: "feed") else { throw .otherRoot }
        var found: [DeviceRegistration] = []
        while let name = try scanner.child(of: "feed") {
            guard scanner.isName(name, equalTo: "entry") else {
                try scanner.skipElement()
                continue
            }
            guard found.count < maximumCount else { throw .tooLarge }
            found.append(try entry(&scanner))
        }
        guard case .finished = try scanner.event() else { throw .unexpected("feed") }
        return found
    }

    private static func entry(_ scanner: inout XMLScanner) throws(TelemetryFault) -> DeviceRegistration {
        var found: DeviceRegistration?
        while let name = try scanner.child(of: "entry") {
            guard scanner.isName(name, equalTo: "content") else {
                try scanner.skipElement()
                continue
            }
            guard found == nil, let element = try scanner.child(of: "content"), let type = RegistrationType(element, in: &scanner)
            else { throw .unexpected("content") }
            found = try description(type, from: &scanner)
            guard try scanner.child(of: "content") == nil else { throw .unexpected("content") }
        }
        guard let found else { throw .unexpected("entry") }
        return found
    }

    private static func description(
        _ type: RegistrationType, from scanner: inout XMLScanner
    ) throws(TelemetryFault) -> DeviceRegistration {
        var texts: [Field: [UInt8]] = [:]
        var hasBody = false
        while let name = try scanner.child(of: "RegistrationDescription") {
            guard let field = Self.field(name, of: type, in: &scanner) else {
                if scanner.isName(name, equalTo: "BodyTemplate") { hasBody = true }
                try scanner.skipElement()
                continue
            }
            let read = try scanner.text(of: field.rawValue, limit: field.limit)
            guard texts.updateValue(read, forKey: field) == nil else { throw .unexpected(field.rawValue) }
        }
        func text(_ field: Field) -> String? {
            guard let bytes = texts[field], !bytes.isEmpty else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        guard let id = texts[.id], HubClient.isUsable(id.span) else { throw .unexpected("RegistrationId") }
        guard type.handle == nil || text(.handle) != nil else { throw .unexpected("handle") }
        let isTemplate = type.isTemplate || hasBody || text(.templateName) != nil
        var registration = DeviceRegistration(
            id: String(decoding: id, as: UTF8.self), platform: type.platform,
            kind: isTemplate ? .template(name: text(.templateName)) : .native, handle: text(.handle),
            tags: (text(.tags) ?? "").split { $0 == "," || $0 == " " }.map(String.init))
        if let etag = texts[.etag], HubClient.isUsable(etag.span) { registration.etag = text(.etag) }
        return registration
    }

    /// A part of a description that is read. The raw value names it in faults.
    private enum Field: String {
        case id = "RegistrationId"
        case etag = "ETag"
        case tags = "Tags"
        case templateName = "TemplateName"
        case handle

        /// Bytes.
        var limit: Int {
            switch self {
            case .id, .etag: 256
            case .templateName: 1024
            case .tags: 16 << 10
            case .handle: DeviceToken.maximumByteCount
            }
        }
    }

    private static func field(_ name: Range<Int>, of type: RegistrationType, in scanner: inout XMLScanner) -> Field? {
        if scanner.isName(name, equalTo: "RegistrationId") { return .id }
        if scanner.isName(name, equalTo: "ETag") { return .etag }
        if scanner.isName(name, equalTo: "Tags") { return .tags }
        if scanner.isName(name, equalTo: "TemplateName") { return .templateName }
        if let handle = type.handle, scanner.isName(name, equalTo: handle) { return .handle }
        return nil
    }
}

/// The type that the name of a description stands for: `AppleTemplateRegistrationDescription`.
private struct RegistrationType {
    /// Nil for a platform that pushfan does not know.
    let platform: Platform?
    let isTemplate: Bool
    /// The element that holds the handle.
    let handle: StaticString?

    private static let platforms: [(platform: Platform, native: StaticString, template: StaticString, handle: StaticString)] = [
        (.apple, "AppleRegistrationDescription", "AppleTemplateRegistrationDescription", "DeviceToken"),
        (.fcmv1, "FcmV1RegistrationDescription", "FcmV1TemplateRegistrationDescription", "FcmV1RegistrationId"),
        (.gcm, "GcmRegistrationDescription", "GcmTemplateRegistrationDescription", "GcmRegistrationId"),
        (.windows, "WindowsRegistrationDescription", "WindowsTemplateRegistrationDescription", "ChannelUri"),
        (.adm, "AdmRegistrationDescription", "AdmTemplateRegistrationDescription", "AdmRegistrationId"),
        (.baidu, "BaiduRegistrationDescription", "BaiduTemplateRegistrationDescription", "BaiduChannelId"),
        (.browser, "BrowserRegistrationDescription", "BrowserTemplateRegistrationDescription", "Endpoint"),
        (.xiaomi, "XiaomiRegistrationDescription", "XiaomiTemplateRegistrationDescription", "XiaomiRegistrationId"),
    ]

    /// The type that an element's name stands for, or nil for a name that stands for none.
    init?(_ name: Range<Int>, in scanner: inout XMLScanner) {
        guard scanner.isName(name, endingWith: "RegistrationDescription") else { return nil }
        isTemplate = scanner.isName(name, endingWith: "TemplateRegistrationDescription")
        var found: (platform: Platform, handle: StaticString)?
        for row in Self.platforms where scanner.isName(name, equalTo: isTemplate ? row.template : row.native) {
            found = (row.platform, row.handle)
        }
        platform = found?.platform
        handle = found?.handle
    }
}
