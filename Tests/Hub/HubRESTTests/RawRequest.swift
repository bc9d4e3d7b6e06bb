/// An HTTP/1.1 request as a peer reads it from bytes (RFC 9112), written for the tests alone and stricter than peers are.
struct RawRequest {
    struct Malformed: Error { var reason: String }

    var method = ""
    var target = ""
    /// Names in lower case, in order.
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    init(_ bytes: [UInt8]) throws(Malformed) {
        var rest = bytes[...]
        let line = try Self.line(&rest).split(separator: " ", omittingEmptySubsequences: false)
        guard line.count == 3, line[2] == "HTTP/1.1", line[1].hasPrefix("/") else { throw Malformed(reason: "request line") }
        (method, target) = (String(line[0]), String(line[1]))
        while true {
            let line = try Self.line(&rest)
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw Malformed(reason: "field \(line)") }
            let name = line[..<colon]
            let tokenMarks = "!#$%&'*+-.^_`|~"
            guard
                name.unicodeScalars.allSatisfy({
                    $0.isASCII
                        && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || tokenMarks.unicodeScalars.contains($0))
                })
            else { throw Malformed(reason: "name \(name)") }
            let value = line[line.index(after: colon)...]
            guard value.hasPrefix(" "), !value.hasSuffix("\t") else { throw Malformed(reason: "value of \(name)") }
            fields.append((name.lowercased(), String(value.dropFirst())))
        }
        body = Array(rest)
        guard values("content-length") == ["\(body.count)"] else { throw Malformed(reason: "length of the body") }
        guard values("transfer-encoding").isEmpty, values("host").count == 1 else { throw Malformed(reason: "framing") }
    }

    /// All values of the field `name`, given in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// Takes the bytes up to the next CR LF, which must be printable ASCII or a tab.
    private static func line(_ rest: inout ArraySlice<UInt8>) throws(Malformed) -> String {
        guard let end = rest.firstIndex(of: 0x0D), end + 1 < rest.endIndex, rest[end + 1] == 0x0A else {
            throw Malformed(reason: "no end of line")
        }
        let line = rest[..<end]
        guard line.allSatisfy({ $0 == 0x09 || (0x20..<0x7F).contains($0) }) else { throw Malformed(reason: "control character") }
        rest = rest[(end + 2)...]
        return String(decoding: line, as: UTF8.self)
    }
}

extension RawRequest {
    struct Part: Equatable {
        var name: String
        var contentType: String
        var content: [UInt8]
    }

    /// The parts of a `multipart/mixed` body (RFC 2046, section 5.1): delimiters count wherever they begin a line.
    func parts() throws(Malformed) -> [Part] {
        let prefix = "multipart/mixed; boundary=\""
        guard let type = values("content-type").first, type.hasPrefix(prefix), type.hasSuffix("\"") else {
            throw Malformed(reason: "no multipart body")
        }
        let delimiter = Array("\r\n--\(type.dropFirst(prefix.utf8.count).dropLast())".utf8)
        var pieces: [ArraySlice<UInt8>] = []
        var rest = ([0x0D, 0x0A] + body)[...]
        while let place = rest.firstRange(of: delimiter) {
            pieces.append(rest[..<place.lowerBound])
            rest = rest[place.upperBound...]
        }
        guard pieces.first?.isEmpty == true, rest.elementsEqual("--\r\n".utf8) else { throw Malformed(reason: "boundaries") }
        var parts: [Part] = []
        for piece in pieces.dropFirst() {
            guard piece.starts(with: [0x0D, 0x0A]), let blank = piece.firstRange(of: Array("\r\n\r\n".utf8)) else {
                throw Malformed(reason: "head of a part")
            }
            let head = String(decoding: piece[..<blank.lowerBound], as: UTF8.self).split(separator: "\r\n")
            guard head.count == 2, head[0].hasPrefix("Content-Type: "), head[1].hasPrefix("Content-Disposition: inline; name=")
            else { throw Malformed(reason: "fields of a part: \(head)") }
            parts.append(
                Part(
                    name: String(head[1].dropFirst("Content-Disposition: inline; name=".count)),
                    contentType: String(head[0].dropFirst("Content-Type: ".count)), content: Array(piece[blank.upperBound...])))
        }
        return parts
    }
}
