import Basics

/// One line of a log, not yet written.
struct LogLine: Sendable {
    /// Milliseconds since 1970.
    let time: Int64
    let level: LogLevel
    let event: LogEvent
    let message: String
    let fields: KeyValuePairs<LogKey, LogValue>

    /// Room for what a line usually has.
    private static let usualByteCount = 320

    /// The line as one JSON object and a line feed. Of a repeated key the last value counts.
    func json() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.usualByteCount)
        bytes.append(contentsOf: "{\"ts\":\"".utf8)
        appendTime(to: &bytes)
        bytes.append(contentsOf: "\",\"level\":\"".utf8)
        bytes.append(contentsOf: level.word.utf8)
        bytes.append(contentsOf: "\",\"msg\":".utf8)
        TextEscaping.appendJSON(message, to: &bytes)
        bytes.append(contentsOf: ",\"event\":\"".utf8)
        bytes.append(contentsOf: event.rawValue.utf8)
        bytes.append(UInt8(ascii: "\""))
        for index in fields.indices where isLast(index) {
            bytes.append(contentsOf: ",\"".utf8)
            bytes.append(contentsOf: fields[index].key.rawValue.utf8)
            bytes.append(contentsOf: "\":".utf8)
            Self.append(fields[index].value, asWord: false, to: &bytes)
        }
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }

    /// The line for a person: time, level, message, then `key=value` pairs.
    func text() -> [UInt8] {
        var bytes: [UInt8] = []
        appendTime(to: &bytes)
        let word = level.word.uppercased()
        bytes.append(contentsOf: " \(word)\(String(repeating: " ", count: 8 - word.utf8.count))".utf8)
        bytes.append(contentsOf: message.unicodeScalars.allSatisfy(Self.isPrintable) ? Array(message.utf8) : quoted(message))
        bytes.append(contentsOf: " event=\(event.rawValue)".utf8)
        for index in fields.indices where isLast(index) {
            bytes.append(contentsOf: " \(fields[index].key.rawValue)=".utf8)
            Self.append(fields[index].value, asWord: true, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Appends the time. Before 1970 it is the beginning of 1970.
    private func appendTime(to bytes: inout [UInt8]) {
        var text = TimestampText()
        text.show(milliseconds: max(time, 0))
        for index in text.characters.indices { bytes.append(text.characters[index]) }
    }

    /// True if no field behind has the same key.
    private func isLast(_ index: Int) -> Bool {
        !fields[(index + 1)...].contains { $0.key == fields[index].key }
    }

    private func quoted(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        TextEscaping.appendJSON(text, to: &bytes)
        return bytes
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value < 0x7F
    }

    private static func append(_ value: LogValue, asWord: Bool, to bytes: inout [UInt8]) {
        switch value {
        case .string(let text) where asWord: TextEscaping.appendWord(text, to: &bytes)
        case .string(let text): TextEscaping.appendJSON(text, to: &bytes)
        case .int(let number): bytes.append(contentsOf: String(number).utf8)
        case .bool(let truth): bytes.append(contentsOf: (truth ? "true" : "false").utf8)
        case .double(let number) where number.isFinite: bytes.append(contentsOf: number.description.utf8)
        case .double(let number): append(.string(number.description), asWord: asWord, to: &bytes)
        }
    }
}
