public import Basics
import Synchronization

/// A report to the operator of a service that watches a file.
public enum FileReport<Fault: Error & Sendable & Equatable & CustomStringConvertible>: Sendable, Equatable {
    /// The file was read again.
    case read(count: Int)
    /// The known content stays as it was, for this reason. Reported once, until the file is right or the reason another.
    case kept(because: FileError<Fault>)
}

/// The known value of a file's content at one moment.
public protocol KnownContent: Sendable {
    /// The content of the file.
    associatedtype Content: FileContent

    /// Makes the value of a content.
    ///
    /// - Parameters:
    ///   - content: The content.
    ///   - generation: The number of successful reads of the file.
    /// - Throws: The system does not give what the value needs.
    init(_ content: Content, generation: Int) throws(FileError<Content.Fault>)
}

/// The content of a file, read again when the file changes.
///
/// A file that is faulty, missing, empty or cut off leaves the known content as it is until it is right again. Any thread may call. One at
/// a time checks the file, and the others go on with the known content.
public final class WatchedFile<Known: KnownContent>: Sendable {
    /// The content of the file.
    public typealias Content = Known.Content
    /// The reason for which the file cannot be used.
    public typealias Failure = FileError<Content.Fault>
    /// A report to the operator.
    public typealias Report = FileReport<Content.Fault>

    /// The shortest time between two checks of the file.
    public static var interval: Duration { .seconds(2) }
    /// The same for those whom the known content refuses. It bounds the cost of many whom the file does not know either.
    static var glanceInterval: Duration { .milliseconds(1) }

    private struct Watch {
        var taken: TakenFile<Content>
        var seen: FoundFile.Identity?
        var looked: MonotonicTime
        /// The time at which a file is read again that has not changed.
        var again = MonotonicTime.never
        var reported: Failure?
        var generation = 1
    }

    private let path: String
    private let report: @Sendable (Report) -> Void
    /// Held while the file is checked. `known` is taken while it is held, never the other way round.
    private let watch: Mutex<Watch>
    private let known: Mutex<Known>

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The present moment.
    ///   - report: Gets the reports of later readings, on the calling thread.
    /// - Throws: The file is missing or not right.
    public init(
        _ path: String, now: MonotonicTime, report: @escaping @Sendable (Report) -> Void
    ) throws(Failure) {
        self.path = path
        self.report = report
        let found = try Content.find(path)
        let bytes = try Content.bytes(of: found)
        let content = try Content(reading: bytes)
        let first = try Known(content, generation: 1)
        watch = Mutex(Watch(taken: TakenFile(content, from: bytes), seen: found.identity, looked: now))
        known = Mutex(first)
    }

    /// The content that counts now.
    ///
    /// - Parameter now: The present moment. The file is checked when 2 s have passed since the last check.
    /// - Returns: The same as before while nothing has changed.
    public func current(now: MonotonicTime) -> Known {
        let found = watch.withLockIfAvailable { watch -> Report? in
            now >= watch.looked.advanced(by: Self.interval) ? check(&watch, now: now) : nil
        }
        if let found = found ?? nil { report(found) }
        return known.withLock { $0 }
    }

    /// The content that the file has now, for those whom the known content refuses. It waits for another thread that reads the file.
    ///
    /// - Parameter now: The present moment. The file is checked when 1 ms has passed since the last check, and read if it has changed.
    /// - Returns: The same as before while nothing has changed.
    public func latest(now: MonotonicTime) -> Known {
        let found = watch.withLock { watch in
            now >= watch.looked.advanced(by: Self.glanceInterval) ? check(&watch, now: now) : nil
        }
        if let found { report(found) }
        return known.withLock { $0 }
    }

    /// Checks the file. Returns the report, if any.
    private func check(_ watch: inout Watch, now: MonotonicTime) -> Report? {
        watch.looked = now
        do throws(Failure) {
            let found = try Content.find(path)
            let isUnchanged = found.identity == watch.seen
            guard !isUnchanged || now >= watch.again else { return nil }
            // Also where it is not right: it is read again when it has changed, not every 2 s.
            watch.seen = found.identity
            watch.again = .never
            let bytes = try Content.bytes(of: found)
            let content = try Content(reading: bytes)
            switch watch.taken.verdict(on: content, from: bytes, isSettled: isUnchanged) {
            case .follows: break
            case .isCut: throw .cut
            case .mustSettle:
                watch.again = now.advanced(by: TakenFile<Content>.patience)
                throw .unsettled
            }
            let next = try Known(content, generation: watch.generation + 1)
            watch.generation += 1
            watch.taken = TakenFile(content, from: bytes)
            known.withLock { $0 = next }
            watch.reported = nil
            return .read(count: content.count)
        } catch {
            switch error {
            case .fault, .cut, .unsettled: break
            default: watch.seen = nil
            }
            guard watch.reported != error else { return nil }
            watch.reported = error
            return .kept(because: error)
        }
    }
}
