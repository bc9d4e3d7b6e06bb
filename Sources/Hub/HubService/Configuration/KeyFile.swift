import Basics
package import EventLoop

/// A file of one key or two, one a line.
package struct KeyFile: FileContent {
    /// A fault, without any part of the file.
    package enum Reason: Error, Equatable, Sendable, CustomStringConvertible {
        case tooLarge, noKey, none, tooMany

        /// The end of a sentence about the file.
        package var description: String {
            switch self {
            case .tooLarge: "more than \(KeyFile.maximumByteCount) bytes"
            case .noKey: KeyFile.rule
            case .none: "there is no key"
            case .tooMany: "more than \(KeyFile.keyLimit) keys"
            }
        }
    }

    package static let maximumByteCount = 4096
    static let keyLimit = 2
    static let rule = "expected a key of 1 to 256 visible ASCII characters without ';'"

    package private(set) var keys: [String] = []
    package let bytes: [UInt8]

    package init() { bytes = [] }

    package init(_ bytes: [UInt8]) throws(LineFault<Reason>) {
        self.bytes = bytes
        guard bytes.count <= Self.maximumByteCount else { throw LineFault(.tooLarge) }
        try LineFault<Reason>.read(bytes) { line throws(Reason) in
            guard let key = Self.key(String(decoding: line, as: UTF8.self)) else { throw .noKey }
            guard keys.count < Self.keyLimit else { throw .tooMany }
            keys.append(key)
        }
        guard count > 0 else { throw LineFault(.none) }
    }

    package var count: Int { keys.count }

    package func keepsAll(of other: KeyFile) -> Bool { other.keys.allSatisfy(keys.contains) }

    /// A key as connection strings can have it, or nil for another text.
    static func key(_ text: String) -> String? {
        let isRight = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ";") }
        return isRight && (1...256).contains(text.utf8.count) ? text : nil
    }
}

/// A file of the key that encrypts handles: 32 bytes as base64, in one line.
package struct HandleKeyFile: FileContent {
    /// A fault, without any part of the file.
    package enum Reason: Error, Equatable, Sendable, CustomStringConvertible {
        case noKey

        package var description: String { "expected one line, 32 bytes as base64, as 'openssl rand -base64 32' makes it" }
    }

    package static let maximumByteCount = 4096

    /// The key, 32 bytes.
    package private(set) var key: [UInt8] = []
    package let bytes: [UInt8]

    package init() { bytes = [] }

    package init(_ bytes: [UInt8]) throws(Reason) {
        self.bytes = bytes
        let text = bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard bytes.count <= 64, let key = Base64.decode(text), key.count == 32 else { throw .noKey }
        self.key = key
    }

    package var count: Int { key.isEmpty ? 0 : 1 }

    package func keepsAll(of other: HandleKeyFile) -> Bool { key == other.key }
}
