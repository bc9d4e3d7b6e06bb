import Basics
import DeviceHubs
import FanOut
import GatewayAPI
import PushModel

/// The body of `PUT /api/register/{id}`: `{"Platform": "apns", "Handle": "…", "Tags": ["…"]}`, and perhaps `Templates`.
///
/// The names may have any case, and others are passed over, as the tutorials' back end does it. Handles are secrets: no description
/// shows them.
struct RegisterBody: Sendable, Equatable {
    /// The most bytes of a body.
    package static let maximumByteCount = JSONBody.maximumByteCount

    /// The push service.
    let platform: Platform
    /// The handle in the form in which the hub keeps it (`DeviceToken`).
    let handle: String
    /// The tags, each once, without the one that names the user; at most 59.
    let tags: [String]
    /// The templates, or nil to leave those that the device has.
    let templates: DeviceTemplates?

    /// Describes a device.
    init(platform: Platform, handle: String, tags: [String] = [], templates: DeviceTemplates? = nil) {
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.templates = templates
    }

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: JSON (RFC 8259).
    ///   - contentType: The header field; nil when there is none.
    ///   - user: Who sends it.
    ///   - rules: Which tags are allowed.
    /// - Throws: 400 with every fault and its JSON Pointer; 413, 415.
    init(reading body: [UInt8], contentType: String?, of user: UserTag, by rules: TagRules) throws(APIProblem) {
        let document = try JSONBody.read(body, contentType: contentType)
        guard document.kind(of: document.root) == .object else {
            throw .invalid([
                RequestFault(.schemaInvalid, at: "", message: "The body must be an object with Platform, Handle and Tags.")
            ])
        }
        var reader = RegisterReader(document)
        let service = reader.platform()
        let form = reader.handle(on: service)
        let tags = reader.tags(of: user, by: rules)
        let templates = reader.templates(beside: tags.count, by: rules)
        guard let platform = service, let handle = form, reader.faults.isEmpty else { throw .invalid(reader.faults) }
        self.init(platform: platform, handle: handle, tags: tags, templates: templates)
    }

    /// The platform that an app means by a name of one, in any case, or nil for one that it cannot register with. The words for Android are
    /// one: the hub's `gcm` is a format whose service has ended.
    static func platform(_ word: String) -> Platform? {
        switch Platform(name: word.lowercased()) {
        case .gcm: .fcmv1
        case let platform where platform == .apple || platform == .fcmv1 || platform == .windows || platform == .browser: platform
        default: nil
        }
    }
}

extension RegisterBody: Concealed {
    /// The platform and the number of tags.
    var description: String { "RegisterBody(\(platform.name), \(tags.count) tags)" }
}

/// Reads the members one by one, and notes what is wrong with each.
private struct RegisterReader {
    let document: JSONDocument
    private(set) var faults: [RequestFault] = []

    init(_ document: JSONDocument) {
        self.document = document
    }

    mutating func platform() -> Platform? {
        guard let node = text("Platform") else { return nil }
        let word = document.string(document.text(of: node))
        if let platform = RegisterBody.platform(word) { return platform }
        let isOver = word.lowercased() == "mpns"
        fault(
            at: node,
            message: isOver ? "The service of mpns has ended." : "The platform must be apns, fcm, gcm, fcmv1, wns or browser.")
        return nil
    }

    /// The handle; one whose platform is not known cannot be judged.
    mutating func handle(on platform: Platform?) -> String? {
        guard let node = text("Handle"), let platform else { return nil }
        do throws(DeviceToken.Problem) {
            return try DeviceToken.normalForm(document.string(document.text(of: node)), on: platform)
        } catch {
            fault(at: node, message: error.description)
            return nil
        }
    }

    mutating func tags(of user: UserTag, by rules: TagRules) -> [String] {
        guard let list = member("Tags") else { return [] }
        guard document.kind(of: list) == .array else {
            fault(at: list, message: "Tags must be an array of strings.")
            return []
        }
        var tags: [String] = []
        var elements = document.children(of: list)
        while let (_, element) = elements.next(in: document) {
            guard document.kind(of: element) == .string else {
                fault(at: element, message: "A tag must be a string.")
                return []
            }
            tags.append(document.string(document.text(of: element)))
        }
        let checked = rules.check(tags, of: user, at: document.pointer(to: list))
        faults += checked.faults
        return checked.tags
    }

    /// The templates, or nil where the body has none.
    mutating func templates(beside tagCount: Int, by rules: TagRules) -> DeviceTemplates? {
        guard let node = member("Templates") else { return nil }
        var reader = TemplatesReader(document, by: rules)
        let templates = reader.templates(at: node, beside: tagCount)
        for fault in reader.faults { faults.note(fault) }
        return templates
    }

    /// A member that must be there as a string.
    private mutating func text(_ name: String) -> JSONDocument.Node? {
        guard let node = member(name) else {
            faults.append(RequestFault(.schemaInvalid, at: "/\(name)", message: "\(name) is missing."))
            return nil
        }
        guard document.kind(of: node) == .string else {
            fault(at: node, message: "\(name) must be a string.")
            return nil
        }
        return node
    }

    /// The value of a member by its name in any case, unless it is null; a second one is a fault, because either could be meant.
    private mutating func member(_ name: String) -> JSONDocument.Node? {
        var found: JSONDocument.Node?
        var members = document.children(of: document.root)
        while let (key, value) = members.next(in: document) {
            guard document.string(document.text(of: key)).lowercased() == name.lowercased(), document.kind(of: value) != .null
            else {
                continue
            }
            if found != nil { fault(at: key, message: "\(name) stands twice.") }
            found = found ?? value
        }
        return found
    }

    private mutating func fault(at node: JSONDocument.Node, message: String) {
        faults.note(RequestFault(.schemaInvalid, at: document.pointer(to: node), message: message))
    }
}
