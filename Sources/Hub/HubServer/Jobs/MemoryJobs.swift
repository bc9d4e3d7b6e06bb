import Basics
import HTTPServing
import Synchronization

/// The newest jobs of a hub, and files, in memory.
package final class MemoryJobs: JobStore {
    private struct State: Sendable {
        var jobs: [HubJob] = []
        var files: [String: [UInt8]] = [:]
        var order: [String] = []
        var byteCount = 0

        mutating func remove(_ path: String) {
            guard let bytes = files.removeValue(forKey: path) else { return }
            byteCount -= bytes.count
            order.removeAll { $0 == path }
        }
    }

    /// Jobs, and files, that are kept. The oldest are forgotten first.
    private static let capacity = 1000
    /// Bytes of the files together. The newest is kept, whatever its size.
    private static let byteCapacity = 256 << 20
    /// The beginning of the paths of the storage account.
    package static let storagePath = "/storage/"

    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())

    /// A store without jobs.
    package init() {}

    package func keep(_ job: HubJob) {
        state.withLock { state in
            if let position = state.jobs.firstIndex(where: { $0.id == job.id }) { return state.jobs[position] = job }
            state.jobs.append(job)
            if state.jobs.count > Self.capacity { state.jobs.removeFirst() }
        }
    }

    package func job(_ id: String) -> HubJob? { state.withLock { $0.jobs.first { $0.id == id } } }

    package func jobs() -> [HubJob] { state.withLock { $0.jobs } }

    package func path(of uri: String, host: String?) -> String? {
        guard let start = uri.firstRange(of: "://")?.upperBound, let host else { return nil }
        let rest = uri[start...].prefix { $0 != "?" && $0 != "#" }
        guard String(rest.prefix(host.count)).equalsIgnoringCase(host) else { return nil }
        let path = PercentEncoding.decoded(String(rest.dropFirst(host.count)))
        guard path.hasPrefix(Self.storagePath) else { return nil }
        let name = path.dropFirst(Self.storagePath.count)
        return name.last == "/" ? String(name.dropLast()) : String(name)
    }

    package func file(_ path: String) -> [UInt8]? { state.withLock { $0.files[path] } }

    package func put(_ path: String, bytes: [UInt8]) {
        state.withLock { state in
            state.remove(path)
            state.files[path] = bytes
            state.order.append(path)
            state.byteCount += bytes.count
            while state.order.count > Self.capacity || state.byteCount > Self.byteCapacity && state.order.count > 1 {
                state.remove(state.order[0])
            }
        }
    }

    package func removeFile(_ path: String) { state.withLock { $0.remove(path) } }

    package func run(_ work: @escaping @Sendable () -> Void) { work() }
}
