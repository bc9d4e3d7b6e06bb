import FanOut

/// The ids of installations.
package enum InstallationID {
    /// True if an installation can have this id: the hub makes a tag of it, and dots alone are no segment of a path (RFC 3986, 5.2.4).
    package static func isPossible(_ id: String) -> Bool {
        (try? HubTag.installation(id)) != nil && id.contains { $0 != "." }
    }
}
