/// The newest jobs of a hub, and the blobs that they read and write.
struct JobStore: Sendable {
    /// Jobs, and blobs, that are kept. The oldest are forgotten first.
    private static let capacity = 1000
    /// Bytes of the blobs together. The newest is kept, whatever its size.
    private static let blobCapacity = 256 << 20

    /// In the order of their submission.
    private(set) var jobs: [HubJob] = []
    /// By path: container and name.
    private(set) var blobs: [String: [UInt8]] = [:]
    private var order: [String] = []
    private var blobByteCount = 0

    mutating func append(_ job: HubJob) {
        jobs.append(job)
        if jobs.count > Self.capacity { jobs.removeFirst() }
    }

    /// Writes a blob, in place of the one at its path.
    mutating func put(_ path: String, bytes: [UInt8]) {
        remove(path)
        blobs[path] = bytes
        order.append(path)
        blobByteCount += bytes.count
        while order.count > Self.capacity || blobByteCount > Self.blobCapacity && order.count > 1 { remove(order[0]) }
    }

    mutating func remove(_ path: String) {
        guard let bytes = blobs.removeValue(forKey: path) else { return }
        blobByteCount -= bytes.count
        order.removeAll { $0 == path }
    }
}
