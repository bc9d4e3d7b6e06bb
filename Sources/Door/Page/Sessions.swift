import Basics

/// The sessions of people who have signed in with a key.
///
/// Pure: it reads no clock. It has no secret but its SHA-256, and remembers no more sessions than the limit. One owner, not thread-safe.
struct Sessions<Key: Sendable & Identifiable>: Sendable where Key.ID == String {
    struct Session: Sendable {
        let key: Key
        let began: MonotonicTime
        fileprivate(set) var used: MonotonicTime

        /// The time at which it is over, however much it is used.
        var end: MonotonicTime { began.advanced(by: longestLife) }

        func isOver(at now: MonotonicTime) -> Bool { now >= end || now >= used.advanced(by: longestRest) }
    }

    /// From its beginning to its end.
    static var longestLife: Duration { .seconds(8 * 3600) }
    /// Without a call.
    static var longestRest: Duration { .seconds(30 * 60) }
    /// Sessions of one key.
    static var limitOfKey: Int { 16 }
    /// Sessions of all keys.
    static var limit: Int { 1024 }

    private var sessions: [[UInt8]: Session] = [:]

    /// The number of those that are kept.
    package var count: Int { sessions.count }

    /// Begins one. Where there is no room for it, the one that was not used for the longest time ends: of the key's where that has its share,
    /// else of those of whichever key has most.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 of its secret, which no other session has.
    ///   - key: The key that was right.
    ///   - now: The present.
    mutating func begin(_ digest: [UInt8], of key: Key, now: MonotonicTime) {
        sessions = sessions.filter { !$0.value.isOver(at: now) }
        let ofKey = sessions.filter { $0.value.key.id == key.id }
        if ofKey.count >= Self.limitOfKey {
            endOldest(of: ofKey)
        } else if sessions.count >= Self.limit {
            let byKey = Dictionary(grouping: sessions, by: \.value.key.id)
            let most = byKey.values.map(\.count).max()
            endOldest(of: sessions.filter { byKey[$0.value.key.id]?.count == most })
        }
        sessions[digest] = Session(key: key, began: now, used: now)
    }

    /// The session of a secret, which begins to rest now, or nil if there is none any more.
    mutating func use(_ digest: [UInt8], now: MonotonicTime) -> Session? {
        guard let session = sessions[digest], !session.isOver(at: now) else {
            sessions[digest] = nil
            return nil
        }
        sessions[digest]?.used = now
        return session
    }

    /// Ends the session of a secret, if there is one.
    mutating func end(_ digest: [UInt8]) { sessions[digest] = nil }

    private mutating func endOldest(of some: [[UInt8]: Session]) {
        if let oldest = some.min(by: { $0.value.used < $1.value.used }) { sessions[oldest.key] = nil }
    }
}
