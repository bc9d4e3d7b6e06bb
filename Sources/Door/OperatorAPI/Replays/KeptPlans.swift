import GatewayAPI

/// The plans that are kept in files, and the decision which of them make room. Without clock and files.
struct KeptPlans: Sendable {
    struct Plan: Sendable {
        /// Ids sort by time.
        package let id: String
        let party: Party
        let byteCount: Int
    }

    /// The most bytes of all plans, 4 GiB: twice those of the largest one.
    static let byteLimit = 4 << 30
    /// The least that a plan counts for, in bytes: so no more than 1,024 are kept.
    static let leastByteCount = 4 << 20

    let plans: [Plan]

    /// The ids of those that leave, so that the others keep within the bounds: the oldest of whoever has most. What is at work stays.
    func leaving(besides atWork: Set<String>, within limit: Int = byteLimit) -> [String] {
        var (holdings, removable) = (Holdings<Party>(), [Party: [Plan]]())
        for plan in plans.sorted(by: { $0.id > $1.id }) {
            holdings.change(plan.party, by: Self.weight(of: plan))
            if !atWork.contains(plan.id) { removable[plan.party, default: []].append(plan) }
        }
        var leaving: [String] = []
        while holdings.total > limit, let party = holdings.greediest, let oldest = removable[party]?.popLast() {
            holdings.change(party, by: -Self.weight(of: oldest))
            leaving.append(oldest.id)
        }
        return leaving
    }

    private static func weight(of plan: Plan) -> Int { max(leastByteCount, plan.byteCount) }
}
