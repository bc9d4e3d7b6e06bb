package import Basics
import EventLoop
import FanOut
package import HubREST
package import PushModel
import Synchronization

/// The installations that this gateway wrote or removed in the last minute. A hub may not show yet what it has taken, and answers and
/// decisions go by this until then. Once a hub shows something else than what it had before, another one has written there, and its
/// word counts.
///
/// Bounded by number and size: the oldest are forgotten first.
package final class DeviceMemory: Sendable {
    /// The time for which a write is remembered.
    package static let life = Duration.seconds(60)
    /// The most that is remembered.
    package struct Limits: Sendable {
        package var count = 10_000
        package var byteCount = 16 << 20

        package init() {}
    }

    fileprivate struct Key: Hashable {
        let hub: String
        let id: String
    }

    fileprivate struct Entry {
        /// Nil where it was removed.
        let installation: Installation?
        /// The states that the hub had before, which it may still show: none once it has shown this one, and nil where they are not known.
        var older: Set<Int>?
        let number: Int
        /// The number of the write that gave it its handle, or 0 where that is not remembered.
        let rank: Int
        let end: MonotonicTime
        let byteCount: Int
    }

    fileprivate struct State {
        var entries: [Key: Entry] = [:]
        /// The keys in the order in which they were written. One that was written again is there twice, and the number tells.
        var order = FIFO<(key: Key, number: Int)>()
        var owners: [String: Set<Key>] = [:]
        var byteCount = 0
        var lastNumber = 0
    }

    private let limits: Limits
    private let now: @Sendable () -> MonotonicTime
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())

    package init(_ limits: Limits = Limits(), now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() }) {
        (self.limits, self.now) = (limits, now)
    }

    /// Notes what a hub has done. To be called with each call that succeeded. A change in part is not known here.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - hub: The hub's name.
    ///   - shown: What the hub showed under the id before, with a nil inside for nothing, or nil where that is not known.
    package func note(_ call: RegistrationCall, at hub: String, over shown: Installation??) {
        switch call {
        case .putInstallation(let installation): keep(installation, as: installation.id, at: hub, over: shown)
        case .deleteInstallation(let id): keep(nil, as: id, at: hub, over: shown)
        default: break
        }
    }

    /// Remembers what a hub has under an id now, or that it has nothing. A change in part gives no handle.
    package func keep(
        _ installation: Installation?, as id: String, at hub: String, over shown: Installation??, isChange: Bool = false
    ) {
        let end = now().advanced(by: Self.life)
        state.withLock { state in
            let key = Key(hub: hub, id: id)
            state.lastNumber += 1
            let number = state.lastNumber
            let last = state.entries[key]
            state.forget(key)
            let entry = Entry(
                installation: installation, older: Self.older(than: last, over: shown), number: number,
                rank: isChange ? last?.rank ?? 0 : number, end: end, byteCount: Self.byteCount(installation))
            state.add(entry, as: key)
            state.trim(to: limits, at: now())
        }
    }

    /// The states that a hub may still show after a write over one that it showed, and over an earlier one of this gateway's.
    private static func older(than last: Entry?, over shown: Installation??) -> Set<Int>? {
        var older: Set<Int> = []
        if let shown { older.insert(fingerprint(of: shown)) }
        guard let last else { return older.isEmpty ? nil : older }
        // Of many writes in a minute the first are forgotten.
        if let before = last.older, before.count < maximumOlder { older.formUnion(before) }
        older.insert(fingerprint(of: last.installation))
        return older
    }

    private static let maximumOlder = 16

    /// A number that is the same for the same device, however a hub writes it.
    private static func fingerprint(of installation: Installation?) -> Int {
        var hasher = Hasher()
        guard let installation else { return hasher.finalize() }
        var platform: Platform?
        if case .known(let known) = installation.platform { platform = known }
        hasher.combine(installation.platform)
        hasher.combine(DeviceToken.identity(of: installation.pushChannel, on: platform))
        hasher.combine(Set(installation.tags.filter { $0.utf8.first != UInt8(ascii: "$") }.map(UserTag.folded)))
        hasher.combine(installation.userID)
        hasher.combine(DeviceTemplates(installation.templates).json)
        // Hubs leave out the zone.
        let end = installation.expirationTime
        hasher.combine(end.map { (Timestamp($0.utf8Span.span) ?? Timestamp("\($0)Z".utf8Span.span))?.text ?? $0 })
        return hasher.finalize()
    }

    /// The installation under an id: what was written, as long as the hub shows what it had before, or else what the hub shows.
    package func installation(_ id: String, at hub: String, showing shown: Installation?) -> Installation? {
        state.withLock { state in
            state.trim(to: limits, at: now())
            let key = Key(hub: hub, id: id)
            guard let entry = state.entries[key] else { return shown }
            let current = Self.fingerprint(of: shown)
            if current == Self.fingerprint(of: entry.installation) {
                state.entries[key]?.older = []
                return shown
            }
            if entry.older?.contains(current) ?? true { return entry.installation }
            state.forget(key)
            return shown
        }
    }

    /// True if something is remembered of an id.
    package func knows(_ id: String, at hub: String) -> Bool { state.withLock { $0.entries[Key(hub: hub, id: id)] != nil } }

    /// Forgets an id, of which the hub has said something else.
    package func forget(_ id: String, at hub: String) { state.withLock { $0.forget(Key(hub: hub, id: id)) } }

    /// The registrations of a handle as they are now: without installations that lost it, and with those that got it.
    package func corrected(
        _ list: [DeviceRegistration], of handle: String, on platform: Platform, at hub: String
    ) -> [DeviceRegistration] {
        state.withLock { state in
            state.trim(to: limits, at: now())
            let holders = state.holders(of: Self.name(handle, on: platform), at: hub)
            let rest = list.filter { registration in
                guard let id = registration.installationID else { return true }
                return state.entries[Key(hub: hub, id: id)] == nil
            }
            return rest + holders.map { DeviceRegistration(of: $0.installation, on: platform) }
        }
    }

    /// The installations that got a handle before another one did. Of two that are written at the same time neither is listed yet when the
    /// other looks.
    package func rivals(of id: String, handle: String, on platform: Platform, at hub: String) -> [DeviceRegistration] {
        state.withLock { state in
            let holders = state.holders(of: Self.name(handle, on: platform))
            guard let own = holders.first(where: { $0.key.id == id }) else { return [] }
            return holders.filter { $0.key.hub == hub && $0.rank < own.rank && $0.key.id != own.key.id }
                .map { DeviceRegistration(of: $0.installation, on: platform) }
        }
    }

    /// True if an installation still must go, because another one has its handle: not if it was written after that one, or that one is not
    /// there any more.
    package func mayRemove(_ other: String, for id: String, at hubs: [String]) -> Bool {
        state.withLock { state in
            func rank(of id: String) -> Int? {
                hubs.compactMap { state.entries[Key(hub: $0, id: id)] }
                    .filter { $0.installation != nil }.map(\.rank).max()
            }
            guard let theirs = rank(of: other) else { return true }
            return rank(of: id).map { $0 > theirs } ?? false
        }
    }

    /// Forgets what is too old.
    package func trim() { state.withLock { $0.trim(to: limits, at: now()) } }

    /// The number of installations that are remembered.
    package var count: Int { state.withLock { $0.entries.count } }

    private static func byteCount(_ installation: Installation?) -> Int {
        guard let installation else { return 256 }
        let objects = [installation.templates, installation.secondaryTiles, installation.pushVariables]
        let texts = objects.reduce(installation.pushChannel.utf8.count) { $0 + ($1?.text.utf8.count ?? 0) }
        return 512 + 2 * texts + installation.tags.reduce(0) { $0 + $1.utf8.count + 16 }
    }

    /// A text that is the same for the same device.
    fileprivate static func name(_ handle: String, on platform: Platform) -> String {
        "\(platform.name) \(DeviceToken.identity(of: handle, on: platform))"
    }
}

extension DeviceMemory.State {
    fileprivate mutating func add(_ entry: DeviceMemory.Entry, as key: DeviceMemory.Key) {
        entries[key] = entry
        order.append((key, entry.number))
        byteCount += entry.byteCount
        if let handle = entry.handle { owners[handle, default: []].insert(key) }
    }

    fileprivate mutating func forget(_ key: DeviceMemory.Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.byteCount
        guard let handle = entry.handle else { return }
        owners[handle]?.remove(key)
        if owners[handle]?.isEmpty ?? false { owners[handle] = nil }
    }

    /// Forgets what is too old or too much.
    fileprivate mutating func trim(to limits: DeviceMemory.Limits, at now: MonotonicTime) {
        while let first = order.first {
            let entry = entries[first.key]
            let isCurrent = entry?.number == first.number
            let isOver = entry.map { $0.end <= now } ?? true
            guard !isCurrent || isOver || entries.count > limits.count || byteCount > limits.byteCount else { return }
            _ = order.popFirst()
            if isCurrent { forget(first.key) }
        }
    }

    /// The installations that have a handle, by the hubs' names and ids.
    fileprivate func holders(
        of handle: String, at hub: String? = nil
    ) -> [(key: DeviceMemory.Key, rank: Int, installation: Installation)] {
        (owners[handle] ?? []).filter { hub == nil || $0.hub == hub }.sorted { $0.id < $1.id }.compactMap { key in
            guard let entry = entries[key], let installation = entry.installation else { return nil }
            return (key, entry.rank, installation)
        }
    }
}

extension DeviceMemory.Entry {
    /// The handle that it stands under, or nil where there is none.
    fileprivate var handle: String? {
        guard let installation, case .known(let platform) = installation.platform else { return nil }
        return DeviceMemory.name(installation.pushChannel, on: platform)
    }
}

extension DeviceRegistration {
    /// The registration that the hub will list for an installation.
    fileprivate init(of installation: Installation, on platform: Platform) {
        self.init(
            id: "0", platform: platform, handle: installation.pushChannel,
            tags: ["$InstallationId:{\(installation.id)}"] + installation.tags)
    }
}
