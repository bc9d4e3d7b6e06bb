import Basics
import DeviceHubs
import FanOut
import GatewayAPI
import HubREST
import PushModel

/// The body of `PATCH /v1/installations/{id}`: JSON Patch (RFC 6902) with add, replace and remove.
struct DevicePatch: Sendable, Equatable {
    /// The most operations of one patch.
    static let maximumCount = 100

    /// One operation, whose value has been read.
    enum Change: Sendable, Equatable {
        case addTag(String)
        case removeTag(String)
        case setTags([String])
        case handle(Handle)
        case user(UserTag?)
        case expiry(Timestamp?)
        case templates(DeviceTemplates)
        case template(name: String, DeviceTemplates.Template?)
        case body(name: String, String)
        case headers(name: String, [String: String])
        case templateTags(name: String, [String])
    }

    /// A handle whose platform is known once the device is.
    struct Handle: Sendable, Equatable, Concealed {
        let text: String
        var description: String { "Handle" }
    }

    /// The operations in their order.
    private(set) var changes: [Change] = []

    /// Reads a body.
    ///
    /// - Throws: 400 with every fault and its JSON Pointer, 413, and 415.
    init(_ body: [UInt8], contentType: String?, for rights: DeviceRights, now: Timestamp) throws(APIProblem) {
        let isPatch = contentType?.split(separator: ";").first?.lowercased() == "application/json-patch+json"
        let document = try JSONBody.read(body, contentType: isPatch ? nil : contentType)
        var reader = DeviceReader(document, for: rights, now: now)
        guard document.kind(of: document.root) == .array, document.childCount(of: document.root) <= Self.maximumCount else {
            throw .invalid([
                RequestFault(
                    .schemaInvalid, at: "", message: "The body must be an array of at most \(Self.maximumCount) operations.")
            ])
        }
        var operations = document.children(of: document.root)
        while let (_, node) = operations.next(in: document) {
            if let change = Self.change(at: node, by: &reader, isBackEnd: rights.user == nil) { changes.append(change) }
        }
        guard reader.faults.isEmpty else { throw .invalid(reader.faults) }
    }

    /// The user whose device it becomes, if it becomes another one's.
    var user: UserTag? {
        let users = changes.compactMap { change -> UserTag?? in if case .user(let user) = change { user } else { nil } }
        return users.last ?? nil
    }

    /// True if it does nothing but add and remove tags, which a hub can do by itself.
    var hasTagsAlone: Bool {
        changes.allSatisfy { change in
            switch change {
            case .addTag, .removeTag: true
            default: false
            }
        }
    }

    private static func change(at node: JSONDocument.Node, by reader: inout DeviceReader, isBackEnd: Bool) -> Change? {
        guard reader.document.kind(of: node) == .object else {
            reader.note("An operation is an object with op, path and perhaps value.", at: node)
            return nil
        }
        let members = reader.members(of: node, named: ["op", "path", "value"])
        guard let op = members["op"], let path = members["path"] else {
            reader.note("An operation has op and path.", at: node)
            return nil
        }
        guard let word = reader.text(at: op), let pointer = reader.text(at: path) else { return nil }
        guard let operation = InstallationChange.Operation(rawValue: word) else {
            reader.note("op must be add, replace or remove.", at: op)
            return nil
        }
        var steps = pointer.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false).map {
            String(Substring($0)).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        guard steps.first == "", steps.count > 1 else {
            reader.note("The path must begin with a slash.", at: path)
            return nil
        }
        steps.removeFirst()
        if operation == .remove { return removal(steps, at: path, by: &reader, isBackEnd: isBackEnd) }
        // A tag stands in the path, and needs no value.
        if steps.count == 2, steps[0] == "tags", steps[1] != "-" { return .addTag(steps[1]) }
        guard let value = members["value"] else {
            reader.note("This operation has a value.", at: node)
            return nil
        }
        return setting(steps, to: value, adds: operation == .add, at: path, by: &reader, isBackEnd: isBackEnd)
    }

    private static func removal(
        _ steps: [String], at path: JSONDocument.Node, by reader: inout DeviceReader, isBackEnd: Bool
    ) -> Change? {
        switch (steps[0], steps.count) {
        case ("tags", 1): return .setTags([])
        case ("tags", 2): return .removeTag(steps[1])
        case ("user", 1) where isBackEnd: return .user(nil)
        case ("expires_at", 1): return .expiry(nil)
        case ("templates", 1): return .templates(DeviceTemplates())
        case ("templates", 2): return .template(name: steps[1], nil)
        case ("templates", 3) where steps[2] == "headers": return .headers(name: steps[1], [:])
        case ("templates", 3) where steps[2] == "tags": return .templateTags(name: steps[1], [])
        default: return refusal(of: path, by: &reader)
        }
    }

    private static func setting(
        _ steps: [String], to value: JSONDocument.Node, adds: Bool, at path: JSONDocument.Node, by reader: inout DeviceReader,
        isBackEnd: Bool
    ) -> Change? {
        let document = reader.document
        switch (steps[0], steps.count) {
        case ("tags", 2): return reader.text(at: value).map { .addTag($0) }
        // Hubs add one tag like this.
        case ("tags", 1) where adds && document.kind(of: value) == .string: return reader.text(at: value).map { .addTag($0) }
        case ("tags", 1):
            guard let tags = document.texts(at: value) else {
                reader.note("Tags must be an array of strings.", at: value)
                return nil
            }
            return .setTags(tags)
        case ("handle", 1):
            guard [.string, .object].contains(document.kind(of: value)) else { return refusal(of: value, by: &reader) }
            return .handle(Handle(text: document.string(document.text(of: value))))
        case ("user", 1) where isBackEnd: return reader.user(at: value).map { .user($0) }
        case ("expires_at", 1): return reader.expiry(at: value).map { .expiry($0) }
        case ("templates", 1): return .templates(reader.templates(at: value, beside: 0))
        case ("templates", 2):
            let name = steps[1]
            if let fault = reader.read({ $0.nameFault(name) }) { reader.note(fault, at: path) }
            return reader.read { $0.template(at: value) }.map { .template(name: name, $0) }
        case ("templates", 3) where steps[2] == "body":
            return reader.read { $0.body(at: value) }.map { .body(name: steps[1], $0) }
        case ("templates", 3) where steps[2] == "headers":
            return .headers(name: steps[1], reader.read { $0.headers(at: value) })
        case ("templates", 3) where steps[2] == "tags":
            return .templateTags(name: steps[1], reader.read { $0.tags(at: value) })
        default: return refusal(of: path, by: &reader)
        }
    }

    private static func refusal(of path: JSONDocument.Node, by reader: inout DeviceReader) -> Change? {
        reader.note("A device cannot be changed so.", at: path)
        return nil
    }
}

extension DevicePatch: Concealed {
    /// The number of operations: their values may be secrets.
    var description: String { "DevicePatch(\(changes.count))" }
}
