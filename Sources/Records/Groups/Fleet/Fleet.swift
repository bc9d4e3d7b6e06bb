import PushModel

/// The last reports of the workers of a fleet. Pure: it reads no clock. Times are milliseconds of one clock that never jumps.
///
/// A report that was there before the reader has the age that its record's time says, on the clock of whoever gave it that time. The
/// newest of those times, and of the reader's own wall clock, is taken for the present there, so no machine's clock has to be right.
package struct Fleet: Sendable {
    /// A worker that reported itself.
    package struct Member: Sendable {
        /// The worker's name.
        package let id: String
        /// Its report.
        package let page: WorkerPage
        /// The report as it came.
        package let raw: [UInt8]
        /// The milliseconds since it was heard.
        package let age: Int64

        /// True if it has missed so many reports that it may be gone.
        package var isStale: Bool { age > Fleet.staleAge }
    }

    /// The time of a report.
    private enum Origin {
        /// The time at which it was heard.
        case heard(Int64)
        /// The time of its record, milliseconds since 1970.
        case written(Int64)
    }

    private struct Report {
        let value: [UInt8]
        let origin: Origin
    }

    /// The age from which a report says nothing of the present, milliseconds. Workers report once a second.
    package static let staleAge: Int64 = 10_000
    /// The age at which a worker is forgotten, milliseconds.
    package static let forgottenAge: Int64 = 60_000
    /// The most workers that are kept, as many as the most partitions that pushfan is measured with.
    package static let capacity = 400
    private static let largestKey = 512
    /// The most bytes of a report, twice what workers write. With ``capacity`` that is 3.2 MB.
    private static let largestValue = 8192
    /// The least time between two searches for workers to forget, milliseconds.
    private static let sweepInterval: Int64 = 1000

    private var reports: [[UInt8]: Report] = [:]
    /// The latest time that records or the wall clock have shown, and when that was.
    private var present: (wall: Int64, at: Int64)?
    private var nextSweep = Int64.min
    /// The records that were passed over: without a key, too large, or of a new worker without a place.
    package private(set) var ignoredCount = 0

    /// A fleet of which nothing was heard.
    package init() {}

    /// Takes a record that has just been written. A tombstone takes its worker away. A record without a key, or of a size that no worker
    /// writes, is counted and passed over. Beyond ``capacity`` a new worker takes the place of those that are stale, the forgotten ones first,
    /// and none of a worker that is heard.
    package mutating func take(key: [UInt8]?, value: [UInt8]?, heardAt: Int64) {
        keep(value, under: key, from: .heard(heardAt), at: heardAt)
    }

    /// Takes a record that was there before, oldest first.
    ///
    /// - Parameters:
    ///   - key: The worker's name.
    ///   - value: Its report, or nil for a tombstone.
    ///   - writtenAt: The record's time, milliseconds since 1970. One without a time counts as written just now.
    ///   - wall: The reader's wall clock, milliseconds since 1970.
    ///   - readAt: The same time on the clock that never jumps.
    package mutating func take(key: [UInt8]?, value: [UInt8]?, writtenAt: Int64?, wall: Int64, readAt: Int64) {
        guard let writtenAt else { return take(key: key, value: value, heardAt: readAt) }
        let written = max(0, writtenAt)
        let latest = max(wall, written)
        if present.map({ latest > wallTime($0, at: readAt) }) ?? true { present = (latest, readAt) }
        keep(value, under: key, from: .written(written), at: readAt)
    }

    /// The workers by their names, each with what it last reported. Those that were not heard for a minute are forgotten.
    package func members(at now: Int64) -> [Member] {
        reports.compactMap { key, report -> Member? in
            let age = age(of: report, at: now)
            guard age < Self.forgottenAge, let id = String(validating: key, as: UTF8.self), let page = WorkerPage(report.value)
            else { return nil }
            return Member(id: id, page: page, raw: report.value, age: age)
        }.sorted { $0.id < $1.id }
    }

    /// The sentence for who cancels requests while workers do not see it, or nil where all that report themselves do.
    ///
    /// - Parameters:
    ///   - topic: The control topic.
    ///   - now: The present moment.
    /// - Returns: The sentence.
    package func cancellationNote(topic: String, at now: Int64) -> String? {
        let workers = members(at: now).filter { !$0.isStale }
        let blind = workers.filter { $0.page.loops.contains { !$0.heedsCancellations } }
        guard !blind.isEmpty else { return nil }
        let who = blind.count == workers.count ? "no worker reads" : "\(blind.count) of \(workers.count) workers do not read"
        return "\(who) \(topic) at present, and cancelled requests may be sent until that is so: `pushfan status` says why"
    }

    private mutating func keep(_ value: [UInt8]?, under key: [UInt8]?, from origin: Origin, at now: Int64) {
        guard let key, !key.isEmpty, key.count <= Self.largestKey else { return ignoredCount = ignoredCount.addingSaturated(1) }
        guard let value else {
            reports[key] = nil
            return
        }
        guard value.count <= Self.largestValue, hasRoom(for: key, at: now) else {
            return ignoredCount = ignoredCount.addingSaturated(1)
        }
        reports[key] = Report(value: value, origin: origin)
    }

    private mutating func hasRoom(for key: [UInt8], at now: Int64) -> Bool {
        if reports.count < Self.capacity || reports[key] != nil { return true }
        guard now >= nextSweep else { return false }
        nextSweep = now.addingSaturated(Self.sweepInterval)
        for limit in [Self.forgottenAge - 1, Self.staleAge] where reports.count >= Self.capacity {
            reports = reports.filter { age(of: $0.value, at: now) <= limit }
        }
        return reports.count < Self.capacity
    }

    private func age(of report: Report, at now: Int64) -> Int64 {
        switch report.origin {
        case .heard(let time): max(0, now - time)
        case .written(let time): max(0, (present.map { wallTime($0, at: now) } ?? time) - time)
        }
    }

    private func wallTime(_ present: (wall: Int64, at: Int64), at now: Int64) -> Int64 {
        present.wall.addingSaturated(max(0, now - present.at))
    }
}
