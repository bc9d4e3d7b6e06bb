public import Basics
public import PushModel

/// The buffered records of tenants, by the number of their hub and by lane, and the records whose hub is gone.
///
/// A lane whose requests name tenants is read beyond what has places. So a tenant that has more requests than places causes no
/// head-of-line blocking for others. A class, so that its value is copied for no look at it.
public final class HubBuffers {
    /// The time that a lane is read ahead after a request that names its tenant: 10 s in nanoseconds.
    private static let readAheadTime: Int64 = 10_000_000_000
    /// The most memory that the buffered records of a lane may take.
    public static let mostBytes = TenantBuffers.maximumBytes

    private var buffers: [[TenantBuffers]] = []
    /// The numbers of the hubs that have records.
    private var filled = NumberSet()
    /// The moment until which each lane is read beyond what has places.
    private var readsAheadUntil = Lane.allCases.map { _ in MonotonicTime.past }
    /// The records that wait for no turn: their hub is gone, and they go where they are sent now.
    private var displaced = FIFO<BufferedRecord>()

    init() {}

    /// Forgets all records. The hubs stay.
    func removeAll() {
        buffers = buffers.map { _ in Lane.allCases.map { _ in TenantBuffers() } }
        filled = NumberSet()
        readsAheadUntil = Lane.allCases.map { _ in MonotonicTime.past }
        displaced = FIFO()
    }

    /// Makes room for the records of a hub.
    public func addHub(_ number: Int) {
        while buffers.count <= number { buffers.append(Lane.allCases.map { _ in TenantBuffers() }) }
    }

    /// Notes a request of a tenant: its lane is read ahead for a while.
    public func noteTenant(in lane: Lane, now: MonotonicTime) {
        readsAheadUntil[lane.rawValue] = now + Self.readAheadTime
    }

    /// True if a lane has requests of tenants, or had some lately. Then it is read beyond what has places.
    public func readsAhead(_ lane: Lane, of hub: Int, now: MonotonicTime) -> Bool {
        now < readsAheadUntil[lane.rawValue] || !buffers[hub][lane.rawValue].isEmpty
    }

    /// True if a tenant may have another call waiting at a hub.
    ///
    /// - Parameters:
    ///   - waiting: The calls that it has waiting there.
    ///   - tenantCount: The tenants that have some.
    ///   - most: The calls that the hub may have in flight.
    /// - Returns: Whether it may.
    public static func hasPlace(waiting: Int, tenantCount: Int, most: Int) -> Bool {
        waiting < TenantBuffers.limit(most: most, tenantCount: tenantCount)
    }

    /// True if records of a tenant are buffered: those that come later wait behind them.
    public func hasRecords(of tenant: TenantID, at hub: Int, in lane: Lane) -> Bool {
        buffers[hub][lane.rawValue].hasRecords(of: tenant)
    }

    /// Buffers a record until its tenant has a place.
    public func append(_ record: BufferedRecord, of tenant: TenantID, at hub: Int) {
        buffers[hub][record.lane.rawValue].append(record, of: tenant)
        filled.set(hub, isMember: true)
    }

    /// The numbers of the hubs that have records buffered, in no order.
    public var hubs: [Int] { filled.members }

    /// Takes out the first buffered record of a tenant.
    public func nextOfTenant(_ tenant: TenantID, at hub: Int, in lane: Lane) -> BufferedRecord? {
        defer { noteCount(at: hub) }
        return buffers[hub][lane.rawValue].removeFirst(of: tenant)
    }

    /// Takes out the buffered records of a partition that stand before `end` and were read before `moment`.
    public func removeAll(
        of slot: Int, in lane: Lane, at hub: Int, before end: Int64, readBefore moment: MonotonicTime
    ) -> [BufferedRecord] {
        defer { noteCount(at: hub) }
        return buffers[hub][lane.rawValue].removeAll(of: slot, before: end, readBefore: moment)
    }

    private func noteCount(at hub: Int) { filled.set(hub, isMember: count(at: hub) > 0) }

    /// A hub is gone: its buffered records wait for nothing any more.
    public func displace(hub: Int) {
        for lane in buffers[hub].indices { for record in buffers[hub][lane].takeAll() { displaced.append(record) } }
        noteCount(at: hub)
    }

    /// The next record whose hub is gone.
    public func nextDisplaced() -> BufferedRecord? { displaced.popFirst() }

    /// True if a hub has no buffered records of a lane.
    public func isEmpty(at hub: Int, in lane: Lane) -> Bool { buffers[hub][lane.rawValue].isEmpty }

    /// The bytes that are buffered for a hub of a lane.
    public func byteCount(at hub: Int, in lane: Lane) -> Int { buffers[hub][lane.rawValue].byteCount }

    /// The records that are buffered for a hub.
    public func count(at hub: Int) -> Int { buffers[hub].reduce(0) { $0 + $1.count } }

    /// The earliest moment since which a buffered record of a hub waits. Nil when there is none.
    public func oldest(at hub: Int) -> Timestamp? { buffers[hub].lazy.compactMap(\.waitingSince).min() }
}
