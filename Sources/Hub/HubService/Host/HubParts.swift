import Dispatch
import EventLoop
import Glibc
package import HubServer
package import HubStore
package import Observability

/// The store of a hub of the host, in its parts.
package struct HubParts: Sendable {
    /// Opens the store of a hub, with metrics and a clock in milliseconds since 1970.
    package typealias Opening =
        @Sendable (HubsConfiguration.Hub, HubMetrics, @escaping @Sendable () -> Int64) throws(HubHostError) -> HubParts

    package let devices: any DeviceStore
    package let journal: any MessageJournal
    package let jobs: any JobStore
    /// The numbers of what is there.
    package let counts: @Sendable () throws(RefusedCall) -> DeviceCounts
    /// A value that the hub keeps for itself.
    package let value: @Sendable (_ name: String) throws(RefusedCall) -> [UInt8]?
    package let setValue: @Sendable (_ name: String, _ bytes: [UInt8]) throws(RefusedCall) -> Void
    /// The reason for which nothing can be written, or nil.
    package let problem: @Sendable () -> String?
    /// The bytes of the store.
    package let byteCount: @Sendable () -> Int64
    /// The free part of the file system that the store is on, 0 to 1, or nil.
    package let freeRatio: @Sendable () -> Double?
    /// Ends the work of jobs and lets go of the store.
    package let close: @Sendable () -> Void

    /// The longest wait for a job to end at its next portion.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// The parts of a hub, whatever they are.
    package init(
        devices: any DeviceStore, journal: any MessageJournal, jobs: any JobStore,
        counts: @escaping @Sendable () throws(RefusedCall) -> DeviceCounts,
        value: @escaping @Sendable (String) throws(RefusedCall) -> [UInt8]?,
        setValue: @escaping @Sendable (String, [UInt8]) throws(RefusedCall) -> Void,
        problem: @escaping @Sendable () -> String? = { nil }, byteCount: @escaping @Sendable () -> Int64 = { 0 },
        freeRatio: @escaping @Sendable () -> Double? = { nil }, close: @escaping @Sendable () -> Void = {}
    ) {
        (self.devices, self.journal, self.jobs, self.counts) = (devices, journal, jobs, counts)
        (self.value, self.setValue, self.problem) = (value, setValue, problem)
        (self.byteCount, self.freeRatio, self.close) = (byteCount, freeRatio, close)
    }

    /// Opens the file of a hub.
    ///
    /// - Parameters:
    ///   - hub: The hub.
    ///   - metrics: Get what the file does.
    ///   - clock: The time, in milliseconds since 1970.
    /// - Returns: The parts, which have the file to themselves.
    /// - Throws: Why it cannot be used.
    @Sendable package static func open(
        _ hub: HubsConfiguration.Hub, metrics: HubMetrics, clock: @escaping @Sendable () -> Int64
    ) throws(HubHostError) -> HubParts {
        var key: [UInt8]?
        if let path = hub.handleKeyFile {
            do throws(FileError<HandleKeyFile.Reason>) { key = try FileStore<HandleKeyFile>(path).read().key } catch {
                // The path is not shown: a key may stand in its place.
                throw .unusableHub(name: hub.name, reason: "the file of the key of its handles \(error)")
            }
        }
        let file: HubFile
        var terms = HubFileTerms(path: hub.state, handleKey: key)
        let (changes, batches) = (metrics.changes.series([hub.name]), metrics.batches.series([hub.name]))
        let durations = metrics.commitDuration.series([hub.name])
        terms.observe = { count, duration in
            changes.increment(by: UInt64(clamping: count))
            batches.increment()
            durations.observe(duration)
        }
        do throws(HubFileError) { file = try HubFile(terms) } catch {
            if case .disk = error { throw .failingDisk(name: hub.name, reason: "\(error)") }
            throw .unusableHub(name: hub.name, reason: "\(error)")
        }
        let (devices, jobs) = (FileDevices(file), FileJobs(file, clock: clock))
        return HubParts(
            devices: devices, journal: FileJournal(file), jobs: jobs,
            counts: { () throws(RefusedCall) in try devices.counts() },
            value: { (name) throws(RefusedCall) in try file.value(name) },
            setValue: { (name, bytes) throws(RefusedCall) in try file.setValue(name, to: bytes) },
            problem: { file.problem }, byteCount: { file.byteCount }, freeRatio: { freeRatio(at: file.path) },
            close: {
                jobs.close(until: .now() + patience)
                file.close()
            })
    }

    private static func freeRatio(at path: String) -> Double? {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0, facts.f_blocks > 0 else { return nil }
        return Double(facts.f_bavail) / Double(facts.f_blocks)
    }
}
