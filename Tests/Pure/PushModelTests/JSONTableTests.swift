import PushModel
import Testing

struct RefusedText: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let reason: JSONError.Fault
    let offset: Int
    let pointer: String

    init(_ text: String, _ reason: JSONError.Fault, _ offset: Int, _ pointer: String = "") {
        self.init(bytes: Array(text.utf8), reason, offset, pointer)
    }

    init(bytes: [UInt8], _ reason: JSONError.Fault, _ offset: Int, _ pointer: String = "") {
        self.bytes = bytes
        self.reason = reason
        self.offset = offset
        self.pointer = pointer
    }

    var testDescription: String { "\(reason.rawValue): \(String(decoding: bytes.prefix(40), as: UTF8.self).debugDescription)" }
}

@Suite struct JSONTableTests {
    static let structure: [RefusedText] = [
        .init("", .empty, 0), .init(" ", .unexpectedEnd, 1), .init(" \t\r\n", .unexpectedEnd, 4),
        .init("{", .unexpectedEnd, 1), .init("[", .unexpectedEnd, 1), .init("{\"a\"", .unexpectedEnd, 4),
        .init("{\"a\":", .unexpectedEnd, 5, "/a"), .init("{\"a\": ", .unexpectedEnd, 6, "/a"),
        .init("{\"a\":1", .unexpectedEnd, 6),
        .init("[1", .unexpectedEnd, 2), .init("[1,", .unexpectedEnd, 3, "/1"), .init("[[1],{\"b\":[", .unexpectedEnd, 11, "/1/b"),
        .init("{\"a\":1,", .unexpectedEnd, 7), .init("{\"a\":1,\"", .unexpectedEnd, 8),
        .init("[1,]", .unexpectedByte, 3, "/1"), .init("[,1]", .unexpectedByte, 1, "/0"), .init("[,]", .unexpectedByte, 1, "/0"),
        .init("[1,,2]", .unexpectedByte, 3, "/1"), .init("[1 2]", .unexpectedByte, 3), .init("[1:2]", .unexpectedByte, 2),
        .init("{\"a\":1,}", .unexpectedByte, 7), .init("{,}", .unexpectedByte, 1), .init("{\"a\":,}", .unexpectedByte, 5, "/a"),
        .init("{\"a\" 1}", .unexpectedByte, 5), .init("{\"a\",1}", .unexpectedByte, 4), .init("{\"a\"}", .unexpectedByte, 4),
        .init("{\"a\":1 \"b\":2}", .unexpectedByte, 7), .init("{a:1}", .unexpectedByte, 1), .init("{1:2}", .unexpectedByte, 1),
        .init("{null:2}", .unexpectedByte, 1), .init("[1}", .unexpectedByte, 2), .init("{\"a\":1]", .unexpectedByte, 6),
        .init("{]", .unexpectedByte, 1), .init("[}", .unexpectedByte, 1, "/0"), .init("]", .unexpectedByte, 0),
        .init("}", .unexpectedByte, 0), .init(",", .unexpectedByte, 0), .init(":", .unexpectedByte, 0),
        .init("'a'", .unexpectedByte, 0), .init("[1,//x\n2]", .unexpectedByte, 3, "/1"), .init("/**/1", .unexpectedByte, 0),
        .init("[1\u{A0}]", .unexpectedByte, 2), .init("\u{B}1", .unexpectedByte, 0), .init("\u{2028}1", .unexpectedByte, 0),
        .init("\u{0}", .unexpectedByte, 0), .init("[\u{0}1]", .unexpectedByte, 1, "/0"),
        .init("1 2", .trailingBytes, 2), .init("{}x", .trailingBytes, 2), .init("[]]", .trailingBytes, 2),
        .init("{}{}", .trailingBytes, 2), .init("nullnull", .trailingBytes, 4), .init("{}\u{0}", .trailingBytes, 2),
        .init("\"\"\"", .trailingBytes, 2), .init("[],", .trailingBytes, 2),
        .init("{\"a\":[1,{\"b~/c\":tru x}]}", .unexpectedByte, 16, "/a/1/b~0~1c"),
        .init("{\"\":{\"\":x}}", .unexpectedByte, 8, "//"), .init("{\"a\\u002fb\":x}", .unexpectedByte, 12, "/a~1b"),
    ]

    static let scalars: [RefusedText] = [
        .init("nul", .unexpectedEnd, 3), .init("t", .unexpectedEnd, 1), .init("nulL", .unexpectedByte, 0),
        .init("tx", .unexpectedByte, 0), .init("[truE]", .unexpectedByte, 1, "/0"), .init("True", .unexpectedByte, 0),
        .init("NaN", .unexpectedByte, 0), .init("nan", .unexpectedByte, 0), .init("Infinity", .unexpectedByte, 0),
        .init("-Infinity", .invalidNumber, 1), .init("0123", .invalidNumber, 1), .init("-01", .invalidNumber, 2),
        .init("00", .invalidNumber, 1), .init("-", .invalidNumber, 1), .init("--1", .invalidNumber, 1),
        .init("+1", .unexpectedByte, 0),
        .init("1.", .invalidNumber, 2), .init(".5", .unexpectedByte, 0), .init("-.5", .invalidNumber, 1),
        .init("1e", .invalidNumber, 2), .init("1e+", .invalidNumber, 3), .init("1E-", .invalidNumber, 3),
        .init("1.e1", .invalidNumber, 2), .init("1e1.5", .trailingBytes, 3), .init("0x10", .trailingBytes, 1),
        .init("1_000", .trailingBytes, 1), .init("1,000", .trailingBytes, 1), .init("1f", .trailingBytes, 1),
        .init("[0,-]", .invalidNumber, 4, "/1"), .init("{\"a\":[1.x]}", .invalidNumber, 8, "/a/0"),
        .init("１", .unexpectedByte, 0),
        .init("\"abc", .unexpectedEnd, 4), .init("\"\\", .unexpectedEnd, 2), .init("\"\\u12", .unexpectedEnd, 5),
        .init("\"\\ud800", .unexpectedEnd, 7), .init("\"\\ud83d\\ude0", .unexpectedEnd, 12),
        .init("\"\\\"", .unexpectedEnd, 3), .init("\"\\u12\"", .invalidString, 1), .init("\"\\u12G4\"", .invalidString, 1),
        .init("\"\\x41\"", .invalidString, 1), .init("\"\\'\"", .invalidString, 1), .init("\"\\U0041\"", .invalidString, 1),
        .init("\"\\\u{0}\"", .invalidString, 1), .init("\"\\u+123\"", .invalidString, 1),
        .init("\"\\ud800\"", .invalidString, 1), .init("\"\\udc00\"", .invalidString, 1),
        .init("\"ab\\udfff\"", .invalidString, 3),
        .init("\"\\ud800\\n\"", .invalidString, 1), .init("\"\\ud800\\u0041\"", .invalidString, 1),
        .init("\"\\ud800\\ud800\"", .invalidString, 1), .init("\"\\udc00\\ud800\"", .invalidString, 1),
        .init("\"\\ud800x\"", .invalidString, 1), .init("\"a\nb\"", .invalidString, 2), .init("\"a\tb\"", .invalidString, 2),
        .init("\"\u{0}\"", .invalidString, 1), .init("\"\u{1F}\"", .invalidString, 1), .init("\"\\n\u{1}\"", .invalidString, 3),
        .init("{\"\\q\":1}", .invalidString, 2), .init("{\"a\":\"\\q\"}", .invalidString, 6, "/a"),
    ]

    static let encoding: [RefusedText] = [
        .init(bytes: quoted([0xC0, 0xAF]), .invalidUTF8, 1), .init(bytes: quoted([0xC1, 0xBF]), .invalidUTF8, 1),
        .init(bytes: quoted([0xE0, 0x80, 0xAF]), .invalidUTF8, 1), .init(bytes: quoted([0xE0, 0x9F, 0xBF]), .invalidUTF8, 1),
        .init(bytes: quoted([0xF0, 0x80, 0x80, 0x80]), .invalidUTF8, 1),
        .init(bytes: quoted([0xF0, 0x8F, 0xBF, 0xBF]), .invalidUTF8, 1),
        .init(bytes: quoted([0xED, 0xA0, 0x80]), .invalidUTF8, 1), .init(bytes: quoted([0xED, 0xBF, 0xBF]), .invalidUTF8, 1),
        .init(bytes: quoted([0xF4, 0x90, 0x80, 0x80]), .invalidUTF8, 1),
        .init(bytes: quoted([0xF5, 0x80, 0x80, 0x80]), .invalidUTF8, 1),
        .init(bytes: quoted([0xFF]), .invalidUTF8, 1), .init(bytes: quoted([0x61, 0x80]), .invalidUTF8, 2),
        .init(bytes: quoted([0xC3]), .invalidUTF8, 1), .init(bytes: quoted([0xE2, 0x82]), .invalidUTF8, 1),
        .init(bytes: [0x22, 0xF0, 0x9F, 0x98], .invalidUTF8, 1), .init(bytes: [0x22, 0x5C, 0x6E, 0xFF, 0x22], .invalidUTF8, 3),
        .init(bytes: Array("{\"".utf8) + [0xFF] + Array("\":1}".utf8), .invalidUTF8, 2),
        .init(bytes: Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), .invalidUTF8, 6, "/a"),
        .init(bytes: [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], .unexpectedByte, 0),
        .init(bytes: [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], .unexpectedByte, 0),
        .init(bytes: [0x7B, 0x00, 0x7D, 0x00], .unexpectedByte, 1),
        .init(bytes: [0x00, 0x7B, 0x00, 0x7D], .unexpectedByte, 0),
    ]

    private static func quoted(_ bytes: [UInt8]) -> [UInt8] { [0x22] + bytes + [0x22] }

    @Test(arguments: structure + scalars + encoding)
    func textThatIsNoJSONIsRefusedWithReasonByteAndPointer(row: RefusedText) throws {
        let error = try #require(failure(of: row.bytes))
        #expect(error == JSONError(reason: row.reason, offset: row.offset, pointer: row.pointer))
        #expect(error.sentence.hasSuffix("."))
        #expect(row.reason == .empty || error.sentence.contains("byte \(row.offset)"))
        #expect(row.pointer.isEmpty || error.sentence.contains(row.pointer))
    }

    @Test(
        arguments: [
            ("null", .null, "null"), (" true ", .true, "true"), ("\r\n\tfalse\n", .false, "false"), ("0", .number, "0"),
            ("-0", .number, "-0"), ("1e400", .number, "1e400"), ("-1.50E-07", .number, "-1.50E-07"), ("0.0", .number, "0.0"),
            ("0e0", .number, "0e0"), ("123456789012345678901234567890", .number, "123456789012345678901234567890"),
            ("\"\"", .string, ""), ("\"\\u0000\"", .string, "\u{0}"), ("\"a\\u0000b\"", .string, "a\u{0}b"),
            ("\"\\ud83d\\ude00\"", .string, "\u{1F600}"), ("\"\\uD83D\\uDE00!\"", .string, "\u{1F600}!"),
            ("\"\\ud800\\udc00\\udbff\\udfff\"", .string, "\u{10000}\u{10FFFF}"),
            ("\"\\uFFFF\\uffff\"", .string, "\u{FFFF}\u{FFFF}"),
            ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", .string, "\"\\/\u{8}\u{C}\n\r\t"),
            ("\"\u{7F}\u{2028}\u{FFFD}\"", .string, "\u{7F}\u{2028}\u{FFFD}"),
            ("\"\\u00e9é😀\"", .string, "éé😀"), ("\"\u{FEFF}\"", .string, "\u{FEFF}"), ("[ ]", .array, "[ ]"),
            ("{ }", .object, "{ }"),
            (" {\"a\" : [ 1 , 2 ] } ", .object, "{\"a\" : [ 1 , 2 ] }"),
        ] as [(String, JSONDocument.Kind, String)])
    func validTextIsReadWithItsContent(text: String, kind: JSONDocument.Kind, content: String) throws {
        let document = try readJSON(text)
        #expect(document.kind(of: document.root) == kind)
        #expect(Array(document.string(document.text(of: document.root)).utf8) == Array(content.utf8))
    }

    @Test func everyReasonHasASentenceOfItsOwn() {
        let sentences = JSONError.Fault.allCases.map { JSONError(reason: $0, offset: 7, pointer: "/x").sentence }
        #expect(Set(sentences).count == JSONError.Fault.allCases.count)
    }

    @Test func sixtyFourLevelsAreReadAndOneMoreIsNot() throws {
        func nested(_ levels: Int) -> String { String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
        let document = try readJSON(nested(64))
        var depth = 1
        var node = document.root
        while let inner = document.firstChild(of: node) {
            depth += 1
            node = inner
        }
        #expect(depth == 64)
        let pointer = String(repeating: "/0", count: 64)
        #expect(failure(of: Array(nested(65).utf8)) == JSONError(reason: .nestedTooDeeply, offset: 64, pointer: pointer))
        let objects = String(repeating: "{\"a\":", count: 65)
        let named = String(repeating: "/a", count: 64)
        #expect(failure(of: Array(objects.utf8)) == JSONError(reason: .nestedTooDeeply, offset: 320, pointer: named))
    }

    @Test(
        arguments: [
            ("9223372036854775807", Int64.max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
            ("-9223372036854775809", nil), ("18446744073709551616", nil), ("-0", 0), ("0", 0), ("-1", -1), ("1.0", nil),
            ("1e2", nil),
            ("99999999999999999999999999", nil), ("\"1\"", nil), ("null", nil), ("true", nil), ("[1]", nil),
        ] as [(String, Int64?)])
    func integersAreReadUpToTheLimitsOf64Bits(text: String, value: Int64?) throws {
        let document = try readJSON(text)
        #expect(document.integer(at: document.root) == value)
    }

    @Test func pointersLeadToEveryValueAndKey() throws {
        let document = try readJSON(#"{"a/b":[{"m~n":1,"":[true]}],"~1":{"x":"y"},"\u00e9":null}"#)
        var pointers: [String] = []
        func walk(_ node: JSONDocument.Node) {
            pointers.append(document.pointer(to: node))
            var children = document.children(of: node)
            while let (key, value) = children.next(in: document) {
                if key != value { #expect(document.pointer(to: key) == document.pointer(to: value)) }
                walk(value)
            }
        }
        walk(document.root)
        #expect(pointers == ["", "/a~1b", "/a~1b/0", "/a~1b/0/m~0n", "/a~1b/0/", "/a~1b/0//0", "/~01", "/~01/x", "/é"])
    }

    @Test(arguments: ["x", "~", "/", "é", "😀", "a~/"])
    func aPointerIsCutAtACharacterWhenANameIsLong(piece: String) throws {
        for extra in 0..<4 {
            let name = String(repeating: "a", count: extra) + String(repeating: piece, count: 1000)
            let document = try readJSON("{\"\(name)\":1}")
            let key = try #require(document.firstChild(of: document.root))
            let pointer = document.pointer(to: key)
            #expect(pointer.hasSuffix("…"))
            #expect(pointer.utf8.count <= JSONDocument.maximumPointerByteCount + 3)
            #expect(pointer.utf8.count > JSONDocument.maximumPointerByteCount - 4)
            let whole = name.replacing("~", with: "~0").replacing("/", with: "~1")
            #expect(("/" + whole).hasPrefix(pointer.dropLast()))
            #expect(!pointer.dropLast().hasSuffix("~"))
        }
    }
}
