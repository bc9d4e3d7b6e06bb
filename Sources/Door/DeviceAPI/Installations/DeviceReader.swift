import Basics
import DeviceHubs
import FanOut
import PushModel

/// Reads the values of which devices are made, and notes what is wrong with each. No message repeats any of them.
struct DeviceReader {
    /// The words for platforms, of which three mean Android.
    static let platforms = ["apns", "fcmv1", "fcm", "gcm", "wns", "adm", "baidu", "browser", "xiaomi"]

    let document: JSONDocument
    private let rights: DeviceRights
    private let now: Timestamp
    private(set) var faults: [RequestFault] = []

    init(_ document: JSONDocument, for rights: DeviceRights, now: Timestamp) {
        (self.document, self.rights, self.now) = (document, rights, now)
    }

    /// The members of the body's object that are there and not null.
    mutating func members(_ names: [String]) -> [String: JSONDocument.Node] {
        guard document.kind(of: document.root) == .object else {
            note("The body must be an object.", at: "")
            return [:]
        }
        return members(of: document.root, named: names)
    }

    /// The members of an object that are there and not null.
    mutating func members(of object: JSONDocument.Node, named names: [String]) -> [String: JSONDocument.Node] {
        var found: [String: JSONDocument.Node] = [:]
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            let name = document.string(document.text(of: key))
            if !names.contains(name) {
                note("There is no such member. Known are: \(names.joined(separator: ", ")).", at: key)
            } else if document.kind(of: value) != .null, found.updateValue(value, forKey: name) != nil {
                note("\(name) stands twice.", at: key)
            }
        }
        return found
    }

    /// A string, or nil for anything else.
    mutating func text(at node: JSONDocument.Node) -> String? {
        guard document.kind(of: node) == .string else {
            note("It must be a string.", at: node)
            return nil
        }
        return document.string(document.text(of: node))
    }

    mutating func platform(at node: JSONDocument.Node) -> Platform? {
        guard let word = text(at: node) else { return nil }
        let platform = Platform(name: word.lowercased())
        if let platform { return platform == .gcm ? .fcmv1 : platform }
        note("The platform must be one of \(Self.platforms.joined(separator: ", ")).", at: node)
        return nil
    }

    /// A handle: a string, or the object of a browser.
    mutating func handle(at node: JSONDocument.Node, on platform: Platform) -> String? {
        let kind = document.kind(of: node)
        guard kind == .string || kind == .object && platform == .browser else {
            note("The handle must be a string, and of a browser the object of its endpoint, p256dh and auth.", at: node)
            return nil
        }
        do throws(DeviceToken.Problem) {
            return try DeviceToken.normalForm(document.string(document.text(of: node)), on: platform)
        } catch {
            note(error.description, at: node)
            return nil
        }
    }

    /// A user's tag. A user may name itself alone.
    mutating func user(at node: JSONDocument.Node) -> UserTag? {
        guard let name = text(at: node) else { return nil }
        guard UserName.isAddressable(name) else {
            note(UserName.refusal, at: node)
            return nil
        }
        let tag = rights.tag(name)
        if let own = rights.user, own.folded != tag.folded { note("It must be the user who calls, or be left out.", at: node) }
        return tag
    }

    mutating func tags(at node: JSONDocument.Node, beside own: String?) -> [String] {
        guard let texts = document.texts(at: node) else {
            note("Tags must be an array of strings.", at: node)
            return []
        }
        let held = Set(claims(at: node).keys.map(UserTag.folded))
        let checked = rights.rules.check(texts, beside: own, holding: held, at: document.pointer(to: node))
        for fault in checked.faults { faults.note(fault) }
        return checked.tags
    }

    /// The reserved tags of a user's list, each with its place: the device may have them, which is not known yet.
    func claims(at node: JSONDocument.Node) -> [String: String] {
        guard rights.user != nil, let texts = document.texts(at: node) else { return [:] }
        let pointer = document.pointer(to: node)
        let places = texts.enumerated().filter { rights.rules.isReserved($1) }.map { ($1, "\(pointer)/\($0)") }
        return Dictionary(places) { first, _ in first }
    }

    mutating func templates(at node: JSONDocument.Node, beside tagCount: Int) -> DeviceTemplates {
        read { $0.templates(at: node, beside: tagCount) }
    }

    /// Reads templates, or parts of them.
    mutating func read<Value>(_ body: (inout TemplatesReader) -> Value) -> Value {
        var reader = TemplatesReader(document, by: rights.rules)
        let value = body(&reader)
        for fault in reader.faults { faults.note(fault) }
        return value
    }

    /// A moment to come.
    mutating func expiry(at node: JSONDocument.Node) -> Timestamp? {
        guard let text = text(at: node) else { return nil }
        guard let moment = Timestamp(text.utf8Span.span) else {
            note("It must be a moment as RFC 3339 has it, such as 2027-01-31T12:00:00Z.", at: node)
            return nil
        }
        if moment <= now { note("It must be in the future.", at: node) }
        return moment
    }

    mutating func note(_ message: String, at node: JSONDocument.Node) {
        faults.note(RequestFault(.schemaInvalid, at: document.pointer(to: node), message: message))
    }

    mutating func note(_ message: String, at pointer: String) {
        faults.note(RequestFault(.schemaInvalid, at: pointer, message: message))
    }
}
