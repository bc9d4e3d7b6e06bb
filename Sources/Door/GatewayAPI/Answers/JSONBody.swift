import HTTPServing
package import PushModel

/// The rules that all bodies of `/api` share.
package enum JSONBody {
    /// The most bytes that a body of `/api` may have.
    package static let maximumByteCount = 64 << 10

    /// Whether JSON passes a byte over between values.
    package static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
    }

    /// True if a body may be JSON by its `Content-Type`. A missing one says nothing against it.
    package static func isAdmitted(_ contentType: String?) -> Bool {
        guard let contentType, !contentType.isEmpty else { return true }
        return ["application/json", "text/json"].contains(contentType.mediaType)
    }

    /// Reads a body.
    ///
    /// - Throws: 413, 415, and 400 for what is no JSON. The place of the fault is named, and nothing of its text.
    package static func read(
        _ body: [UInt8], contentType: String?, atMost limit: Int = maximumByteCount
    ) throws(APIProblem) -> JSONDocument {
        guard body.count <= limit else { throw .bodyTooLarge(limit: limit) }
        guard isAdmitted(contentType) else { throw .unsupportedMediaType }
        var document = JSONDocument()
        do throws(JSONError) {
            try document.read(body.span)
        } catch {
            throw .invalid("The body is no JSON: \(error.reason.rawValue) at byte \(error.offset).")
        }
        return document
    }
}
