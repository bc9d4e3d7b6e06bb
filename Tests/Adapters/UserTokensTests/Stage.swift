import Foundation
import Basics
import Keys
import Observability
import TestSupport
import TokenIssuer
import UserTokens

/// Issuers whose keys are made once, because that takes long.
enum Issuers {
    private static let made = Result { (try TokenIssuer(.rsa, keyID: "rsa"), try TokenIssuer(.p256, keyID: "ec")) }
    private static let stranger = Result { (try TokenIssuer(.rsa, keyID: "rsa"), try TokenIssuer(.p256, keyID: "ec")) }
    private static let short = Result { try TokenIssuer(.rsa, keyID: "short", bits: 1024) }

    /// Two whose keys the gateway knows.
    static func known() throws -> (rsa: TokenIssuer, ec: TokenIssuer) { try made.get() }
    /// Two that name their own keys as the others do.
    static func strangers() throws -> (rsa: TokenIssuer, ec: TokenIssuer) { try stranger.get() }
    /// One whose key has 1,024 bits.
    static func weak() throws -> TokenIssuer { try short.get() }
}

/// The claims of a token that counts.
let goodClaims = #"{"iss":"https://id.example","aud":"push","exp":1700000600,"sub":"alice","scope":"publish nothing register"}"#

/// The clocks of a verifier, and the lines that it writes.
struct Stage {
    let clock = Box<MonotonicTime>(0)
    let wallClock = Box<Int64>(1_700_000_000_000)
    let lines = Box<[String]>([])
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A verifier whose keys are in a file of this text.
    func verifier(_ keys: String, scopesClaim: String? = nil) throws -> TokenVerifier {
        try write(keys)
        var configuration = Self.configuration(.file(folder.path("keys.json")))
        configuration.scopesClaim = scopesClaim
        return try verifier(configuration)
    }

    /// Writes into `lines`.
    var log: Log {
        Log(
            format: .json, now: { 0 },
            sink: { [lines] line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
    }

    func verifier(_ configuration: TokenVerifier.Configuration) throws -> TokenVerifier {
        try TokenVerifier(
            configuration, log: log, now: { [clock] in clock.withLock { $0 } },
            wallClock: { [wallClock] in wallClock.withLock { $0 } })
    }

    /// Puts a set of keys in the place of the file.
    func write(_ keys: String) throws {
        try (keys + "\n").write(toFile: folder.path("keys.json"), atomically: true, encoding: .utf8)
    }

    /// Moves the clock by which the keys are read.
    func pass(_ duration: Duration) { clock.withLock { $0 = $0.advanced(by: duration) } }

    static func configuration(_ source: TokenVerifier.Configuration.Source) -> TokenVerifier.Configuration {
        TokenVerifier.Configuration(issuer: "https://id.example", audiences: ["push"], source: source)
    }
}

/// A user who may do all that users may.
func user(_ name: String) -> TokenVerifier.Outcome { .user(name: name, scopes: nil) }
