/// Requests that share ordering keys.
extension Oracle {
    /// Requests that were called although one ahead of them, with the same key, was called after that.
    ///
    /// Only what was in flight, or finished and not committed, when a worker was killed is called again, and it is called again in its
    /// order. So a call behind that of a later request needs a kill between the two.
    ///
    /// - Parameter key: The key of a user's request; nil for none.
    /// - Returns: The requests that were called too early.
    public func order(key: (Int) -> Int?) -> Finding {
        var calls: [Int: [Int64]] = [:]
        for call in evidence.calls { if let user = call.user { calls[user, default: []].append(call.at) } }
        var users: [Int: [(place: Place, user: Int)]] = [:]
        for (user, place) in places { if let key = key(user) { users[key, default: []].append((place, user)) } }
        var examples: [String] = []
        for (key, users) in users {
            let ordered = users.sorted { $0.place < $1.place }
            for (index, later) in ordered.enumerated() {
                guard let first = calls[later.user]?.min() else { continue }
                let early = ordered[..<index].first { earlier in
                    calls[earlier.user]?.contains { $0 > first && !isRepetition(of: first, at: $0) } ?? false
                }
                if let early { examples.append("user \(later.user) was called before user \(early.user), of key \(key)") }
            }
        }
        return .none(.order, examples)
    }

    /// Whether a worker was killed between a call and the one that should have come before it.
    private func isRepetition(of first: Int64, at late: Int64) -> Bool {
        evidence.disturbances.contains { $0.repeatsCalls && $0.mayHaveMade(first) && $0.at <= late }
    }
}
