public import EventLoop

/// The keys of publishers, one line each. A revoked key stays, so that its id never comes back.
///
/// Lines end with a line feed, with or without a carriage return before it. Empty lines are ignored, and so is a byte order mark
/// in front. One more empty line ends a file that pushfan has written.
public struct KeysFile: FileContent {
    /// The limit of the file, in bytes. No file with so many keys is so large.
    public static let maximumByteCount = 12 << 20
    /// The most keys, revoked ones included.
    public static let maximumKeyCount = 10_000

    /// All of them, in the file's order.
    public private(set) var keys: [APIKey] = []
    /// The index in `keys` of each id.
    private var places: [String: Int] = [:]

    /// A file without keys.
    public init() {}

    /// Reads a file.
    ///
    /// - Parameter bytes: All of it.
    /// - Throws: The first fault, with the number of its line, but without any part of the line.
    public init(_ bytes: [UInt8]) throws(KeysFileError) {
        guard bytes.count <= Self.maximumByteCount else { throw KeysFileError(.tooLarge) }
        try KeysFileError.read(bytes) { line throws(KeysFault) in try put(try KeyLine.read(line)) }
    }

    /// The file: a line for each key, and an empty one.
    public var bytes: [UInt8] { Self.bytes(of: keys.lazy.map(KeyLine.text)) }

    /// The number of keys.
    public var count: Int { keys.count }

    /// Says if each key of another file is here, perhaps with other terms.
    public func keepsAll(of other: KeysFile) -> Bool { other.keys.allSatisfy { places[$0.id] != nil } }

    /// The key with an id, or nil for none.
    public subscript(id: String) -> APIKey? { places[id].map { keys[$0] } }

    /// Adds a key.
    ///
    /// - Parameter key: A new one.
    /// - Throws: Its id is there already, a term is none that a key may have, or there are too many keys.
    public mutating func add(_ key: APIKey) throws(KeysFileError) {
        if let fault = key.terms.fault { throw KeysFileError(.illegal(fault)) }
        do throws(KeysFault) { try put(key) } catch { throw KeysFileError(error) }
    }

    /// Revokes a key. A revoked key stays as it is.
    ///
    /// - Parameters:
    ///   - id: The key's id.
    ///   - seconds: The present, in seconds since 1970.
    /// - Returns: The key as it was before, or nil if there is none.
    public mutating func revoke(_ id: String, at seconds: Int64) -> APIKey? {
        guard let place = places[id] else { return nil }
        let before = keys[place]
        if before.revokedAt == nil { keys[place].revokedAt = seconds }
        return before
    }

    private mutating func put(_ key: APIKey) throws(KeysFault) {
        guard keys.count < Self.maximumKeyCount else { throw .tooManyKeys }
        guard places.updateValue(keys.count, forKey: key.id) == nil else { throw .repeatedID }
        keys.append(key)
    }
}

/// The keys file on a disk.
public typealias KeysStore = FileStore<KeysFile>

/// The reason for which keys cannot be read or changed, without any secret or hash.
public typealias KeysError = FileError<KeysFileError>

/// A fault of a keys file, and its line.
public typealias KeysFileError = LineFault<KeysFault>

/// A fault of a keys file, without any part of its content.
public enum KeysFault: Error, Equatable {
    /// The file has more than 12 MiB.
    case tooLarge
    /// There are more than 10,000 keys.
    case tooManyKeys
    /// A line has more than 1,024 bytes.
    case lineTooLong
    /// A line is no UTF-8.
    case noText
    /// Something stands where the name of a field should.
    case unknownField
    /// A key needs the field.
    case missing(KeyField)
    /// A line has the field twice.
    case repeated(KeyField)
    /// The field's value is none that it may have.
    case illegal(KeyField)
    /// Another key has the id.
    case repeatedID
}

extension KeysFault: CustomStringConvertible {
    /// The sentence that follows the line's number.
    public var description: String {
        switch self {
        case .tooLarge: "more than \(KeysFile.maximumByteCount >> 20) MiB"
        case .tooManyKeys: "more than \(KeysFile.maximumKeyCount) keys"
        case .lineTooLong: "longer than \(KeyLine.maximumByteCount) bytes"
        case .noText: "this is no UTF-8"
        case .unknownField: "this is no `NAME=VALUE` as `pushfan keys create` writes it"
        case .missing(let field): "\(field.rawValue) is missing"
        case .repeated(let field): "\(field.rawValue) is there twice"
        case .illegal(let field): "\(field.rawValue) has no value that is allowed"
        case .repeatedID: "there is a key with this id already"
        }
    }
}
