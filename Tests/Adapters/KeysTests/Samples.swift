import Basics
import Foundation
import Keys
import Testing

/// A moment, in seconds since some start.
func second(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000_000) }

/// A new key that may publish.
func newKey(at seconds: Int64 = 1000, _ change: (inout KeyTerms) -> Void = { _ in }) throws -> NewKey {
    var terms = KeyTerms([.publish])
    change(&terms)
    return try NewKey(terms, at: seconds)
}

/// A file of keys.
func file(_ keys: NewKey...) throws -> KeysFile {
    var file = KeysFile()
    for key in keys { try file.add(key.key) }
    return file
}

/// A key as a client sends it.
func presented(_ text: String) throws -> PresentedKey { try #require(PresentedKey(authorization: "Bearer \(text)")) }

/// A folder that is gone when nobody holds it any more.
final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "pushfan-keys-\(UUID().uuidString)"
    /// Where the keys are.
    var file: String { path + "/keys" }

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Puts another file in the place of the keys.
    func put(_ bytes: some Sequence<UInt8>) throws {
        try Data(Array(bytes)).write(to: URL(fileURLWithPath: file), options: .atomic)
    }
}
