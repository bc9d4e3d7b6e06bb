public import Crypto
public import EventLoop

/// The users at one moment, and the check of a password against them.
public struct KnownUsers: KnownContent {
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
    /// - Throws: `.unreadable` when there is no entropy.
    public init(_ file: UsersFile, generation: Int = 1) throws(UsersError) {
        self.file = file
        self.generation = generation
        do throws(CryptoError) {
            nobody = try PasswordHash(matchingNothing: file.users.first?.hash.parameters ?? .standard)
        } catch {
            throw .unreadable(reason: error.description)
        }
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
public typealias UsersSource = WatchedFile<KnownUsers>
