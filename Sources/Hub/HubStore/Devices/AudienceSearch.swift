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

    private let audience: DeviceAudience
    private let connection: HubConnection
    /// The numbers of the expression's tags, without those that nobody has.
    private var tagIDs: [HubTag: Int64] = [:]

    init(for audience: DeviceAudience, tags: inout TagRows, on connection: HubConnection) throws(RefusedCall) {
        (self.audience, self.connection) = (audience, connection)
        for tag in audience.expression?.tags ?? [] { tagIDs[tag] = try tags.id(of: Array(tag.folded.utf8)) }
    }

    /// The devices behind a place, at most `limit`.
    func devices(
        after place: DevicePlace?, limit: Int, rows: inout RegistrationRows
    ) throws(RefusedCall) -> [AudienceDevice] {
        var devices: [AudienceDevice] = []
        for platform in DeviceRows.platforms where audience.platform.map({ $0 == platform }) ?? true {
            guard devices.count < limit else { break }
            if let place, platform.code < place.platform.code { continue }
            let isInside = place?.platform == platform
            let start = isInside ? min(max(place?.number ?? 0, 0), DeviceRows.numberEnd) + 1 : 0
            let end = min(max(audience.end ?? DeviceRows.numberEnd, 0), DeviceRows.numberEnd)
            guard start < end else { continue }
            try addDevices(from: start, before: end, on: platform, to: &devices, limit: limit, rows: &rows)
        }
        return devices
    }

    /// Adds the devices of a platform between two numbers.
    private func addDevices(
        from start: DeviceNumber, before end: DeviceNumber, on platform: HubPlatform, to devices: inout [AudienceDevice],
        limit: Int, rows: inout RegistrationRows
    ) throws(RefusedCall) {
        // All numbers of a platform's rows are below the first of the next platform.
        let set = try set(before: DeviceRows.id(of: platform, number: 0) + end)
        var place = Posting(device: DeviceRows.id(of: platform, number: start), sequence: 0)
        var (device, registrations): (Int64, [Registration]) = (-1, [])
        while let found = try set.first(from: place) {
            if found.device != device {
                if !registrations.isEmpty {
                    devices.append(AudienceDevice(place: try DeviceRows.place(of: device), registrations: registrations))
                    if devices.count == limit { return }
                }
                (device, registrations) = (found.device, [])
            }
            place = found.next
            guard found.hasTemplate == (audience.platform == nil) else { continue }
            let stored = try rows.registration(at: found.sequence, notExpiredAt: audience.now)
            if let stored { registrations.append(stored.registration) }
        }
        guard !registrations.isEmpty else { return }
        devices.append(AudienceDevice(place: try DeviceRows.place(of: device), registrations: registrations))
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
        return sets.isEmpty ? .complement(PostingUnion(of: complements)) : .set(PostingIntersection(of: sets, without: complements))
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
