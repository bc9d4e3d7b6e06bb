public import Basics
import Crypto

/// Whose password was right lately, so that it need not be hashed for each call of an app.
///
/// A header counts until the users file changes. Its times only bound how long an app that has gone can be known again.
/// Neither passwords nor headers are kept: a header is known again by its HMAC under a key of this process. It reads no clock.
/// One owner, not thread-safe.
public struct VerifiedCredentials: Sendable {
    /// The time for which a header is remembered without being used.
    public static let idleLifetime: Duration = .seconds(3600)
    /// The time for which a header is remembered from when it was verified, however often it is used.
    public static let lifetime: Duration = .seconds(24 * 3600)

    /// The most headers of one user: more than anyone has spellings of one password. Beyond, its own oldest is forgotten.
    static let limitOfUser = 16

    private struct Entry: Sendable {
        let name: String
        let until: MonotonicTime
        var idleUntil: MonotonicTime
    }

    private let key: [UInt8]
    private let limit: Int
    private var generation = 0
    private var entries: [[UInt8]: Entry] = [:]
    /// The codes of `entries`, the one first that was verified first of all.
    private var order = FIFO<[UInt8]>()

    /// Remembers no credentials.
    ///
    /// - Parameters:
    ///   - key: Random bytes that no other process has, such as `randomBytes(32)`.
    ///   - limit: The most headers that are remembered, 1 or more; beyond, the oldest is forgotten. Each takes some 200 bytes.
    public init(key: [UInt8], limit: Int = 10_000) {
        self.key = key
        self.limit = max(1, limit)
    }

    /// The number of headers that are remembered.
    public var count: Int { entries.count }

    /// Whose header this is, if it was verified less than 24 h ago against the users that count now, and used in the last hour.
    ///
    /// - Parameters:
    ///   - authorization: The header's value.
    ///   - generation: That of the users that count now; a later one than before forgets all.
    ///   - now: The present moment.
    /// - Returns: The name as the users file has it; nil when it has to be verified.
    public mutating func name(of authorization: String, generation: Int, now: MonotonicTime) -> String? {
        forget(before: now, generation: generation)
        guard generation == self.generation, !entries.isEmpty, let code = code(of: authorization) else { return nil }
        guard let entry = entries[code], now < entry.until, now < entry.idleUntil else { return nil }
        entries[code]?.idleUntil = now.advanced(by: Self.idleLifetime)
        return entry.name
    }

    /// Remembers a header whose password was right.
    ///
    /// - Parameters:
    ///   - authorization: The header's value.
    ///   - name: The name as the users file has it.
    ///   - generation: That of the users that it was verified against; nothing is remembered when others count meanwhile.
    ///   - now: The present moment.
    public mutating func remember(_ authorization: String, name: String, generation: Int, now: MonotonicTime) {
        forget(before: now, generation: generation)
        guard generation == self.generation, let code = code(of: authorization) else { return }
        if entries[code] == nil {
            // The search costs little beside the check of a password.
            if entries.count(where: { $0.value.name == name }) >= Self.limitOfUser {
                forgetOldest(of: name)
            } else if entries.count >= limit {
                forgetOldest()
            }
            order.append(code)
        }
        entries[code] = Entry(
            name: name, until: now.advanced(by: Self.lifetime), idleUntil: now.advanced(by: Self.idleLifetime))
    }

    private mutating func forget(before now: MonotonicTime, generation: Int) {
        if generation > self.generation {
            self.generation = generation
            entries = [:]
            order = FIFO()
        }
        while let code = order.first, let entry = entries[code], entry.until <= now { forgetOldest() }
    }

    private mutating func forgetOldest() {
        if let code = order.popFirst() { entries[code] = nil }
    }

    private mutating func forgetOldest(of name: String) {
        guard let place = (0..<order.count).first(where: { entries[order[$0]]?.name == name }) else { return }
        if let code = order.remove(at: place) { entries[code] = nil }
    }

    private func code(of authorization: String) -> [UInt8]? {
        try? HMACSHA256.code(of: Array(authorization.utf8), key: key)
    }
}

extension VerifiedCredentials: Concealed {
    /// The number of headers that it remembers, but neither the key nor whose they are.
    public var description: String { "VerifiedCredentials(headers: \(count))" }
}
