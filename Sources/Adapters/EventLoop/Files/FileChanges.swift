internal import Glibc

/// Files that a program has read, and that are looked at every few seconds to find those that were replaced. A path may lead through
/// symbolic links, also through one that is replaced for a whole folder, as Kubernetes does it.
public struct FileChanges: Sendable {
    private typealias Versions = [String: FoundFile.Identity]

    private var taken: Versions
    /// The files at the last two looks that found new ones: the latest, and the one that was reported.
    private var seen: Versions = [:]
    private var reported: Versions = [:]

    /// Begins with the files as they are. Paths without a file may have one later.
    public init(_ paths: [String]) { taken = Self.versions(of: paths) }

    /// Looks at the files.
    ///
    /// - Parameter paths: All files that are read at present.
    /// - Returns: True once for each new state of the files: there for two looks, so whoever replaces them has finished.
    public mutating func findNew(among paths: [String]) -> Bool {
        let files = Self.versions(of: paths)
        guard files != taken, files != reported else { return false }
        defer { seen = files }
        guard files == seen else { return false }
        reported = files
        return true
    }

    /// Notes that the files were read as they are now.
    ///
    /// - Parameter paths: All files that are read from now on.
    /// - Returns: True if any is another than before.
    public mutating func take(_ paths: [String]) -> Bool {
        let files = Self.versions(of: paths)
        defer { taken = files }
        return files != taken
    }

    private static func versions(of paths: [String]) -> Versions {
        Dictionary(paths.compactMap { path in FoundFile.Identity(path).map { (path, $0) } }) { $1 }
    }
}
