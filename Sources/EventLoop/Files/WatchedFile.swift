public import Basics
import Synchronization

/// A report to the operator of a service that watches a file.
public enum FileReport<Fault: Error & Sendable & Equatable & CustomStringConvertible>: Sendable, Equatable {
    /// The file was read again.
    case read(count: Int)
    /// The known content stays as it was, for this reason. Reported once, until the file is right or the reason another.
    case kept(because: FileError<Fault>)
}

/// The content of a file, read again when the file changes.
///
/// A faulty or missing file leaves the known content as it is until it is right again. Any thread may call. One at a time checks
/// the file, and the others go on with the known content.
public final class WatchedFile<Content: FileContent, Known: Sendable>: Sendable {
    /// The reason for which the file cannot be used.
    public typealias Failure = FileError<Content.Fault>
    /// Makes the known value of a file's content and a number, which counts how often the file was read well.
    public typealias Making = @Sendable (Content, _ generation: Int) throws(Failure) -> Known

    /// The shortest time between two checks of the file.
    public static var interval: Duration { .seconds(2) }

    private struct Watch {
        var seen: FoundFile.Identity?
        var next: MonotonicTime
        var reported: Failure?
        var generation = 1
    }

    private let path: String
    private let make: Making
    private let report: @Sendable (FileReport<Content.Fault>) -> Void
    /// Held while the file is checked. `known` is taken while it is held, never the other way round.
    private let watch: Mutex<Watch>
    private let known: Mutex<Known>

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The present moment.
    ///   - make: Makes the known value.
    ///   - report: Gets the reports of later readings, on the calling thread.
    /// - Throws: The file is missing or not right.
    public init(
        _ path: String, now: MonotonicTime, make: @escaping Making,
        report: @escaping @Sendable (FileReport<Content.Fault>) -> Void
    ) throws(Failure) {
        self.path = path
        self.make = make
        self.report = report
        let found = try Content.find(path)
        let first = try make(try Content(found), 1)
        watch = Mutex(Watch(seen: found.identity, next: now.advanced(by: Self.interval), reported: nil))
        known = Mutex(first)
    }

    /// The content that counts now.
    ///
    /// - Parameter now: The present moment. The file is checked when 2 s have passed since the last check.
    /// - Returns: The same as before while nothing has changed.
    public func current(now: MonotonicTime) -> Known {
        let found = watch.withLockIfAvailable { watch -> FileReport<Content.Fault>? in
            guard now >= watch.next else { return nil }
            watch.next = now.advanced(by: Self.interval)
            return check(&watch)
        }
        if let found = found ?? nil { report(found) }
        return known.withLock { $0 }
    }

    /// Checks the file. Returns the report, if any.
    private func check(_ watch: inout Watch) -> FileReport<Content.Fault>? {
        do throws(Failure) {
            let found = try Content.find(path)
            guard found.identity != watch.seen else { return nil }
            // Also where it is not right: it is read again when it has changed, not every 2 s.
            watch.seen = found.identity
            let content = try Content(found)
            let next = try make(content, watch.generation + 1)
            watch.generation += 1
            known.withLock { $0 = next }
            watch.reported = nil
            return .read(count: content.count)
        } catch {
            switch error {
            case .fault: break
            default: watch.seen = nil
            }
            guard watch.reported != error else { return nil }
            watch.reported = error
            return .kept(because: error)
        }
    }
}
