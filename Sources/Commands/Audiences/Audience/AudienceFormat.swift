import Basics
package import FanOut
import PushModel

/// Reads the lines of an audience: CSV with or without a header, or one JSON value a line.
///
/// | Form | Lines |
/// |---|---|
/// | names, plain | `alice` |
/// | CSV with a header | `user` (or `installation`, or `category`) among the columns, which may be more; or `platform` and `handle` |
/// | CSV without | one column of users, or a platform and a handle |
/// | JSON | `"alice"`, `{"user":"alice"}`, `{"installation":"…"}`, `{"platform":"apple","handle":"…"}` |
///
/// What the first line is, all are. Users' names are composed (Unicode NFC) and handles brought into their form (`DeviceToken`), so that one
/// name or device is the same bytes in every line.
package struct AudienceFormat {
    /// The content of an audience.
    package enum Kind: Equatable, Sendable {
        case names(FanOutPlanner.NameKind)
        case handles
    }

    private enum Layout: Equatable {
        case json
        /// The columns of the name or handle, and of the platform.
        case columns(text: Int, platform: Int?)
    }

    /// The reason for which a line does not belong to an audience. It repeats nothing of the line.
    struct Fault: Error {
        let message: String
    }

    private var layout: Layout?
    /// The content of the lines, or nil before the first one.
    private(set) var kind: Kind?
    /// The name or the handle of the line.
    private(set) var text = ByteWriter()
    /// The platform of the line's handle.
    private(set) var platform = Platform.apple
    private var form = ByteWriter()
    private var document = JSONDocument()
    private var fields: [ByteWriter] = []
    private var fieldCount = 0

    /// Reads a line without its end. Returns whether it holds a name or a handle, as a header and a blank line do not.
    mutating func read(_ line: Span<UInt8>) throws(Fault) -> Bool {
        guard try readContent(line) else { return false }
        if kind == .names(.users), !Self.isASCII(text.span), let name = String(validating: text.bytes, as: UTF8.self) {
            text.removeAll()
            text.append(UserName.composed(name))
        }
        if kind == .handles { try takeForm() }
        return true
    }

    /// Brings the handle into its form.
    private mutating func takeForm() throws(Fault) {
        let handle = text
        form.removeAll()
        do throws(DeviceToken.Problem) {
            try DeviceToken.appendNormalForm(of: handle.span, on: platform, to: &form)
        } catch {
            throw Fault(message: error.description)
        }
        swap(&text, &form)
    }

    private static func isASCII(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where text[index] >= 0x80 { return false }
        return true
    }

    private mutating func readContent(_ line: Span<UInt8>) throws(Fault) -> Bool {
        guard !Self.isBlank(line) else { return false }
        if layout == .json || layout == nil && Self.mayBeJSON(line) {
            layout = .json
            try readJSON(line)
            return true
        }
        if case .columns(0, nil) = layout, Self.isPlain(line) {
            text.removeAll()
            text.append(line)
            return true
        }
        try split(line)
        guard let layout else { return try begin() }
        guard case .columns(let column, let platformColumn) = layout else { return false }
        guard column < fieldCount, platformColumn ?? 0 < fieldCount else {
            throw Fault(message: "The line has \(fieldCount) columns, too few.")
        }
        text.removeAll()
        text.append(fields[column])
        if let platformColumn {
            let word = fields[platformColumn].text
            guard let platform = Platform(name: word) else { throw Fault(message: Platform.refusal(of: word)) }
            self.platform = platform
        }
        return true
    }

    /// Finds the kind of the file by its first line. Returns whether that line is one of the audience already.
    private mutating func begin() throws(Fault) -> Bool {
        let names = fields[..<fieldCount].map { $0.text.lowercased() }
        if let column = names.firstIndex(where: { ["handle", "device", "token"].contains($0) }),
            let platform = names.firstIndex(of: "platform")
        {
            (layout, kind) = (.columns(text: column, platform: platform), .handles)
            return false
        }
        for (words, found) in Self.headers {
            guard let column = names.firstIndex(where: words.contains) else { continue }
            (layout, kind) = (.columns(text: column, platform: nil), .names(found))
            return false
        }
        if fieldCount == 1 {
            (layout, kind) = (.columns(text: 0, platform: nil), .names(.users))
            text = fields[0]
            return true
        }
        guard fieldCount == 2, let platform = Platform(name: fields[0].text) else {
            throw Fault(message: "Columns without a header are one of users, or a platform and a handle.")
        }
        (layout, kind) = (.columns(text: 1, platform: 0), .handles)
        self.platform = platform
        text = fields[1]
        return true
    }

    private static let headers: [([String], FanOutPlanner.NameKind)] = [
        (["user", "users", "username", "user_id"], .users), (["installation", "installation_id"], .installations),
        (["category", "tag"], .categories),
    ]

    private mutating func readJSON(_ line: Span<UInt8>) throws(Fault) {
        do throws(JSONError) {
            try document.read(line)
        } catch {
            let mistake = error.mistake(in: line)
            throw Fault(message: "Column \(mistake.column): \(mistake.cause)")
        }
        let root = document.root
        if document.kind(of: root) == .string { return try take(root, as: .names(.users)) }
        for (name, found) in [
            ("user", FanOutPlanner.NameKind.users), ("installation", .installations), ("category", .categories),
        ] {
            if let value = member(name) { return try take(value, as: .names(found)) }
        }
        guard let handle = member("handle"), let word = member("platform"), document.kind(of: word) == .string else {
            throw Fault(message: "Expected a text, or an object with user, installation, category, or platform and handle.")
        }
        let name = document.string(document.text(of: word))
        guard let platform = Platform(name: name) else { throw Fault(message: Platform.refusal(of: name)) }
        self.platform = platform
        try take(handle, as: .handles)
    }

    private func member(_ name: String) -> JSONDocument.Node? {
        var found: JSONDocument.Node?
        document.forEachMember(of: document.root) { key, value in
            if found == nil, document.isEqual(key, to: name), document.kind(of: value) != .null { found = value }
        }
        return found
    }

    private mutating func take(_ node: JSONDocument.Node, as found: Kind) throws(Fault) {
        guard document.kind(of: node) == .string else { throw Fault(message: "A name or a handle is a text.") }
        if let kind, kind != found { throw Fault(message: "The lines before were of another kind; an audience has one.") }
        kind = found
        text.removeAll()
        text.append(document.string(document.text(of: node)))
    }

    /// Divides a line into its columns (RFC 4180, without line breaks in them).
    private mutating func split(_ line: Span<UInt8>) throws(Fault) {
        fieldCount = 0
        var index = 0
        repeat {
            if fields.count == fieldCount { fields.append(ByteWriter()) }
            fields[fieldCount].removeAll()
            index = line.count > index && line[index] == UInt8(ascii: "\"") ? try quoted(line, index + 1) : plain(line, index)
            fieldCount += 1
            index += 1
        } while index <= line.count
    }

    /// Takes a column up to the next comma, and returns the index of the end.
    private mutating func plain(_ line: Span<UInt8>, _ start: Int) -> Int {
        var end = start
        while end < line.count, line[end] != UInt8(ascii: ",") { end += 1 }
        var (first, last) = (start, end)
        while first < last, line[first] <= 0x20 { first += 1 }
        while last > first, line[last - 1] <= 0x20 { last -= 1 }
        fields[fieldCount].append(line.extracting(first..<last))
        return end
    }

    /// Takes a column in quotation marks, of which two stand for one.
    private mutating func quoted(_ line: Span<UInt8>, _ start: Int) throws(Fault) -> Int {
        var index = start
        while index < line.count {
            if line[index] == UInt8(ascii: "\"") {
                guard index + 1 < line.count, line[index + 1] == UInt8(ascii: "\"") else {
                    guard index + 1 == line.count || line[index + 1] == UInt8(ascii: ",") else { break }
                    return index + 1
                }
                index += 1
            }
            fields[fieldCount].append(line[index])
            index += 1
        }
        throw Fault(message: "The quotation marks of a column are not closed.")
    }

    private static func isBlank(_ line: Span<UInt8>) -> Bool {
        for index in line.indices where line[index] > 0x20 { return false }
        return true
    }

    private static func mayBeJSON(_ line: Span<UInt8>) -> Bool {
        // A quoted column begins like a JSON text. Only a comma behind it, or more, distinguishes it.
        guard line[0] == UInt8(ascii: "\"") else { return line[0] == UInt8(ascii: "{") }
        var document = JSONDocument()
        do { try document.read(line) } catch { return false }
        return true
    }

    /// True if a line is one column as it stands.
    private static func isPlain(_ line: Span<UInt8>) -> Bool {
        for index in line.indices where line[index] <= 0x22 || line[index] == UInt8(ascii: ",") { return false }
        return true
    }
}
