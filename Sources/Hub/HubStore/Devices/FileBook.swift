package import HubServer

/// The devices of a hub's file within one reading or change.
package final class FileBook: DeviceBook {
    private static let maximumPageSize = 1 << 20
    /// Rows whose numbers a check has in memory.
    private static let checkedCount = 1000

    private let connection: HubConnection
    private var devices: DeviceRows
    private var tags: TagRows
    private var registrations: RegistrationRows
    private var installations: InstallationRows
    /// The tally of a change, once it was read.
    private var tally: DeviceTally?

    /// The devices that a connection sees. In a change, ``finish()`` comes last.
    package init(_ connection: HubConnection) {
        self.connection = connection
        (devices, tags) = (DeviceRows(of: connection), TagRows(of: connection))
        (registrations, installations) = (RegistrationRows(of: connection), InstallationRows(of: connection))
    }

    /// Carries out `body` on the devices, within a change of the file.
    package static func change<Result>(
        on connection: HubConnection, by body: (FileBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        let book = FileBook(connection)
        let result = try body(book)
        try book.finish()
        return result
    }

    /// Ends a change: forgets devices and tags that no registration has any more, and keeps the counts.
    package func finish() throws(RefusedCall) {
        try tags.removeEmpty()
        let removedCount = try devices.removeEmpty()
        guard var tally else { return }
        tally.counts.devices -= removedCount
        try tally.save(to: connection)
        self.tally = nil
    }

    package func registration(_ id: String) throws(RefusedCall) -> Registration? {
        try registrations.registration(id)?.registration
    }

    package func write(_ registration: Registration) throws(RefusedCall) { _ = try put(registration) }

    package func removeRegistration(_ id: String) throws(RefusedCall) {
        if let stored = try registrations.registration(id) { try remove(stored) }
    }

    package func registrations(of device: DeviceKey) throws(RefusedCall) -> [Registration] {
        guard let id = try devices.id(of: device) else { return [] }
        var found: [Registration] = []
        for sequence in try registrations.sequences(of: id) { found.append(try registration(at: sequence)) }
        return found
    }

    package func registrationCount(of device: DeviceKey) throws(RefusedCall) -> Int {
        guard let id = try devices.id(of: device) else { return 0 }
        return try registrations.sequences(of: id).count
    }

    package func page(
        of list: RegistrationList, from cursor: Int, limit: Int
    ) throws(RefusedCall) -> (page: [Registration], next: Int?) {
        let (start, limit) = (Int64(cursor), min(max(limit, 0), Self.maximumPageSize))
        switch list {
        case .all:
            let sequences = try registrations.sequences(from: start, limit: limit + 1)
            return try page(at: sequences, limit: limit) { _ in true }
        case .tagged(let tag):
            guard let id = try tags.id(of: Array(tag.utf8)) else { return ([], nil) }
            return try page(at: try tags.sequences(of: id, from: start, limit: limit + 1), limit: limit) { _ in true }
        case .filtered(let filter):
            var sequences: [Int64] = []
            for key in Set(filter.devices) {
                guard let id = try devices.id(of: key) else { continue }
                sequences += try registrations.sequences(of: id).filter { $0 >= start }
            }
            return try page(at: sequences.sorted(), limit: limit, where: filter.matches)
        }
    }

    package func installation(_ id: String) throws(RefusedCall) -> StoredInstallation? {
        guard let row = try installations.row(of: id) else { return nil }
        var channel: String?
        if let holder = row.channelHolder { channel = try registration(at: holder).handle }
        return try installations.installation(of: row, id: id, channel: channel)
    }

    package func installationIDs(behind id: String?, limit: Int) throws(RefusedCall) -> [String] {
        try installations.ids(behind: id ?? "", limit: limit)
    }

    package func expiredInstallationIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String] {
        try installations.expiredIDs(at: time, limit: limit)
    }

    package func expiredRegistrationIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String] {
        try registrations.expiredIDs(at: time, limit: limit)
    }

    package func write(_ installation: StoredInstallation, as registrations: [Registration]) throws(RefusedCall) {
        try removeInstallation(installation.id)
        var (sequences, holder): ([Int64], Int64?) = ([], nil)
        for registration in registrations {
            let sequence = try put(registration)
            sequences.append(sequence)
            if holder == nil, registration.handle.utf8.elementsEqual(installation.target.pushChannel.utf8) { holder = sequence }
        }
        try installations.add(installation, registrations: sequences, channelHolder: holder)
        try count { $0.counts.installations += 1 }
    }

    package func removeInstallation(_ id: String) throws(RefusedCall) {
        guard let row = try installations.row(of: id) else { return }
        // All is read before anything is removed.
        var former: [StoredRegistration] = []
        for sequence in row.registrations {
            if let stored = try registrations.registration(at: sequence) { former.append(stored) }
        }
        try installations.remove(id)
        try count { $0.counts.installations -= 1 }
        for stored in former { try remove(stored) }
    }

    package func markExpired(installation id: String) throws(RefusedCall) { try installations.markExpired(id) }

    package func end() throws(RefusedCall) -> DeviceNumber {
        if let tally { return tally.nextDevice }
        return try DeviceTally(from: connection).nextDevice
    }

    package func devices(
        of audience: DeviceAudience, after place: DevicePlace?, limit: Int
    ) throws(RefusedCall) -> AudiencePage {
        try tags.removeLeaving()
        return try AudienceSearch(for: audience, tags: &tags, on: connection)
            .devices(after: place, limit: limit, rows: &registrations)
    }

    /// The numbers of registrations and installations that cannot be read.
    package func countUnreadable() throws(RefusedCall) -> (registrations: Int, installations: Int) {
        var (count, installationCount) = (0, 0)
        var sequences = try registrations.sequences(from: .min, limit: Self.checkedCount)
        while let last = sequences.last {
            for sequence in sequences {
                do throws(RefusedCall) { _ = try registration(at: sequence) } catch { count += 1 }
                guard connection.failure == nil else { throw .unreadable }
            }
            sequences = last < .max ? try registrations.sequences(from: last + 1, limit: Self.checkedCount) : []
        }
        var ids = try installationIDs(behind: nil, limit: Self.checkedCount)
        while let last = ids.last {
            for id in ids {
                do throws(RefusedCall) { _ = try installation(id) } catch { installationCount += 1 }
                guard connection.failure == nil else { throw .unreadable }
            }
            ids = try installationIDs(behind: last, limit: Self.checkedCount)
        }
        return (count, installationCount)
    }

    /// The registration of a sequence number that was found.
    private func registration(at sequence: Int64) throws(RefusedCall) -> Registration {
        guard let stored = try registrations.registration(at: sequence) else { throw .unreadable }
        return stored.registration
    }

    /// A page of registrations in the order of their sequence numbers, and the number of the next one.
    private func page(
        at sequences: [Int64], limit: Int, where condition: (Registration) -> Bool
    ) throws(RefusedCall) -> (page: [Registration], next: Int?) {
        var page: [Registration] = []
        for sequence in sequences {
            let registration = try registration(at: sequence)
            guard condition(registration) else { continue }
            if page.count == limit { return (page, Int(sequence)) }
            page.append(registration)
        }
        return (page, nil)
    }

    /// Writes a registration in place of the one with the same id, and returns its new sequence number.
    private func put(_ registration: Registration) throws(RefusedCall) -> Int64 {
        if let former = try registrations.registration(registration.id) { try remove(former) }
        let (device, handle) = try device(of: registration)
        let hasTemplate = registration.template != nil
        let posting = try count { tally in
            defer { tally.nextSequence += 1 }
            tally.counts.registrations += 1
            return Posting(device: device, sequence: Posting.sequence(ofWrite: tally.nextSequence, hasTemplate: hasTemplate))
        }
        try registrations.add(registration, at: posting, deviceHandle: handle)
        var nextTag = try count { $0.nextTag }
        try tags.add(posting, to: registration.postedTags, numberedFrom: &nextTag)
        try count { $0.nextTag = nextTag }
        return posting.sequence
    }

    /// The row of a registration's device, which is added if it is new, and the handle in its spelling.
    private func device(of registration: Registration) throws(RefusedCall) -> (id: Int64, handle: String) {
        if let id = try devices.id(of: registration.deviceKey) { return (id, try devices.handle(of: id)) }
        let number = try count { tally in
            defer { tally.nextDevice += 1 }
            tally.counts.devices += 1
            return tally.nextDevice
        }
        return (try devices.add(registration, numbered: number), registration.handle)
    }

    /// Removes a registration. The channel that an installation has from it goes back there.
    private func remove(_ stored: StoredRegistration) throws(RefusedCall) {
        let (registration, posting) = (stored.registration, stored.posting)
        if let id = registration.installationID {
            try installations.keep(registration.handle, of: id, heldBy: posting.sequence)
        }
        try tags.remove(posting, from: stored.tags)
        try registrations.remove(at: posting.sequence)
        devices.touch(posting.device)
        try count { $0.counts.registrations -= 1 }
    }

    /// Reads or changes the tally, which is there from the first time on.
    @discardableResult
    private func count<Value>(_ body: (inout DeviceTally) -> Value) throws(RefusedCall) -> Value {
        var tally: DeviceTally
        if let begun = self.tally { tally = begun } else { tally = try DeviceTally(from: connection) }
        defer { self.tally = tally }
        return body(&tally)
    }
}
