/// The rights of a policy ("Notification Hubs security").
public struct SASRights: OptionSet, Sendable, Hashable {
    /// One bit for each right.
    public let rawValue: UInt8

    /// Takes the bits as they are, one for each right.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Registrations and installations of single devices.
    public static let listen = SASRights(rawValue: 1)
    /// Sending.
    public static let send = SASRights(rawValue: 2)
    /// Everything about the hub itself, and registrations by tag.
    public static let manage = SASRights(rawValue: 4)
    /// All three, as `DefaultFullSharedAccessSignature` has.
    public static let all: SASRights = [.listen, .send, .manage]

    /// Reads names as a command line gives them: `Listen`, `Send`, `Manage` in any case and order, separated by commas, at least
    /// one.
    public init?(names: String) {
        var rights: SASRights = []
        for name in names.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            switch name.lowercased.text {
            case "listen": rights.insert(.listen)
            case "send": rights.insert(.send)
            case "manage": rights.insert(.manage)
            default: return nil
            }
        }
        self = rights
    }
}

/// A policy that a hub knows: its name, its keys and its rights.
public struct SASPolicy: Sendable, Equatable {
    /// The name that tokens give as `skn`. Case counts.
    public let name: String
    /// The keys that are valid now: one, or two while keys are being replaced.
    public let keys: [SecretKey]
    /// The rights that its tokens give.
    public let rights: SASRights

    /// Describes a policy.
    ///
    /// - Parameters:
    ///   - name: The policy's name.
    ///   - keys: Its valid keys.
    ///   - rights: What its tokens allow.
    public init(name: String, keys: [SecretKey], rights: SASRights) {
        self.name = name
        self.keys = keys
        self.rights = rights
    }
}
