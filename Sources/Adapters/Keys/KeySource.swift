public import Basics
public import Crypto
public import EventLoop

/// The result of checking a key.
public enum KeyVerdict: Sendable, Equatable {
    /// It is right.
    case right(APIKey)
    /// It was right, and has expired or was revoked.
    case ended
    /// No key has this id and this secret.
    case wrong
}

/// The keys at one moment, and the check of a presented one against them.
public struct KnownKeys: Sendable {
    /// The number of successful reads of the file. With a later number the keys may differ.
    public let generation: Int
    /// The keys themselves.
    public let file: KeysFile
    /// The hash with which the secret of an unknown id is compared.
    private let nobody: [UInt8]

    /// Makes a check of a file's keys.
    ///
    /// - Parameters:
    ///   - file: The keys.
    ///   - generation: See `generation`. Default 1.
    /// - Throws: `CryptoError.openSSL` when there is no entropy.
    public init(_ file: KeysFile, generation: Int = 1) throws(CryptoError) {
        self.file = file
        self.generation = generation
        nobody = try randomBytes(SHA256.byteCount)
    }

    /// Checks a key. It costs one SHA-256 and one comparison, whether or not there is such a key, and however many there are.
    ///
    /// - Parameters:
    ///   - presented: The key that a client sent.
    ///   - seconds: The present, in seconds since 1970.
    /// - Returns: Whether it is right.
    /// - Throws: `CryptoError.openSSL` when there is no memory for it.
    public func verdict(on presented: PresentedKey, at seconds: Int64) throws(CryptoError) -> KeyVerdict {
        let key = file[presented.id]
        let isEqual = constantTimeEqual(try SHA256.digest(of: presented.secret), key?.digest ?? nobody)
        guard let key, isEqual else { return .wrong }
        return key.state(at: seconds) == .active ? .right(key) : .ended
    }
}

extension KnownKeys {
    /// Checks a key that was right before.
    ///
    /// - Parameters:
    ///   - key: The key as it was then.
    ///   - seconds: The present, in seconds since 1970.
    /// - Returns: Whether it still is right, with the terms that it has now.
    public func verdict(on key: APIKey, at seconds: Int64) -> KeyVerdict {
        guard let present = file[key.id], present.digest == key.digest else { return .wrong }
        return present.state(at: seconds) == .active ? .right(present) : .ended
    }
}

/// The keys of a file, read again when the file changes.
///
/// A file that is faulty, missing, empty or cut off leaves the keys as they are until it is right again. Any thread may call. One at a time checks the
/// file, and the others go on with the known keys.
public final class KeySource: Sendable {
    /// A report to the gateway's operator.
    public typealias Report = FileReport<KeysFileError>

    private let file: WatchedFile<KeysFile, KnownKeys>

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - now: The present moment.
    ///   - report: Gets the reports of later readings, on the calling thread.
    /// - Throws: The file is missing or not right.
    public init(_ path: String, now: MonotonicTime, report: @escaping @Sendable (Report) -> Void) throws(KeysError) {
        file = try WatchedFile(path, now: now, make: Self.make, report: report)
    }

    /// The keys that count now.
    ///
    /// - Parameter now: The present moment. The file is checked when 2 s have passed since the last check.
    /// - Returns: The keys, the same as before while nothing has changed.
    public func keys(now: MonotonicTime) -> KnownKeys { file.current(now: now) }

    /// The keys that the file has now, for a key that the known ones refuse.
    ///
    /// - Parameter now: The present moment. The file is checked when 1 ms has passed since the last check.
    /// - Returns: The keys, the same as before while nothing has changed.
    public func latestKeys(now: MonotonicTime) -> KnownKeys { file.latest(now: now) }

    @Sendable private static func make(_ file: KeysFile, generation: Int) throws(KeysError) -> KnownKeys {
        do throws(CryptoError) {
            return try KnownKeys(file, generation: generation)
        } catch {
            throw .unreadable(reason: error.description)
        }
    }
}
