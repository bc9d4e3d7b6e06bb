public import Basics
public import EventLoop
import Synchronization

/// The file of receivers at one moment.
struct KnownReceivers: KnownContent {
    let file: ReceiversFile
    let generation: Int

    init(_ file: ReceiversFile, generation: Int) throws(FileError<ReceiversFault>) {
        (self.file, self.generation) = (file, generation)
    }
}

/// The receivers of a file, read again within 2 s when it changes, or a file of secrets that it names. Any thread may ask.
///
/// Where one of them is faulty, the receivers stay as they were until all are right again.
public final class WatchedReceivers: Sendable {
    /// The reason for which the file cannot be used.
    public typealias Failure = FileError<ReceiversFault>
    /// A report to the operator.
    public typealias Report = FileReport<ReceiversFault>

    private struct Watch {
        var set: ReceiverSet
        /// The file whose secrets were read last, with or without success.
        var tried: Int
        var looked: MonotonicTime
        var reported: ReceiversFault?
    }

    private let file: WatchedFile<KnownReceivers>
    private let watch: Mutex<Watch>
    private let report: @Sendable (Report) -> Void

    /// Reads the file, and those of the secrets, for the first time.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The present moment.
    ///   - report: Gets the reports of later readings, on the calling thread.
    /// - Throws: A file is missing or not right.
    public init(
        _ path: String, now: MonotonicTime = .now(), report: @escaping @Sendable (Report) -> Void
    ) throws(Failure) {
        file = try WatchedFile(path, now: now, report: report)
        let known = file.current(now: now)
        let set: ReceiverSet
        do throws(ReceiversFault) { set = try known.file.receivers() } catch { throw .fault(error) }
        watch = Mutex(Watch(set: set, tried: known.generation, looked: now))
        self.report = report
    }

    /// The receivers that count now.
    public var current: ReceiverSet { current(now: .now()) }

    /// The receivers that count at a moment.
    ///
    /// - Parameter now: The present moment. Files are looked at when 2 s have passed since the last look.
    /// - Returns: The same as before while nothing has changed.
    public func current(now: MonotonicTime) -> ReceiverSet {
        let known = file.current(now: now)
        let (set, found) = watch.withLock { watch -> (ReceiverSet, Report?) in
            let isDue = known.file.namesFiles && now >= watch.looked.advanced(by: WatchedFile<KnownReceivers>.interval)
            guard isDue || known.generation != watch.tried else { return (watch.set, nil) }
            watch.looked = now
            let found = Self.read(known, into: &watch)
            return (watch.set, found)
        }
        if let found { report(found) }
        return set
    }

    /// Reads the secrets again. Returns the report, if any.
    private static func read(_ known: KnownReceivers, into watch: inout Watch) -> Report? {
        let isNewFile = known.generation != watch.tried
        watch.tried = known.generation
        do throws(ReceiversFault) {
            let set = try known.file.receivers()
            // A new file was reported when it was read.
            let isNews = set != watch.set && !isNewFile || watch.reported != nil
            (watch.set, watch.reported) = (set, nil)
            return isNews ? .read(count: set.receivers.count) : nil
        } catch {
            guard watch.reported != error else { return nil }
            watch.reported = error
            return .kept(because: .fault(error))
        }
    }
}
