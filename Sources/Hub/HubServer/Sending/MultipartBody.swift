import HTTPServing

/// The parts of a direct batch, read as tolerantly as clients write them: quoted or bare boundaries, blanks around `=`, any case,
/// any order, bare line feeds, `multipart/mixed` or `multipart/form-data` (RFC 2046, 5.1, and RFC 7578).
struct MultipartBody {
    struct Part {
        let name: String
        let contentType: String?
        let content: [UInt8]
    }

    let parts: [Part]

    /// Reads a body, if its content type is multipart and names a boundary.
    init?(_ body: [UInt8], contentType: String) {
        guard contentType.lowercased().hasPrefix("multipart/"), let boundary = Self.parameter("boundary", of: contentType),
            !boundary.isEmpty
        else { return nil }
        var parts: [Part] = []
        for section in Self.sections(of: body, delimiter: Array("--\(boundary)".utf8)) {
            if let part = Self.part(section) { parts.append(part) }
        }
        self.parts = parts
    }

    /// The first part called `name`.
    subscript(_ name: String) -> Part? { parts.first { $0.name.equalsIgnoringCase(name) } }

    /// A parameter of a header value: `; name = "value"`.
    static func parameter(_ name: String, of value: String) -> String? {
        for field in value.split(separator: ";").dropFirst() {
            guard let equals = field.firstIndex(of: "=") else { continue }
            guard field[..<equals].trimmingBlanks.equalsIgnoringCase(name) else { continue }
            let text = field[field.index(after: equals)...].trimmingBlanks
            return text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : text
        }
        return nil
    }

    /// The text between delimiter lines, without the line ends next to them.
    private static func sections(of body: [UInt8], delimiter: [UInt8]) -> [ArraySlice<UInt8>] {
        var sections: [ArraySlice<UInt8>] = []
        var start: Int?
        var index = 0
        while index < body.count {
            let isAtLineStart = index == 0 || body[index - 1] == 10
            if isAtLineStart, body[index...].starts(with: delimiter) {
                if let start { sections.append(withoutLineEnd(body[start..<index])) }
                index += delimiter.count
                if body[index...].starts(with: [0x2D, 0x2D]) { return sections }
                index = (body[index...].firstIndex(of: 10) ?? body.count - 1) + 1
                start = index
            } else {
                index = (body[index...].firstIndex(of: 10) ?? body.count - 1) + 1
            }
        }
        return sections
    }

    private static func part(_ section: ArraySlice<UInt8>) -> Part? {
        var rest = section
        var name: String?
        var contentType: String?
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10) ?? rest.endIndex
            let line = String(decoding: rest[..<end].filter { $0 != 13 }, as: UTF8.self)
            rest = end < rest.endIndex ? rest[(end + 1)...] : []
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[line.index(after: colon)...])
            switch line[..<colon].trimmingBlanks.lowercased() {
            case "content-disposition": name = parameter("name", of: value)
            case "content-type": contentType = value.trimmingBlanks
            default: break
            }
        }
        return name.map { Part(name: $0, contentType: contentType, content: Array(rest)) }
    }

    private static func withoutLineEnd(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        if rest.last == 10 { rest = rest.dropLast() }
        if rest.last == 13 { rest = rest.dropLast() }
        return rest
    }
}
