import Basics
import EventLoop
import Synchronization
import Tokens

/// The place of the keys, ready to be read.
struct TokenKeySource: Sendable {
    /// The reason for which no keys were read. Nothing of what was read is in it.
    struct Failure: Error, Equatable {
        let reason: String
    }

    private enum Place: Sendable {
        case file(WatchedFile<KnownKeySet>, FileState)
        case address(KeyDownload)
    }

    /// The reason for which a file does not count as it is now.
    private final class FileState: Sendable {
        let failure = Mutex<String?>(nil)
    }

    private let place: Place

    /// The place that settings name. A file is read at once. Throws where it cannot be read, or an address cannot be asked.
    init(_ configuration: TokenVerifier.Configuration, now: MonotonicTime) throws(TokenVerifier.Problem) {
        switch configuration.source {
        case .url(let url): place = .address(try KeyDownload(url, like: configuration))
        case .file(let path):
            let state = FileState()
            do throws(FileError<KeySetFault>) {
                let file = try WatchedFile<KnownKeySet>(path, now: now) { report in
                    switch report {
                    case .read: state.failure.withLock { $0 = nil }
                    case .kept(let reason): state.failure.withLock { $0 = "the file \(reason)" }
                    }
                }
                // A file that loses its keys later is another matter: they are withdrawn then.
                guard file.current(now: now).keys.count > 0 else { throw .fault(.noUsableKey) }
                place = .file(file, state)
            } catch {
                throw .file(path: path, reason: error.description)
            }
        }
    }

    /// The keys of the file, which are known from the beginning. Nil for an address.
    func keysOfFile(at now: MonotonicTime) -> VerifyingKeys? {
        guard case .file(let file, _) = place else { return nil }
        return file.current(now: now).keys
    }

    /// The time between two reads. A file costs nothing to look at.
    func interval(_ refresh: Duration) -> Duration {
        guard case .file = place else { return refresh }
        return WatchedFile<KnownKeySet>.interval
    }

    /// Reads the keys, on the calling thread.
    ///
    /// - Parameters:
    ///   - poller: Watches the connection.
    ///   - now: The present moment.
    ///   - isCancelled: Asked whenever the poller reports something.
    /// - Returns: The keys.
    /// - Throws: The reason for which there are none.
    func read(_ poller: Poller, now: MonotonicTime, isCancelled: () -> Bool) throws(Failure) -> VerifyingKeys {
        switch place {
        case .file(let file, let state):
            let keys = file.latest(now: now).keys
            if let failure = state.failure.withLock({ $0 }) { throw Failure(reason: failure) }
            return keys
        case .address(let download):
            return VerifyingKeys(try download.read(poller, isCancelled: isCancelled))
        }
    }
}
