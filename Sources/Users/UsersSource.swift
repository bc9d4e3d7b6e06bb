public import Basics
public import Crypto
import Synchronization

/// The users at one moment, and the check of a password against them.
public struct KnownUsers: Sendable {
    /// Counts how often the file was read well. A later one stands for users that may differ.
    public let generation: Int
    /// The users themselves.
    public let file: UsersFile
    /// The hash that the password of an unknown user is checked against.
    private let nobody: PasswordHash

    /// Makes a check of a file's users.
    ///
    /// - Parameters:
    ///   - file: The users.
    ///   - generation: See `generation`. Default 1.
    /// - Throws: `CryptoError.openSSL` when there is no entropy.
    public init(_ file: UsersFile, generation: Int = 1) throws(CryptoError) {
        self.file = file
        self.generation = generation
        nobody = try PasswordHash(matchingNothing: file.users.first?.hash.parameters ?? .standard)
    }

    /// The cost of finding out that no user has a name: as much as the password of the file's first user.
    var costOfNobody: PasswordHash.Parameters { nobody.parameters }

    /// Checks name and password. It takes a processor for some 50 ms, also for a name that no user has.
    ///
    /// - Parameter credentials: What a client sent.
    /// - Returns: The name as the file has it; nil when name or password is wrong.
    /// - Throws: `CryptoError.openSSL` when there is no memory for it.
    public func name(for credentials: BasicCredentials) throws(CryptoError) -> String? {
        let user = file.user(named: credentials.name)
        return try (user?.hash ?? nobody).matches(credentials.password) ? user?.name : nil
    }
}

/// The users of a file, read again when the file changes.
///
/// A file that is not right, or is gone, leaves the users as they are until it is right again. Any thread may ask; one at a time
/// looks at the file, and the others go on with what is known.
public final class UsersSource: Sendable {
    /// The matters to report to the gateway's operator.
    public enum Report: Sendable, Equatable {
        /// The file was read again.
        case read(userCount: Int)
        /// The users stay as they were, and for this reason. Said once, until the file is right or the reason another.
        case kept(because: UsersError)
    }

    /// The shortest time between two looks at the file.
    public static let interval: Duration = .seconds(2)

    private struct Watch {
        var seen: FoundUsers.Identity?
        var next: MonotonicTime
        var told: UsersError?
    }

    private let path: String
    private let tell: @Sendable (Report) -> Void
    /// Held while the file is looked at. `known` is taken while it is held, never the other way round.
    private let watch: Mutex<Watch>
    private let known: Mutex<KnownUsers>

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - now: The present moment.
    ///   - tell: Gets what later readings came to, on the thread that asked.
    /// - Throws: The file is missing or not right.
    public init(_ path: String, now: MonotonicTime, tell: @escaping @Sendable (Report) -> Void) throws(UsersError) {
        self.path = path
        self.tell = tell
        let found = try FoundUsers(path)
        let first = try Self.make(try found.users(), generation: 1)
        watch = Mutex(Watch(seen: found.identity, next: now.advanced(by: Self.interval), told: nil))
        known = Mutex(first)
    }

    /// The users that count now.
    ///
    /// - Parameter now: The present moment; the file is looked at when 2 s have passed since it was last looked at.
    /// - Returns: The users; the same as before while nothing has changed.
    public func users(now: MonotonicTime) -> KnownUsers {
        let report = watch.withLockIfAvailable { watch -> Report? in
            guard now >= watch.next else { return nil }
            watch.next = now.advanced(by: Self.interval)
            return look(&watch)
        }
        if let report = report ?? nil { tell(report) }
        return known.withLock { $0 }
    }

    /// Looks at the file, and returns what there is to report.
    private func look(_ watch: inout Watch) -> Report? {
        do throws(UsersError) {
            let found = try FoundUsers(path)
            guard found.identity != watch.seen else { return nil }
            // Also where it is not right: it is read again when it has changed, not every 2 s.
            watch.seen = found.identity
            let file = try found.users()
            let next = try Self.make(file, generation: known.withLock { $0.generation } + 1)
            known.withLock { $0 = next }
            watch.told = nil
            return .read(userCount: file.users.count)
        } catch {
            switch error {
            case .fault: break
            default: watch.seen = nil
            }
            guard watch.told != error else { return nil }
            watch.told = error
            return .kept(because: error)
        }
    }

    private static func make(_ file: UsersFile, generation: Int) throws(UsersError) -> KnownUsers {
        do throws(CryptoError) {
            return try KnownUsers(file, generation: generation)
        } catch {
            throw UsersError.unreadable(reason: error.description)
        }
    }
}
