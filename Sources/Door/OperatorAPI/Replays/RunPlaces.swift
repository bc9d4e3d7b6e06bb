import Replays

/// The replays that run or rest in one process, and the decision about one more. Without clock and thread.
///
/// Two replays that may have the same requests run one after the other, or both would send them: those of one tenant, and any beside one of
/// no tenant. A paused one holds up no other. It keeps a place, and gives that up to another tenant when there is no other.
struct RunPlaces: Sendable {
    struct Place: Sendable, Equatable {
        /// Nil for a replay of all tenants.
        let tenant: String?
        let isPaused: Bool
    }

    enum Admission: Sendable, Equatable {
        /// It begins. A paused one is interrupted for it where there is no other place.
        case begins(interrupting: String? = nil)
        /// Another one must end or pause first.
        case excluded(by: String)
        /// All places are taken by replays that run.
        case full
    }

    /// The places of one process: each has a thread and two clients of Kafka.
    static let limit = 8

    /// Those that are taken, by the ids of the replays. Ids sort by time.
    var taken: [String: Place] = [:]

    /// Decides about one more, of a tenant or of all (nil).
    func admit(_ id: String, of tenant: String?) -> Admission {
        if taken[id] != nil { return .excluded(by: id) }
        if let other = taken.filter({ !$0.value.isPaused && JobRecord.mayOverlap($0.value.tenant, with: tenant) }).keys.min() {
            return .excluded(by: other)
        }
        guard taken.count >= Self.limit else { return .begins() }
        var counts = [tenant: 1]
        for place in taken.values { counts[place.tenant, default: 0] += 1 }
        let paused = taken.filter { $0.value.isPaused }
        guard let most = paused.values.compactMap({ counts[$0.tenant] }).max() else { return .full }
        return .begins(interrupting: paused.filter { counts[$0.value.tenant] == most }.keys.min())
    }
}
