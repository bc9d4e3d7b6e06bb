/// The requests of one partition that are held, and the part of each tenant.
///
/// A tenant may hold three times what is left for all. So one alone has three quarters of the room, and the next one three quarters of the
/// rest, however much the first one asks for. The requests without a tenant count as those of one.
struct HeldShares {
    /// A number of requests and their bytes.
    struct Load: Equatable {
        var count = 0
        var byteCount = 0
    }

    /// The factor by which a tenant may hold more than is left.
    private static let factor = 3

    /// All that is held.
    private(set) var all = Load()
    private var tenants: [TenantID: Load] = [:]

    /// Notes that a tenant has another one with so many bytes, or one fewer where the sign is -1.
    mutating func note(_ tenant: TenantID, byteCount: Int, sign: Int) {
        var load = tenants[tenant] ?? Load()
        load.count += sign
        load.byteCount += sign * byteCount
        tenants[tenant] = load.count > 0 ? load : nil
        all.count += sign
        all.byteCount += sign * byteCount
    }

    /// True if a tenant may have another one.
    ///
    /// - Parameters:
    ///   - tenant: The request's tenant.
    ///   - byteCount: Its bytes.
    ///   - window: The window of the partition that holds them.
    /// - Returns: True if it may.
    func hasShare(_ tenant: TenantID, byteCount: Int, window: Int) -> Bool {
        let own = tenants[tenant] ?? Load()
        let freeCount = HeldRules.maximumHeld(window: window) - all.count - 1
        let freeBytes = HeldRules.maximumHeldBytes - all.byteCount - byteCount
        return own.count < Self.factor * freeCount && own.byteCount + byteCount <= Self.factor * freeBytes
    }
}
