import FanOut
import HubREST

/// The rights of a caller with regard to devices.
struct DeviceRights: Sendable {
    /// The user whose devices they must be, or nil for a back end.
    let user: UserTag?
    /// True if answers show handles.
    let showsHandles: Bool
    /// The rules for tags: a back end may set reserved ones.
    let rules: TagRules
    /// Makes a user's tag of a name as the caller wrote it.
    let tag: @Sendable (String) -> UserTag

    /// True if the caller may see and change a device.
    func admit(_ owner: DeviceOwner?) -> Bool { user == nil || owner?.folded == user?.folded }

    /// The tags that stay on a device whatever a user does, because a back end has set them. A back end itself may take them away.
    func held(by installation: Installation) -> [String] { user == nil ? [] : installation.tags.filter(rules.isReserved) }
}
