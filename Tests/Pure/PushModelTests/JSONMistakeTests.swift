import PushModel
import Testing

/// What a person is told of a text that is no JSON.
@Suite struct JSONMistakeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let line: Int
        let column: Int
        let cause: String

        init(_ text: String, _ line: Int, _ column: Int, _ cause: String) {
            (self.text, self.line, self.column, self.cause) = (text, line, column, cause)
        }

        var testDescription: String { text.debugDescription }
    }

    static let rows: [Row] = [
        Row("{\"a\": 1,\n}", 1, 8, "Nothing follows this comma"), Row("[1, 2, ]", 1, 6, "Nothing follows this comma"),
        Row("{'a': 1}", 1, 2, "not in single ones"), Row("{\"é\": 'x'}", 1, 7, "not in single ones"),
        Row("{“a”: 1}", 1, 2, "straight double quotes"), Row("{\"a\": 1 // one\n}", 1, 9, "no comments"),
        Row("{\n # one\n}", 2, 2, "no comments"), Row("{\"a\": 1\n", 1, 1, "{ is not closed by }"),
        Row("{\"a\":\n [1,\n", 2, 2, "[ is not closed by ]"), Row("{\n \"a\": \"x\n}", 2, 9, "closing quotation mark is missing"),
        Row("{\"a\": \"x", 1, 7, "no closing quotation mark"), Row("{\"a\": 1 \"b\": 2}", 1, 9, "A comma is missing"),
        Row("{\"a\" 1}", 1, 6, "comma or a colon"), Row("{\"a\": say}", 1, 7, "Texts stand in double quotes"),
        Row("{\"a\": True}", 1, 7, "true, false and null"), Row("{a: 1}", 1, 2, "A name stands in double quotes"),
        Row("[\"a\", b]", 1, 7, "Texts stand in double quotes"), Row("{\"a\": \"say \"hi\"\"}", 1, 13, "is not written \\\""),
        Row("{\"a\": }", 1, 7, "A value is missing"), Row("{\"a\": 1,, \"b\": 2}", 1, 9, "Nothing stands before this comma"),
        Row("{\"a\"}", 1, 5, "without a colon"), Row("[1}", 1, 3, "closed by ]"), Row("{\"a\": 1]", 1, 8, "closed by }"),
        Row("{\"a\": 01}", 1, 8, "A number is written"), Row("{\"a\": +1}", 1, 7, "A number is written"),
        Row("{\"a\": \"\\x\"}", 1, 8, "no such escape"), Row("{\"a\": \"b\tc\"}", 1, 9, "control character"),
        Row("{\"a\": 1}}", 1, 9, "one too many"), Row("{\"a\": 1},\n{}", 1, 9, "without commas"),
        Row("{} {}", 1, 4, "More text follows"), Row("hello", 1, 1, "begins with a bracket"),
        Row("]", 1, 1, "begins with a bracket"),
        Row("{\"a\":\n \u{1}}", 2, 2, "Texts stand in double quotes"),
    ]

    @Test(arguments: rows) func theCauseAndItsPlaceAreNamed(row: Row) throws {
        let bytes = Array(row.text.utf8)
        let mistake = try #require(failure(of: bytes)).mistake(in: bytes.span)
        #expect(mistake.line == row.line && mistake.column == row.column)
        #expect(mistake.cause.contains(row.cause), "\(mistake.cause)")
    }

    @Test(arguments: JSONTableTests.structure + JSONTableTests.scalars)
    func everyMistakeHasAPlaceInItsTextAndASentence(row: RefusedText) throws {
        let mistake = try #require(failure(of: row.bytes)).mistake(in: row.bytes.span)
        let lines = row.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        #expect((1...lines.count).contains(mistake.line))
        #expect((1...lines[mistake.line - 1].count + 1).contains(mistake.column))
        #expect(mistake.cause.hasSuffix("."))
    }

    @Test func anErrorOfAnotherTextHasAPlaceAllTheSame() {
        for reason in JSONError.Fault.allCases {
            let mistake = JSONError(reason: reason, offset: 99, pointer: "").mistake(in: Array("{\"a".utf8).span)
            #expect(mistake.line == 1 && (1...4).contains(mistake.column))
        }
    }
}
