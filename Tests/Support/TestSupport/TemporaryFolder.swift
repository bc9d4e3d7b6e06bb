import Foundation

/// A folder that is gone with whoever made it.
public final class TemporaryFolder {
    private let folder = NSTemporaryDirectory() + "pushfan-tests-" + UUID().uuidString

    /// Makes the folder.
    public init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The path of a file in the folder.
    public func path(_ name: String) -> String { folder + "/" + name }
}
