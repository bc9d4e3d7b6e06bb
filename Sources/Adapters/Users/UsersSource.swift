public import Basics
public import Crypto
public import EventLoop

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
/// A file that is not right, empty, cut off or gone leaves the users as they are until it is right again. Any thread may ask; one at a time
/// looks at the file, and the others go on with what is known.
public final class UsersSource: Sendable {
    /// A report to the gateway's operator.
    public typealias Report = FileReport<UsersFileError>

    private let file: WatchedFile<UsersFile, KnownUsers>

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - now: The present moment.
    ///   - report: Gets what later readings came to, on the thread that asked.
    /// - Throws: The file is missing or not right.
    public init(_ path: String, now: MonotonicTime, report: @escaping @Sendable (Report) -> Void) throws(UsersError) {
        file = try WatchedFile(path, now: now, make: Self.make, report: report)
    }

    /// The users that count now.
    ///
    /// - Parameter now: The present moment; the file is looked at when 2 s have passed since it was last looked at.
    /// - Returns: The users; the same as before while nothing has changed.
    public func users(now: MonotonicTime) -> KnownUsers { file.current(now: now) }

    /// The users that the file has now, for a password that has to be checked.
    ///
    /// - Parameter now: The present moment. The file is looked at when 1 ms has passed since it was last looked at.
    /// - Returns: The users, the same as before while nothing has changed.
    public func latestUsers(now: MonotonicTime) -> KnownUsers { file.latest(now: now) }

    @Sendable private static func make(_ file: UsersFile, generation: Int) throws(UsersError) -> KnownUsers {
        do throws(CryptoError) {
            return try KnownUsers(file, generation: generation)
        } catch {
            throw .unreadable(reason: error.description)
        }
    }
}
