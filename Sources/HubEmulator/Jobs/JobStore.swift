/// The newest jobs of a hub, and the blobs that they read and write.
struct JobStore: Sendable {
    /// Jobs, and blobs, that are kept. The oldest are forgotten first.
    private static let capacity = 1000

    /// In the order of their submission.
    private(set) var jobs: [HubJob] = []
    /// By path: container and name.
    private(set) var blobs: [String: [UInt8]] = [:]
    private var order: [String] = []

    mutating func append(_ job: HubJob) {
        jobs.append(job)
        if jobs.count > Self.capacity { jobs.removeFirst() }
    }

    /// Writes a blob, in place of the one at its path.
    mutating func put(_ path: String, bytes: [UInt8]) {
        remove(path)
        blobs[path] = bytes
        order.append(path)
        if order.count > Self.capacity { remove(order[0]) }
    }

    mutating func remove(_ path: String) {
        guard blobs.removeValue(forKey: path) != nil else { return }
        order.removeAll { $0 == path }
    }
}
