import Basics
import Crypto
import Foundation
import Testing
import Users

/// Hashes that cost next to nothing.
let cheap = PasswordHash.Parameters(ln: 4, r: 1, p: 1) ?? .standard

/// A cheap hash of a password.
func hashed(_ password: String) throws -> PasswordHash { try PasswordHash(of: Array(password.utf8), parameters: cheap) }

/// The line of a user.
func userLine(_ name: String, _ password: String = "secret") throws -> String { "\(name):\(try hashed(password).text)\n" }

/// The credentials of a header, as a client writes it.
func credentials(_ name: String, _ password: String) throws -> BasicCredentials {
    try #require(BasicCredentials(authorization: header(name, password)))
}

/// The value of a client's header.
func header(_ name: String, _ password: String) -> String {
    "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
}

/// A moment, in seconds since some start.
func second(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000_000) }

/// A folder that is gone when nobody holds it any more.
final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "pushfan-users-\(UUID().uuidString)"
    /// Where the users are.
    var file: String { path + "/users" }

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Puts another file in the place of the users.
    func put(_ text: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// What is in it.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}
