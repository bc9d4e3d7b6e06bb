import Basics
import CWebFiles
public import Gzip

/// A file of the web page, as the program carries it.
///
/// The files are those of `Sources/C/CWebFiles/files`. `CWebFiles` makes bytes of them.
public struct WebFile: Sendable {
    /// The file as it travels: as it is, or packed.
    public struct Form: Sendable {
        /// The bytes of a body.
        public let bytes: [UInt8]
        /// The strong tag of these bytes (RFC 9110, section 8.8.3): the first half of their SHA-256 in quotes.
        public let entityTag: String

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            let digits = SHA256.hexadecimalDigest(of: bytes).prefix(SHA256.byteCount)
            entityTag = "\"\(String(decoding: digits, as: UTF8.self))\""
        }
    }

    /// The name with its ending, such as `index.html`.
    public let name: String
    /// The value of `Content-Type`.
    public let mediaType: String
    /// The file, byte for byte.
    public let plain: Form
    /// The file packed with gzip (RFC 1952).
    public let packed: Form

    init(name: String, bytes: [UInt8]) throws(GzipError) {
        self.name = name
        mediaType = Self.mediaType(of: name)
        plain = Form(bytes)
        packed = Form(try gzip(bytes))
    }

    /// The media type by the name's ending.
    static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// Makes every file. Packs each, which takes some milliseconds.
    ///
    /// - Returns: The files, in the order of the list.
    /// - Throws: ``GzipError/noMemory``.
    public static func all() throws(GzipError) -> [WebFile] {
        var files: [WebFile] = []
        while let file = pushfan_web_file(files.count)?.pointee {
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
            files.append(try WebFile(name: String(cString: file.name), bytes: bytes))
        }
        return files
    }
}
