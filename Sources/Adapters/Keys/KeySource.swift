import Basics
import Crypto
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
public struct KnownKeys: KnownContent {
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
    /// - Throws: `.unreadable` when there is no entropy.
    public init(_ file: KeysFile, generation: Int = 1) throws(KeysError) {
        self.file = file
        self.generation = generation
        do throws(CryptoError) {
            nobody = try randomBytes(SHA256.byteCount)
        } catch {
            throw .unreadable(reason: error.description)
        }
    }

    /// Checks a key. It costs one SHA-256 and one comparison, whether or not there is such a key, and however many there are.
    ///
    /// - Parameters:
    ///   - presented: The key that a client sent.
    ///   - seconds: The present, in seconds since 1970.
    /// - Returns: Whether it is right.
    public func verdict(on presented: PresentedKey, at seconds: Int64) -> KeyVerdict {
        let key = file[presented.id]
        let isEqual = constantTimeEqual(SHA256.digest(of: presented.secret), key?.digest ?? nobody)
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
public typealias KeySource = WatchedFile<KnownKeys>
