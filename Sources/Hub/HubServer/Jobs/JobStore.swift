import Basics
import HTTPServing

/// The bulk jobs of a hub, and the storage account in which they find their files.
///
/// Any thread may call. A store that cannot answer refuses with 503.
package protocol JobStore: Sendable {
    /// Bytes of a file in one answer. Clients ask for more in ranges.
    var answerByteCount: Int { get }

    /// Keeps a job, in place of the one with the same id.
    func keep(_ job: HubJob) throws(RefusedCall)

    /// The job called `id`.
    func job(_ id: String) throws(RefusedCall) -> HubJob?

    /// The newest jobs, in the order of their submission.
    func jobs() throws(RefusedCall) -> [HubJob]

    /// The file at a path, or nil if there is none.
    func file(_ path: String) throws(RefusedCall) -> (any JobFile)?

    /// Begins a file that is written in pieces. It takes the place of the one at its path once it is finished.
    func draft(_ path: String) throws(RefusedCall) -> any JobFileDraft

    /// Removes a file, if there is one.
    func removeFile(_ path: String) throws(RefusedCall)

    /// Keeps a job, and carries its work out, now or later, on this thread or another. Returns false if too many wait.
    func submit(_ job: HubJob, work: @escaping @Sendable () -> Void) throws(RefusedCall) -> Bool

    /// Throws once the work of jobs must end. Work asks between its parts.
    func checkRunning() throws(RefusedCall)

    /// Waits before something that was refused with 503 is tried again. Throws once the work of jobs must end.
    func waitToRetry() throws(RefusedCall)
}

/// A file of the storage account, which can be read whatever happens to its name meanwhile.
package protocol JobFile: Sendable {
    /// Its length.
    var byteCount: Int { get }

    /// The bytes from a place on, at most `count`. Fewer are the last.
    func bytes(from place: Int, count: Int) throws(RefusedCall) -> [UInt8]
}

/// A file that is written in pieces by one thread at a time. Dropped before it is finished, it leaves nothing behind.
package protocol JobFileDraft: AnyObject {
    /// Adds bytes at the end.
    func append(_ bytes: [UInt8]) throws(RefusedCall)

    /// Gives the file its name. It may be called again after it was refused.
    func finish() throws(RefusedCall)
}

/// The storage account as clients address it.
package enum JobStorage {
    /// The beginning of the paths.
    package static let path = "/storage/"
    /// The path in the storage account that a URI names, or nil if it is elsewhere. `host` is what the client calls the hub.
    package static func path(of uri: String, host: String?) -> String? {
        guard let start = uri.firstRange(of: "://")?.upperBound, let host else { return nil }
        let rest = uri[start...].prefix { $0 != "?" && $0 != "#" }
        guard String(rest.prefix(host.count)).equalsIgnoringCase(host) else { return nil }
        let path = PercentEncoding.decoded(String(rest.dropFirst(host.count)))
        guard path.hasPrefix(Self.path) else { return nil }
        let name = path.dropFirst(Self.path.count)
        return name.last == "/" ? String(name.dropLast()) : String(name)
    }
}
