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

    /// A page that is being filled.
    private struct Page {
        let limit: Int
        private var devices: [AudienceDevice] = []
        /// The row of the present device.
        var device: Int64 = -1
        /// Its registrations.
        var registrations: [Registration] = []

        init(limit: Int) { self.limit = limit }

        var isFull: Bool { devices.count >= limit }

        mutating func endDevice() throws(RefusedCall) {
            guard !registrations.isEmpty else { return }
            devices.append(AudienceDevice(place: try DeviceRows.place(of: device), registrations: registrations))
            registrations = []
        }

        func whole(next: DevicePlace?) -> AudiencePage { AudiencePage(devices: devices, next: next) }
    }

    private let audience: DeviceAudience
    private let connection: HubConnection
    /// The numbers of the expression's tags, without those that no registration has.
    private var tagIDs: [HubTag: Int64] = [:]

    init(for audience: DeviceAudience, tags: inout TagRows, on connection: HubConnection) throws(RefusedCall) {
        (self.audience, self.connection) = (audience, connection)
        for tag in audience.expression?.tags ?? [] { tagIDs[tag] = try tags.id(of: Array(tag.folded.utf8)) }
    }

    /// The devices behind a place, at most `limit`.
    func devices(
        after place: DevicePlace?, limit: Int, rows: inout RegistrationRows
    ) throws(RefusedCall) -> AudiencePage {
        var page = Page(limit: limit)
        guard limit > 0 else { return page.whole(next: nil) }
        let endNumber = min(max(audience.end ?? DeviceRows.numberEnd, 0), DeviceRows.numberEnd)
        let first = audience.platform.map { DeviceRows.id(of: $0, number: 0) } ?? 0
        let set = try set(before: audience.platform == nil ? .max : first + endNumber)
        var next = Posting(device: max(first, place.map { DeviceRows.id(of: $0) + 1 } ?? first), sequence: 0)
        while let found = try set.first(from: next) {
            if found.device != page.device {
                try page.endDevice()
                if page.isFull { return page.whole(next: try DeviceRows.place(of: page.device)) }
                page.device = found.device
            }
            let place = try DeviceRows.place(of: found.device)
            guard place.number < endNumber else {
                // The rest of this platform came later, too.
                next = Posting(device: DeviceRows.firstID(behind: place.platform), sequence: 0)
                continue
            }
            next = found.next
            guard found.hasTemplate == (audience.platform == nil) else { continue }
            let stored = try rows.registration(at: found.sequence, notExpiredAt: audience.now)
            if let stored { page.registrations.append(stored.registration) }
        }
        try page.endDevice()
        return page.whole(next: page.isFull ? try DeviceRows.place(of: page.device) : nil)
    }

    /// The registrations that satisfy the expression, of devices whose rows are below `end`.
    private func set(before end: Int64) throws(RefusedCall) -> any PostingSet {
        guard let expression = audience.expression else { return try StoredPostings(of: nil, before: end, on: connection) }
        let part = try expression.composed { (step: TagExpression.CompositionStep<Part>) throws(RefusedCall) -> Part in
            switch step {
            case .tag(let tag):
                guard let id = tagIDs[tag] else { return .set(PostingUnion(of: [])) }
                return .set(try StoredPostings(of: id, before: end, on: connection))
            case .not(.set(let set)): return .complement(set)
            case .not(.complement(let set)): return .set(set)
            case .and(let parts): return Self.intersection(of: parts)
            case .or(let parts): return Self.union(of: parts)
            }
        }
        switch part {
        case .set(let set): return set
        case .complement(let set):
            return PostingIntersection(of: [try StoredPostings(of: nil, before: end, on: connection)], without: [set])
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
