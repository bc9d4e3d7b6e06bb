/// The place, the bounds and the secrecy of an index of requests.
package struct RequestIndexSettings: Sendable {
    /// The rule for the names of users and devices, and for titles.
    package enum Names: Sendable, Equatable {
        /// Titles and the first names are kept as they are.
        case plain
        /// They are kept encrypted, by keys that are derived from the bytes of a secret.
        case encrypted(secret: [UInt8])
        /// They are not kept, and nothing finds a request by them.
        case omitted
    }

    /// The fewest bytes of a secret.
    package static let leastSecret = 32

    /// The folder, which is for the index alone.
    package var folder: String
    /// The age at which a request leaves the index.
    package var keep: Duration
    /// The most bytes of the files. The hour that is written is kept in any case.
    package var byteLimit: Int
    /// The rule for names.
    package var names: Names

    /// An index in a folder.
    package init(folder: String, keep: Duration = .seconds(604_800), byteLimit: Int = 8 << 30, names: Names = .plain) {
        (self.folder, self.keep, self.byteLimit, self.names) = (folder, keep, byteLimit, names)
    }
}
