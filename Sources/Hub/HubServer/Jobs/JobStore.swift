/// The bulk jobs of a hub, and the storage account in which they find their files.
///
/// Any thread may call. A store that cannot answer refuses with 503.
package protocol JobStore: Sendable {
    /// Keeps a job, in place of the one with the same id.
    func keep(_ job: HubJob) throws(RefusedCall)

    /// The job called `id`.
    func job(_ id: String) throws(RefusedCall) -> HubJob?

    /// The newest jobs, in the order of their submission.
    func jobs() throws(RefusedCall) -> [HubJob]

    /// The path in the storage account that a URI names, or nil if it is elsewhere. `host` is what the client calls the hub.
    func path(of uri: String, host: String?) -> String?

    /// The content of a file, or nil if there is none.
    func file(_ path: String) throws(RefusedCall) -> [UInt8]?

    /// Writes a file, in place of the one at its path.
    func put(_ path: String, bytes: [UInt8]) throws(RefusedCall)

    /// Removes a file, if there is one.
    func removeFile(_ path: String) throws(RefusedCall)

    /// Carries out the work of a job, now or later, on this thread or another.
    func run(_ work: @escaping @Sendable () -> Void)
}
