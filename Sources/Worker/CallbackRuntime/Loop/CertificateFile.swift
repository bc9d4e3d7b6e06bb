import EventLoop

/// The file of certificates that receivers' are checked against. What it holds is OpenSSL's to say.
struct CertificateFile: FileContent {
    /// A fault of the file.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case tooLarge

        /// The end of a sentence about the file.
        var description: String { "more than \(CertificateFile.maximumByteCount) bytes" }
    }

    static let maximumByteCount = 16 << 20
    let bytes: [UInt8]

    init() { bytes = [] }

    init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLarge }
        self.bytes = bytes
    }

    var count: Int { 1 }

    func keepsAll(of other: CertificateFile) -> Bool { true }
}
