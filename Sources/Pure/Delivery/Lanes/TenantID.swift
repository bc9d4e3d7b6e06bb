import Basics

/// A tenant's name as a number, or none: what tells queues of calls apart.
///
/// It is the 64-bit FNV-1a hash of the name (draft-eastlake-fnv, section 2). Two tenants with one hash would share a queue, no more: who
/// wants to harm a tenant so may as well write its name.
public struct TenantID: Sendable, Hashable {
    let number: UInt64

    /// No tenant: the requests that name none.
    public static let none = TenantID(number: 0)

    private init(number: UInt64) { self.number = number }

    /// The tenant of that name.
    public init(_ name: Span<UInt8>) {
        // The numbers without the highest bit are nobody's, and those of shared queues.
        number = FNV1a.hash(of: name) | 1 << 63
    }

    /// The tenant of that name.
    public init(_ name: String) { self.init(Array(name.utf8).span) }

    /// One of `count` that stand for all tenants that have no queue of their own.
    func shared(among count: Int) -> TenantID { TenantID(number: 1 + number % UInt64(count)) }

    /// True if it stands for several tenants.
    var isShared: Bool { number > 0 && number < 1 << 63 }
}

/// The parts of tenants in a lane while several have requests there.
public struct TenantWeights: Sendable, Equatable {
    private var weights: [TenantID: Int] = [:]

    /// Every tenant has weight 1.
    public init() {}

    /// The weight of `tenant`, 1 – 1,000, or 1 when nothing else was said. Values beyond are clamped.
    public subscript(tenant: TenantID) -> Int {
        get { weights[tenant] ?? 1 }
        set { weights[tenant] = min(max(newValue, 1), 1000) }
    }

    /// True if something was said of `tenant`.
    func names(_ tenant: TenantID) -> Bool { weights[tenant] != nil }
}
