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

    /// A file as it was when it was found.
    private struct File: JobFile {
        let content: [UInt8]

        var byteCount: Int { content.count }

        func bytes(from place: Int, count: Int) -> [UInt8] { Array(content.dropFirst(place).prefix(count)) }
    }

    private final class Draft: JobFileDraft {
        private let store: MemoryJobs
        private let path: String
        private var bytes: [UInt8] = []

        init(_ path: String, in store: MemoryJobs) { (self.path, self.store) = (path, store) }

        func append(_ bytes: [UInt8]) throws(RefusedCall) {
            guard self.bytes.count + bytes.count <= MemoryJobs.byteCapacity else {
                throw RefusedCall(413, detail: "The file is longer than \(MemoryJobs.byteCapacity) bytes")
            }
            self.bytes += bytes
        }

        func finish() { store.put(path, bytes: bytes) }
    }

    /// Jobs, and files, that are kept. The oldest are forgotten first.
    private static let capacity = 1000
    /// Bytes of the files together.
    private static let byteCapacity = 256 << 20

    /// No limit: the bytes are in memory as it is.
    package var answerByteCount: Int { .max }

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

    package func file(_ path: String) -> (any JobFile)? { state.withLock { $0.files[path] }.map { File(content: $0) } }

    package func draft(_ path: String) -> any JobFileDraft { Draft(path, in: self) }

    private func put(_ path: String, bytes: [UInt8]) {
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

    package func submit(_ job: HubJob, work: @escaping @Sendable () -> Void) -> Bool {
        keep(job)
        work()
        return true
    }

    package func checkRunning() {}

    package func waitToRetry() {}
}
