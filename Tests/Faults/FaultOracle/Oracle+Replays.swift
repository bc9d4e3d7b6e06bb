import PushModel

/// One request that repeats some of another one's hub calls.
public struct ReplayFact: Sendable {
    /// Where it stands.
    public var place: Place
    /// Where the request stands that it repeats.
    public var parent: Place
    /// The indices of the calls that it repeats; nil for all of them.
    public var sends: [Int]?

    /// A replay.
    public init(_ place: Place, of parent: Place, sends: [Int]? = nil) {
        self.place = place
        self.parent = parent
        self.sends = sends
    }
}

extension Evidence {
    /// Sets replays apart: their results, and the calls that these tell about.
    ///
    /// What is left is judged as if nothing had been replayed. A call of a replay that is not accounted for stays, and counts as a
    /// repeated one.
    public mutating func setApart(_ replays: [ReplayFact]) {
        guard !replays.isEmpty else { return }
        let places = Set(replays.map(\.place))
        self.replays = replays
        replayResults = results.filter { places.contains($0.origin) }
        results.removeAll { places.contains($0.origin) }
        let told = Set(replayResults.flatMap(\.sends).compactMap(\.notification))
        calls.removeAll { $0.notification.map(told.contains) ?? false }
    }
}

/// Replays, once the hub was well again.
extension Oracle {
    /// Calls that failed and were not repeated exactly once, calls that were repeated although they had not failed, and replays that
    /// did not succeed.
    func replays() -> Finding? {
        guard !evidence.replays.isEmpty else { return nil }
        var counts: [Place: [Int]] = [:]
        for result in evidence.results { counts[result.origin] = result.sends.map { _ in 0 } }
        var examples: [String] = []
        for replay in evidence.replays {
            guard var sends = counts[replay.parent], !sends.isEmpty else {
                examples.append("\(replay.place) repeats \(replay.parent), of which no call was made")
                continue
            }
            for index in replay.sends ?? Array(sends.indices) where sends.indices.contains(index) { sends[index] += 1 }
            counts[replay.parent] = sends
        }
        for result in evidence.results {
            for (index, send) in result.sends.enumerated() {
                let count = counts[result.origin]?[index] ?? 0
                guard count != (send.isSuccess ? 0 : 1) else { continue }
                examples.append(
                    "call \(index) of \(result.origin) \(send.isSuccess ? "succeeded" : "failed"), repeated \(count) times")
            }
        }
        return .none(.replays, examples + unsuccessful())
    }

    private func unsuccessful() -> [String] {
        var results: [Place: [ResultFact]] = [:]
        for result in evidence.replayResults { results[result.origin, default: []].append(result) }
        return evidence.replays.compactMap { replay in
            let own = results[replay.place] ?? []
            guard own.count != 1 || own[0].state != .sent else { return nil }
            return "the replay at \(replay.place) has the results \(own.map(\.state.rawValue))"
        }
    }
}
