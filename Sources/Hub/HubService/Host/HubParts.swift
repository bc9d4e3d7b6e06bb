import Dispatch
package import HubServer
package import HubStore

/// What a hub of the host is made of: the store behind its protocol.
package struct HubParts: Sendable {
    /// Opens the store of a hub, with a clock in milliseconds since 1970.
    package typealias Opening =
        @Sendable (HubsConfiguration.Hub, @escaping @Sendable () -> Int64) throws(HubHostError) -> HubParts

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
        close: @escaping @Sendable () -> Void = {}
    ) {
        (self.devices, self.journal, self.jobs, self.counts) = (devices, journal, jobs, counts)
        (self.value, self.setValue, self.problem) = (value, setValue, problem)
        (self.byteCount, self.close) = (byteCount, close)
    }

    /// Opens the file of a hub.
    ///
    /// - Parameters:
    ///   - hub: The hub.
    ///   - clock: The time, in milliseconds since 1970.
    /// - Returns: The parts, which have the file to themselves.
    /// - Throws: Why it cannot be used.
    @Sendable package static func open(
        _ hub: HubsConfiguration.Hub, clock: @escaping @Sendable () -> Int64
    ) throws(HubHostError) -> HubParts {
        let key: [UInt8]? = if let path = hub.handleKeyFile { try HubHostError.read(HandleKeyFile.self, path).key } else { nil }
        let file: HubFile
        do throws(HubFileError) { file = try HubFile(HubFileTerms(path: hub.state, handleKey: key)) } catch {
            throw .unusableHub(name: hub.name, reason: "\(error)")
        }
        let (devices, jobs) = (FileDevices(file), FileJobs(file, clock: clock))
        return HubParts(
            devices: devices, journal: FileJournal(file), jobs: jobs,
            counts: { () throws(RefusedCall) in try devices.counts() },
            value: { (name) throws(RefusedCall) in try file.value(name) },
            setValue: { (name, bytes) throws(RefusedCall) in try file.setValue(name, to: bytes) },
            problem: { file.problem }, byteCount: { file.byteCount },
            close: {
                jobs.close(until: .now() + patience)
                file.close()
            })
    }
}
