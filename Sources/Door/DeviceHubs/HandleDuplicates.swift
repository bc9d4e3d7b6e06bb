package import HubREST
import PushModel

/// The registrations of a handle that make its device ring twice, once it belongs to one installation: other installations, and native
/// registrations of an older back end. Templates that an app registered itself stay.
package struct HandleDuplicates: Sendable, Equatable {
    /// The other installations, each once, in the hub's order.
    package private(set) var installations: [DeviceRegistration] = []
    /// The native registrations without an installation.
    package private(set) var natives: [DeviceRegistration] = []

    /// Looks through what the hub lists.
    ///
    /// - Parameters:
    ///   - list: The registrations.
    ///   - handle: The handle that was asked for. Those of others are left alone, or a hub that passed over the filter would lose devices.
    ///   - id: The installation that keeps the handle. With nil, all installations stay.
    package init(in list: [DeviceRegistration], of handle: String, beside id: String?) {
        var ids: Set<String> = []
        for registration in list where Self.has(registration, handle: handle) {
            if let other = registration.installationID {
                // The id comes from a tag, of which a hub may have changed the case. A device must not remove itself.
                guard let id, other.lowercased() != id.lowercased(), ids.insert(other).inserted else { continue }
                installations.append(registration)
            } else if !registration.isTemplate {
                natives.append(registration)
            }
        }
    }

    /// True if a registration has a handle.
    package static func has(_ registration: DeviceRegistration, handle: String) -> Bool {
        guard let platform = registration.platform, let theirs = registration.handle else { return false }
        if handle == theirs { return true }
        // Of a browser the list has the endpoint alone, and of Baidu the channel without its user.
        if platform == .browser { return handle.contains("\"\(theirs)\"") }
        if platform == .baidu { return handle.hasSuffix("-\(theirs)") }
        return DeviceToken.identity(of: theirs, on: platform) == DeviceToken.identity(of: handle, on: platform)
    }
}
