import FanOut
import HubServer

/// The search for the devices of an audience, by operations on the sets of its tags.
struct AudienceSearch {
    /// A part of an expression.
    private enum Part {
        case set(any PostingSet)
        /// Everything but a set.
        case complement(any PostingSet)
    }

    /// The most that a page may take. Its last device is whole.
    struct Limits {
        /// Bytes of registrations.
        var byteCount = 4 << 20
        /// Postings that are looked at.
        var postingCount = 20_000
        /// Devices of a window.
        var windowCount: Int64 = 512
    }

    /// A page that is being filled.
    private struct Page {
        let limit: Int
        private(set) var devices: [AudienceDevice] = []
        private(set) var byteCount = 0
        var unreadableCount = 0
        /// The row of the present device.
        var device: Int64 = -1
        /// Its place, if it has a registration.
        private var place: DevicePlace?
        private var registrations: [Registration] = []

        init(limit: Int) { self.limit = limit }

        mutating func add(_ stored: StoredRegistration) {
            place = DevicePlace(platform: stored.registration.platform, number: DeviceRows.number(of: device))
            registrations.append(stored.registration)
            byteCount += stored.byteCount
        }

        mutating func endDevice() {
            guard let place, !registrations.isEmpty else { return }
            devices.append(AudienceDevice(place: place, registrations: registrations))
            registrations = []
        }

        func whole(next: DevicePlace?) -> AudiencePage {
            AudiencePage(devices: devices, next: next, unreadableCount: unreadableCount)
        }
    }

    private let audience: DeviceAudience
    private let connection: HubConnection
    private let limits: Limits
    private let window = PostingWindow()
    /// The numbers of the expression's tags, without those that no registration has.
    private var tagIDs: [HubTag: Int64] = [:]

    init(
        for audience: DeviceAudience, limits: Limits = Limits(), tags: inout TagRows, on connection: HubConnection
    ) throws(RefusedCall) {
        (self.audience, self.limits, self.connection) = (audience, limits, connection)
        for tag in audience.expression?.tags ?? [] { tagIDs[tag] = try tags.id(of: Array(tag.folded.utf8)) }
    }

    /// A page of the devices behind a place, at most `limit`.
    func devices(
        after place: DevicePlace?, limit: Int, rows: inout RegistrationRows
    ) throws(RefusedCall) -> AudiencePage {
        var page = Page(limit: limit)
        guard limit > 0 else { return page.whole(next: nil) }
        let endNumber = min(max(audience.end ?? DeviceRows.numberEnd, 0), DeviceRows.numberEnd)
        let first = audience.platform.map { DeviceRows.id(of: $0, number: 0) } ?? 0
        let set = try set(before: audience.platform == nil ? .max : first + endNumber)
        var next = Posting(device: max(first, place.map { DeviceRows.id(of: $0) + 1 } ?? first), sequence: 0)
        while let begin = try set.bound(from: next) {
            guard let beginning = try? DeviceRows.place(of: begin.device) else {
                // No platform has such rows, and all behind them are of none.
                page.unreadableCount += 1
                break
            }
            guard beginning.number < endNumber else {
                // The rest of this platform came later, too.
                next = Posting(device: DeviceRows.firstID(behind: beginning.platform), sequence: 0)
                continue
            }
            let platformEnd = DeviceRows.id(of: beginning.platform, number: 0) + endNumber
            window.end = min(begin.device + limits.windowCount, platformEnd)
            next = begin
            while let found = try set.first(from: next) {
                if found.device != page.device {
                    page.endDevice()
                    // All devices up to the last one are done.
                    if page.device >= 0, isOver(page) { return page.whole(next: try DeviceRows.place(of: page.device)) }
                    page.device = found.device
                }
                next = found.next
                try read(found, into: &page, rows: &rows)
            }
            page.endDevice()
            next = Posting(device: window.end, sequence: 0)
            if isOver(page) { return page.whole(next: try DeviceRows.place(of: window.end - 1)) }
        }
        return page.whole(next: nil)
    }

    /// True if a page has as much as it may have.
    private func isOver(_ page: Page) -> Bool {
        page.devices.count >= page.limit || page.byteCount >= limits.byteCount
            || window.lookedAtCount >= limits.postingCount
    }

    /// Adds a registration to a page, if it is meant.
    private func read(_ found: Posting, into page: inout Page, rows: inout RegistrationRows) throws(RefusedCall) {
        guard found.hasTemplate == (audience.platform == nil) else { return }
        do throws(RefusedCall) {
            guard let stored = try rows.registration(at: found.sequence, notExpiredAt: audience.now) else { return }
            page.add(stored)
        } catch {
            // What the disk refuses is refused. A row that cannot be understood must not keep others from their notification.
            guard connection.failure == nil else { throw error }
            page.unreadableCount += 1
        }
    }

    /// The registrations that satisfy the expression, of devices whose rows are below `end`.
    private func set(before end: Int64) throws(RefusedCall) -> any PostingSet {
        guard let expression = audience.expression else { return try StoredPostings(of: nil, before: end, in: window, on: connection) }
        let part = try expression.composed { (step: TagExpression.CompositionStep<Part>) throws(RefusedCall) -> Part in
            switch step {
            case .tag(let tag):
                guard let id = tagIDs[tag] else { return .set(PostingUnion(of: [])) }
                return .set(try StoredPostings(of: id, before: end, in: window, on: connection))
            case .not(.set(let set)): return .complement(set)
            case .not(.complement(let set)): return .set(set)
            case .and(let parts): return Self.intersection(of: parts)
            case .or(let parts): return Self.union(of: parts)
            }
        }
        switch part {
        case .set(let set): return set
        case .complement(let set):
            return PostingIntersection(of: [try StoredPostings(of: nil, before: end, in: window, on: connection)], without: [set])
        }
    }

    private static func intersection(of parts: [Part]) -> Part {
        let (sets, complements) = divided(parts)
        return sets.isEmpty
            ? .complement(PostingUnion(of: complements)) : .set(PostingIntersection(of: sets, without: complements))
    }

    /// Either of a and not b is everything but that which is b and not a.
    private static func union(of parts: [Part]) -> Part {
        let (sets, complements) = divided(parts)
        return complements.isEmpty
            ? .set(PostingUnion(of: sets)) : .complement(PostingIntersection(of: complements, without: sets))
    }

    private static func divided(_ parts: [Part]) -> (sets: [any PostingSet], complements: [any PostingSet]) {
        var (sets, complements): ([any PostingSet], [any PostingSet]) = ([], [])
        for part in parts {
            switch part {
            case .set(let set): sets.append(set)
            case .complement(let set): complements.append(set)
            }
        }
        return (sets, complements)
    }
}
