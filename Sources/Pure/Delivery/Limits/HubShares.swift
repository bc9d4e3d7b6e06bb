/// The shares of several hubs in what a loop may hold of their requests in work.
///
/// Half of the budget is divided equally: that much each hub has, whatever the others hold. The other half goes to the hubs that need it
/// first. So hubs that are out cannot take what a hub that works needs, and one hub alone may hold more than half. A hub that has no
/// request in work may always begin one, whatever its size, so that each makes progress.
public struct HubShares: Sendable, Equatable {
    /// The bytes that each hub may hold, whatever the others hold.
    public let guaranteed: Int
    /// The bytes that hubs may hold beyond that, all together.
    public let common: Int

    /// - Parameters:
    ///   - budget: What all hubs together may hold, bytes; less than 0 counts as 0.
    ///   - count: The number of hubs; less than 1 counts as 1.
    public init(budget: Int, hubs count: Int) {
        common = max(budget, 0) / 2
        guaranteed = common / max(count, 1)
    }

    /// True if a hub may begin another request.
    ///
    /// - Parameters:
    ///   - hub: The hub's place in `held`; one that has none holds nothing.
    ///   - held: What the requests in work of each hub take, bytes.
    ///   - size: What of that the new request takes, bytes, if it is counted already.
    /// - Returns: Whether it has room. What has none must wait elsewhere.
    public func hasRoom(for hub: Int, among held: [Int], besides size: Int = 0) -> Bool {
        let own = held.indices.contains(hub) ? held[hub] - size : 0
        guard own >= max(guaranteed, 1) else { return true }
        var lent = 0
        for other in held.indices where other != hub { lent += max(0, held[other] - guaranteed) }
        return own - guaranteed < common - lent
    }
}
