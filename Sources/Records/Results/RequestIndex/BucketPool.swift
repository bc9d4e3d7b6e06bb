import EventLoop
import Synchronization

/// Files of hours that are open for questions. To open one takes as long as most questions to it.
///
/// A question takes a file out, and puts it back. So each is used by one thread at a time.
final class BucketPool: Sendable {
    /// A file that is open.
    ///
    /// `@unchecked Sendable`: it is either in the pool, where no thread uses it, or with the one thread that has taken it out. The pool's lock
    /// is between the two.
    private struct Entry: @unchecked Sendable {
        let file: HourFile
        let bucket: RequestBucket
    }

    /// The most files that stay open: those of eight days, but no more than a sixteenth of what the process may open.
    private let limit: Int
    private let entries = Mutex<[Entry]>([])

    init() { limit = min(192, (DescriptorLimit.current()?.soft ?? 0) / 16) }

    /// Takes a file out, or returns nil where it is not open.
    func take(_ file: HourFile) -> RequestBucket? {
        entries.withLock { entries -> Entry? in
            entries.firstIndex { $0.file == file }.map { entries.remove(at: $0) }
        }?.bucket
    }

    /// Puts a file back. Beyond the limit that of the oldest hour is closed.
    func put(_ bucket: RequestBucket, of file: HourFile) {
        bucket.interrupt { false }
        bucket.forgetPacks()
        let entry = Entry(file: file, bucket: bucket)
        let closed = entries.withLock { entries -> Entry? in
            entries.append(entry)
            guard entries.count > limit else { return nil }
            return entries.indices.min { entries[$0].file.hour < entries[$1].file.hour }.map { entries.remove(at: $0) }
        }
        _ = closed
    }

    /// Closes the files that are none of these.
    func keep(_ files: [HourFile]) {
        let known = Set(files)
        let closed = entries.withLock { entries -> [Entry] in
            let closed = entries.filter { !known.contains($0.file) }
            entries.removeAll { !known.contains($0.file) }
            return closed
        }
        _ = closed
    }
}
