public import Foundation

/// The place of the repository that the tests were built from.
public enum Repository {
    /// The folder that has `Package.swift`.
    public static let root = (1...4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
}
