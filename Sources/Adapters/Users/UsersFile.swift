import Basics
public import Crypto
public import EventLoop

/// The people who may sign in: one line `name:hash` for each, the hash as `PasswordHash` writes it.
///
/// Lines end with a line feed, with or without a carriage return before it; empty lines mean nothing. Names are unique without
/// regard to case, and the exact name signs in. A byte order mark in front is passed over. One more empty line ends a file that pushfan has
/// written.
public struct UsersFile: FileContent {
    /// One of them.
    public struct User: Sendable, Equatable {
        /// The name as the file has it.
        public let name: String
        /// The hash of the password.
        public let hash: PasswordHash
    }

    /// The largest file, in bytes. It is larger than any with so many users.
    public static let maximumByteCount = 8 << 20
    /// The most users.
    public static let maximumUserCount = 10_000
    /// The longest line without its end, in bytes.
    static let maximumLineByteCount = UserName.maximumByteCount + 1 + PasswordHash.maximumTextByteCount

    /// All of them, in the file's order.
    public private(set) var users: [User] = []
    /// The place in `users` of each folded name.
    private var places: [String: Int] = [:]

    /// A file without users.
    public init() {}

    /// Reads a file.
    ///
    /// - Parameter bytes: All of it.
    /// - Throws: What is wrong first, with the number of its line; nothing of the line itself.
    public init(_ bytes: [UInt8]) throws(UsersFileError) {
        guard bytes.count <= Self.maximumByteCount else { throw UsersFileError(.tooLarge) }
        try UsersFileError.read(bytes) { line throws(UsersFault) in try add(line) }
    }

    private mutating func add(_ line: ArraySlice<UInt8>) throws(UsersFault) {
        guard line.count <= Self.maximumLineByteCount else { throw .lineTooLong }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .noColon }
        guard let name = String(validating: line[..<colon], as: UTF8.self), UserName.isLegal(name) else { throw .illegalName }
        guard let text = String(validating: line[(colon + 1)...], as: UTF8.self), let hash = PasswordHash(text) else {
            throw .illegalHash
        }
        guard users.count < Self.maximumUserCount else { throw .tooManyUsers }
        guard places.updateValue(users.count, forKey: UserName.folded(name)) == nil else { throw .repeatedName }
        users.append(User(name: name, hash: hash))
    }

    /// How many users it has.
    public var count: Int { users.count }

    /// The file: a line for each user, and an empty one.
    public var bytes: [UInt8] { Self.bytes(of: users.lazy.map { "\($0.name):\($0.hash.text)" }) }

    /// Says if each user of another file is here, perhaps with another password.
    public func keepsAll(of other: UsersFile) -> Bool { other.users.allSatisfy { user(named: $0.name) != nil } }

    /// The user who has exactly this name, or nil for no one.
    public func user(named name: String) -> User? {
        user(inAnyCase: name).flatMap { $0.name == name ? $0 : nil }
    }

    /// The user who has this name but for its case, or nil for no one.
    public func user(inAnyCase name: String) -> User? {
        places[UserName.folded(name)].map { users[$0] }
    }

    /// Gives a user a password. Adds a user who is not there yet.
    ///
    /// - Parameters:
    ///   - name: The exact name.
    ///   - hash: The password's hash.
    /// - Returns: Whether the user is a new one.
    /// - Throws: The name is not legal, or differs only in its case from one that is there; or there are too many users.
    @discardableResult
    public mutating func set(_ name: String, hash: PasswordHash) throws(UsersFileError) -> Bool {
        guard UserName.isLegal(name) else { throw UsersFileError(.illegalName) }
        if let place = places[UserName.folded(name)] {
            guard users[place].name == name else { throw UsersFileError(.repeatedName) }
            users[place] = User(name: users[place].name, hash: hash)
            return false
        }
        guard users.count < Self.maximumUserCount else { throw UsersFileError(.tooManyUsers) }
        places[UserName.folded(name)] = users.count
        users.append(User(name: name, hash: hash))
        return true
    }

    /// Takes a user out.
    ///
    /// - Parameter name: The exact name.
    /// - Returns: Whether there was one.
    @discardableResult
    public mutating func remove(_ name: String) -> Bool {
        guard let place = places[UserName.folded(name)], users[place].name == name else { return false }
        users.remove(at: place)
        places = Dictionary(uniqueKeysWithValues: users.enumerated().map { (UserName.folded($1.name), $0) })
        return true
    }
}

/// A fault of a users file. No name and no hash is in it.
public enum UsersFault: Error, Equatable {
    /// The file has more than 8 MiB.
    case tooLarge
    /// There are more than 10,000 users.
    case tooManyUsers
    /// A line has more than 512 bytes.
    case lineTooLong
    /// A line has no colon behind the name.
    case noColon
    /// A name that `UserName` does not allow.
    case illegalName
    /// The text behind the colon is no hash.
    case illegalHash
    /// Another user has the name, perhaps in another case.
    case repeatedName
}

extension UsersFault: CustomStringConvertible {
    /// The sentence that follows the line's number.
    public var description: String {
        switch self {
        case .tooLarge: "more than \(UsersFile.maximumByteCount >> 20) MiB"
        case .tooManyUsers: "more than \(UsersFile.maximumUserCount) users"
        case .lineTooLong: "longer than \(UsersFile.maximumLineByteCount) bytes"
        case .noColon: "there is no colon behind the name"
        case .illegalName: "this is no name; one has \(UserName.rule)"
        case .illegalHash: "the text after the name is no password hash as `pushfan users set` writes it"
        case .repeatedName: "there is a user of this name already; names that differ only in their case count as one"
        }
    }
}

/// A fault of a users file, and its line.
public typealias UsersFileError = LineFault<UsersFault>

/// The users file on a disk.
public typealias UsersStore = FileStore<UsersFile>

/// Why users cannot be read or changed; no name and no hash is in it.
public typealias UsersError = FileError<UsersFileError>
