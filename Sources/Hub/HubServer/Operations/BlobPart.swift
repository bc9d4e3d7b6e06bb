import HTTPServing

/// The part of a blob that a request asks for (RFC 9110, section 14.2).
enum BlobPart: Equatable {
    case whole
    case bytes(Range<Int>)
    /// There is none of it (RFC 9110, section 15.5.17).
    case outside

    /// Reads the header `Range`. What is not one range of bytes counts as none.
    init(_ request: HTTPServerRequest, of length: Int) {
        self = .whole
        guard let header = request.headers["Range"], header.hasPrefix("bytes=") else { return }
        let words = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard words.count == 2, words.allSatisfy({ $0.utf8.allSatisfy { 48...57 ~= $0 } }) else { return }
        // A number beyond all numbers is beyond the end.
        let (first, last) = (words[0].isEmpty ? nil : Int(words[0]) ?? .max, words[1].isEmpty ? nil : Int(words[1]) ?? .max)
        switch (first, last) {
        case (nil, nil): return
        case (nil, let count?): self = count == 0 || length == 0 ? .outside : .bytes(length - min(count, length)..<length)
        case (let start?, let last):
            if let last, last < start { return }
            self = start >= length ? .outside : .bytes(start..<min(last ?? .max, length - 1) + 1)
        }
    }
}
