import HubAuth

/// Decisions about tokens, kept for the second in which they were made.
///
/// A client sends the same token with every call, and its check costs more than the rest of a small call. Within one second of
/// the clock neither the policies nor the token's expiry can change the decision, so it can be reused as it is.
struct GrantCache: Sendable {
    struct Key: Hashable, Sendable {
        let authorization: String
        let host: String
        let path: String
        let rights: SASRights
    }

    private var second: Int64 = .min
    private var granted: Set<Key> = []

    /// True if the same call was allowed in this second.
    mutating func isGranted(_ key: Key, second now: Int64) -> Bool {
        if now != second {
            second = now
            granted.removeAll(keepingCapacity: true)
        }
        return granted.contains(key)
    }

    /// Remembers an allowed call, at most 1,024 in one second.
    mutating func grant(_ key: Key, second now: Int64) {
        if now == second, granted.count < 1024 { granted.insert(key) }
    }
}
