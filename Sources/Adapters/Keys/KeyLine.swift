import Basics

/// One line of a keys file: `NAME=VALUE` for each field that the key has, between single blanks.
enum KeyLine {
    /// The limit of a line without its end, in bytes. No written line is so long.
    static let maximumByteCount = 1024

    /// Reads a line. Throws the first fault, without any part of the line.
    static func read(_ line: ArraySlice<UInt8>) throws(KeysFault) -> APIKey {
        let values = try fields(line)
        func value<Value>(_ field: KeyField, as make: (String) -> Value?) throws(KeysFault) -> Value? {
            guard let text = values[field] else { return nil }
            guard let value = make(text) else { throw .illegal(field) }
            return value
        }
        func needed<Value>(_ field: KeyField, as make: (String) -> Value?) throws(KeysFault) -> Value {
            guard let value = try value(field, as: make) else { throw .missing(field) }
            return value
        }
        let id = try needed(.id) { PresentedKey.isID(Array($0.utf8)) ? $0 : nil }
        let digest = try needed(.sha256, as: digest)
        var terms = KeyTerms(try needed(.scopes) { Scope.set($0) })
        let created = try needed(.created, as: moment)
        terms.tenant = values[.tenant]
        terms.source = values[.source]
        terms.rate = try value(.rate) { number($0).flatMap { Int(exactly: $0) } }
        terms.expiresAt = try value(.expires, as: moment)
        terms.comment = values[.comment]
        if let fault = terms.fault { throw .illegal(fault) }
        return APIKey(id: id, digest: digest, terms: terms, createdAt: created, revokedAt: try value(.revoked, as: moment))
    }

    /// The line of a key, without its end.
    static func text(_ key: APIKey) -> String {
        KeyField.allCases.compactMap { field in value(field, of: key).map { "\(field.rawValue)=\($0)" } }.joined(separator: " ")
    }

    private static func value(_ field: KeyField, of key: APIKey) -> String? {
        switch field {
        case .id: key.id
        case .sha256: String(decoding: Hexadecimal.digits(of: key.digest), as: UTF8.self)
        case .scopes: Scope.text(key.terms.scopes)
        case .created: String(key.createdAt)
        case .tenant: key.terms.tenant
        case .source: key.terms.source
        case .rate: key.terms.rate.map { String($0) }
        case .expires: key.terms.expiresAt.map { String($0) }
        case .revoked: key.revokedAt.map { String($0) }
        case .comment: key.terms.comment
        }
    }

    private static func fields(_ line: ArraySlice<UInt8>) throws(KeysFault) -> [KeyField: String] {
        guard line.count <= maximumByteCount else { throw .lineTooLong }
        guard let text = String(validating: line, as: UTF8.self) else { throw .noText }
        var values: [KeyField: String] = [:]
        var rest = text[...]
        while !rest.isEmpty {
            guard let mark = rest.firstIndex(of: "="), let field = KeyField(rawValue: String(rest[..<mark])) else {
                throw .unknownField
            }
            let after = rest[rest.index(after: mark)...]
            let end = field == .comment ? after.endIndex : after.firstIndex(of: " ") ?? after.endIndex
            guard values.updateValue(String(after[..<end]), forKey: field) == nil else { throw .repeated(field) }
            rest = after[end...].dropFirst()
        }
        return values
    }

    private static func moment(_ text: String) -> Int64? {
        number(text).flatMap { KeyTerms.moments.contains($0) ? $0 : nil }
    }

    /// A decimal number without sign.
    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }

    private static func digest(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { $0.lowercased == $0 ? $0.hexadecimalValue : nil }
        guard digits.count == text.utf8.count, digits.count == 2 * SHA256.byteCount else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
