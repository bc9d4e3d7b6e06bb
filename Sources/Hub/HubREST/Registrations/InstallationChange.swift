public import Basics
internal import PushModel

/// One operation of JSON Patch (RFC 6902) on an installation, as hubs know it: every value is a text, and other JSON stands in one (page
/// HubProtocol, "Installations").
public struct InstallationChange: Sendable, Equatable {
    /// A change at the path.
    public enum Operation: String, Sendable, CaseIterable {
        /// It is added, or takes the place of what is there.
        case add
        /// It takes the place of what is there.
        case replace
        /// It is removed.
        case remove
    }

    /// The kind of change.
    public let op: Operation
    /// The place, as a JSON Pointer (RFC 6901): `/tags`, `/templates/news/body`.
    public let path: String
    /// The value, or nil where something is removed.
    public let value: String?

    /// Describes a change.
    public init(op: Operation, path: String, value: String? = nil) {
        self.op = op
        self.path = path
        self.value = value
    }

    /// The change that gives an installation a tag. It has it once afterwards.
    public static func adding(tag: String) -> InstallationChange { InstallationChange(op: .add, path: "/tags", value: tag) }

    /// The change that takes a tag from an installation.
    public static func removing(tag: String) -> InstallationChange {
        InstallationChange(op: .remove, path: "/tags/\(tag.replacing("~", with: "~0").replacing("/", with: "~1"))")
    }

    /// The body of a PATCH with these changes.
    static func body(of changes: [InstallationChange]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("[")
        writer.append(list: changes) { writer, change in
            var object = JSONObject(["op": change.op.rawValue, "path": change.path])
            object.add("value", value: change.value)
            writer.append(object.bytes.span)
        }
        writer.append("]")
        return writer.bytes
    }
}

extension InstallationChange: Concealed {
    /// The operation alone: path and value may be tags and handles.
    public var description: String { "InstallationChange(\(op.rawValue))" }
}
