public import PushModel

/// The requests that wait for a hub that settings do not have, by its name, as far as one loop let them wait.
///
/// Each waits in a lane, is looked at when it is due by the lane's reader, and waits again. So one counts until it comes back here, or is
/// so long overdue that another worker has it. All loops together count each once. Names come from strangers, so only a few are kept.
public struct UnroutedWaits: Sendable {
    /// The requests that wait for one hub.
    public struct Count: Sendable, Equatable {
        /// The name that they give: `unnamed` if they give none, and there is no default, or `other` for the hubs beyond the first.
        public let hub: String
        /// Their number, at least 1.
        public let count: Int

        /// So many requests for that hub.
        public init(hub: String, count: Int) {
            self.hub = hub
            self.count = count
        }
    }

    /// The most hubs that are counted under their own names.
    public static let mostNames = 4
    /// The name for requests that give none.
    public static let unnamed = "unnamed"
    private static let other = "other"
    /// The time after which an overdue one is another worker's, milliseconds.
    private static let patience: Int64 = 2000

    /// By hub, and by the second in which they are due.
    private var numbers: [String: [Int64: Int]] = [:]

    /// Nothing waits.
    public init() {}

    /// A request waits for a hub until it is due.
    public mutating func add(_ hub: String, due: Timestamp) {
        let isNamed = numbers[hub] != nil || numbers.count < Self.mostNames
        numbers[isNamed ? hub : Self.other, default: [:]][Self.second(of: due), default: 0] += 1
    }

    /// A request has come back from its lane. One that another worker let wait was not counted here.
    public mutating func remove(_ hub: String, due: Timestamp) {
        let name = numbers[hub] == nil ? Self.other : hub
        guard let count = numbers[name]?[Self.second(of: due)] else { return }
        numbers[name]?[Self.second(of: due)] = count > 1 ? count - 1 : nil
        if numbers[name]?.isEmpty ?? false { numbers[name] = nil }
    }

    /// Forgets those for hubs that are there now.
    public mutating func removeAll(where isThere: (String) -> Bool) { numbers = numbers.filter { !isThere($0.key) } }

    /// Hubs and their requests, the most first. Requests that others have by now are forgotten.
    public mutating func counts(at now: Timestamp) -> [Count] {
        let limit = Self.second(of: now.adding(milliseconds: -Self.patience))
        numbers = numbers.compactMapValues { parts in
            let rest = parts.filter { $0.key >= limit }
            return rest.isEmpty ? nil : rest
        }
        return numbers.map { Count(hub: $0.key, count: $0.value.values.reduce(0, +)) }
            .sorted { $0.count == $1.count ? $0.hub < $1.hub : $0.count > $1.count }
    }

    private static func second(of moment: Timestamp) -> Int64 { moment.milliseconds / 1000 }
}
