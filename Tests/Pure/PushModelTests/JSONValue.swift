import Foundation
import PushModel

/// A JSON value as the tests understand it, with numbers as they were written.
indirect enum JSONValue: Equatable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string([UInt8])
    case number(String)
    case bool(Bool)
    case null

    init(_ document: JSONDocument, _ node: JSONDocument.Node) {
        let text = document.string(document.text(of: node))
        switch document.kind(of: node) {
        case .object:
            var members: [String: JSONValue] = [:]
            document.forEachMember(of: node) { members[document.string($0)] = JSONValue(document, $1) }
            self = .object(members)
        case .array:
            var elements: [JSONValue] = []
            document.forEachElement(of: node) { elements.append(JSONValue(document, $0)) }
            self = .array(elements)
        case .string: self = .string(Array(text.utf8))
        case .number: self = .number(text)
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        case .null: self = .null
        }
    }

    /// Whether Foundation understood the same.
    func equals(_ other: Any) -> Bool {
        switch self {
        case .object(let members):
            guard let dictionary = other as? [String: Any], dictionary.count == members.count else { return false }
            return members.allSatisfy { name, value in dictionary[name].map { value.equals($0) } ?? false }
        case .array(let elements):
            guard let array = other as? [Any], array.count == elements.count else { return false }
            return zip(elements, array).allSatisfy { $0.equals($1) }
        case .string(let bytes): return (other as? String).map { Array($0.utf8) == bytes } ?? false
        case .number(let text):
            // Foundation goes by way of decimals and may round the last digit differently.
            guard let number = (other as? NSNumber)?.doubleValue, let expected = Double(text) else { return false }
            return abs(number - expected) <= abs(expected) * 1e-14
        case .bool(let value): return (other as? NSNumber)?.boolValue == value
        case .null: return other is NSNull
        }
    }

    /// Whether there is a number that no `Double` holds.
    var hasImmenseNumber: Bool {
        switch self {
        case .object(let members): members.values.contains { $0.hasImmenseNumber }
        case .array(let elements): elements.contains { $0.hasImmenseNumber }
        case .number(let text): Double(text)?.isFinite != true
        case .string, .bool, .null: false
        }
    }
}

/// Writes random JSON in every spelling that RFC 8259 allows, knowing nothing of the reader.
struct JSONGenerator {
    var random: SeededRandom

    mutating func value(depth: Int = 0) -> (text: String, value: JSONValue) {
        switch random.below(depth < 5 ? 8 : 5) {
        case 0: return ("null", .null)
        case 1: return random.chance(1, of: 2) ? ("true", .bool(true)) : ("false", .bool(false))
        case 2, 3:
            let number = number()
            return (number, .number(number))
        case 4:
            let (text, bytes) = string()
            return (text, .string(bytes))
        case 5: return array(depth)
        default: return object(depth)
        }
    }

    private mutating func array(_ depth: Int) -> (String, JSONValue) {
        var texts: [String] = []
        var values: [JSONValue] = []
        for _ in 0..<random.below(6) {
            let (text, value) = value(depth: depth + 1)
            texts.append(blank() + text + blank())
            values.append(value)
        }
        return ("[" + (texts.isEmpty ? blank() : texts.joined(separator: ",")) + "]", .array(values))
    }

    private mutating func object(_ depth: Int) -> (String, JSONValue) {
        var texts: [String] = []
        var members: [String: JSONValue] = [:]
        for position in 0..<random.below(random.chance(1, of: 20) ? 40 : 6) {
            let (keyText, keyBytes) = string(prefix: "\(position).")
            let (text, value) = value(depth: depth + 1)
            texts.append(blank() + keyText + blank() + ":" + blank() + text + blank())
            members[String(decoding: keyBytes, as: UTF8.self)] = value
        }
        return ("{" + (texts.isEmpty ? blank() : texts.joined(separator: ",")) + "}", .object(members))
    }

    private mutating func number() -> String {
        var text = random.chance(1, of: 3) ? "-" : ""
        text += random.chance(1, of: 4) ? "0" : "\(1 + random.below(9))" + digits(random.below(16))
        if random.chance(1, of: 3) { text += "." + digits(1 + random.below(6)) }
        if random.chance(1, of: 3) {
            text += ["e", "E", "e+", "E-", "e-", "E+"][random.below(6)] + digits(1 + random.below(2))
        }
        return text
    }

    private mutating func digits(_ count: Int) -> String { (0..<count).map { _ in "\(random.below(10))" }.joined() }

    private mutating func string(prefix: String = "") -> (String, [UInt8]) {
        var text = "\"" + prefix
        var content = String.UnicodeScalarView(prefix.unicodeScalars)
        for _ in 0..<random.below(12) {
            let scalar = scalar()
            content.append(scalar)
            text += spelling(of: scalar)
        }
        return (text + "\"", Array(String(content).utf8))
    }

    private mutating func scalar() -> Unicode.Scalar {
        let bound: UInt32 = [0x20, 0x80, 0x80, 0x80, 0x800, 0xFFFE, 0x10FFFF][random.below(7)]
        return Unicode.Scalar(UInt32.random(in: 0..<bound, using: &random)) ?? "\u{FFFD}"
    }

    private mutating func spelling(of scalar: Unicode.Scalar) -> String {
        let short: [Unicode.Scalar: String] = [
            "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
        ]
        if let escape = short[scalar], random.chance(1, of: 2) { return escape }
        let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
        guard mustEscape || random.chance(1, of: 4) else { return String(Character(scalar)) }
        return UTF16.encode(scalar).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16, uppercase: random.chance(1, of: 2))
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }

    private mutating func blank() -> String {
        random.chance(1, of: 3) ? [" ", "\n", "\t", "\r\n", "  "][random.below(5)] : ""
    }
}
