import Basics
import Delivery
public import PushModel
import XML

/// One page of the names in a storage account's container ("List Blobs").
public struct BlobListing: Sendable, Equatable {
    /// One blob.
    public struct Blob: Sendable, Equatable {
        /// Its name, 1 to 1,024 bytes without control characters.
        public var name: String
        /// Its size in bytes, if the page tells it.
        public var byteCount: Int64?
        /// The moment at which it was last written, if the page says it.
        public var modified: Timestamp?

        /// The text that the names of feedback sort by, the oldest first: they begin with month, day and year, which gives
        /// `20261121` before the name.
        public var age: String {
            let digits = Array(name.utf8.prefix(8))
            guard digits.count == 8, digits.allSatisfy(\.isDigit) else { return name }
            return String(decoding: digits[4...] + digits[..<4], as: UTF8.self) + name
        }
    }

    /// The most bytes that are read of a page.
    public static let maximumByteCount = 4 << 20

    /// The blobs, in the page's order.
    public private(set) var blobs: [Blob] = []
    /// The marker that asks for the next page, or nil behind the last one.
    public private(set) var nextMarker: String?

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - page: The answer's body.
    ///   - now: The present moment, which dates are near to.
    /// - Throws: What is wrong with it; nothing is made of half a page.
    public init(reading page: Span<UInt8>, now: Timestamp) throws(TelemetryFault) {
        guard page.count <= Self.maximumByteCount else { throw .tooLarge }
        var scanner = XMLScanner(ofAnswer: page)
        guard case .start(let root) = try scanner.event(), scanner.isName(root, equalTo: "EnumerationResults") else {
            throw .otherListing
        }
        while let name = try scanner.child(of: "EnumerationResults") {
            if scanner.isName(name, equalTo: "Blobs") {
                try readBlobs(&scanner, now: now)
            } else if scanner.isName(name, equalTo: "NextMarker") {
                let marker = try Self.text("NextMarker", from: &scanner)
                nextMarker = marker.isEmpty ? nil : marker
            } else {
                try scanner.skipElement()
            }
        }
        guard case .finished = try scanner.event() else { throw .unexpected("EnumerationResults") }
    }

    private mutating func readBlobs(_ scanner: inout XMLScanner, now: Timestamp) throws(TelemetryFault) {
        while let name = try scanner.child(of: "Blobs") {
            guard scanner.isName(name, equalTo: "Blob") else {
                try scanner.skipElement()
                continue
            }
            var blob = Blob(name: "")
            while let part = try scanner.child(of: "Blob") {
                if scanner.isName(part, equalTo: "Name") {
                    blob.name = try Self.text("Name", from: &scanner)
                } else if scanner.isName(part, equalTo: "Properties") {
                    try Self.readProperties(of: &blob, from: &scanner, now: now)
                } else {
                    try scanner.skipElement()
                }
            }
            guard (1...1024).contains(blob.name.utf8.count) else { throw .unexpected("Name") }
            blobs.append(blob)
        }
    }

    private static func readProperties(
        of blob: inout Blob, from scanner: inout XMLScanner, now: Timestamp
    ) throws(TelemetryFault) {
        while let name = try scanner.child(of: "Properties") {
            if scanner.isName(name, equalTo: "Content-Length") {
                guard let count = Int64(try text("Content-Length", from: &scanner)), count >= 0 else { throw .invalidCount }
                blob.byteCount = count
            } else if scanner.isName(name, equalTo: "Last-Modified") {
                blob.modified = RetryAfter.date(try text("Last-Modified", from: &scanner), now: now)
            } else {
                try scanner.skipElement()
            }
        }
    }

    private static func text(_ element: StaticString, from scanner: inout XMLScanner) throws(TelemetryFault) -> String {
        String(decoding: try scanner.text(of: "\(element)", limit: 4096), as: UTF8.self)
    }
}
