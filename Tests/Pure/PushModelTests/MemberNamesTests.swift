import Testing

@testable import PushModel

@Suite struct MemberNamesTests {
    private static let names: [StaticString] = ["a", "b", "abcdefgh", "abcdefghi", "abcdefghj", ""]

    private static func found(_ json: String) throws -> [String?] {
        let document = try readJSON(Array(json.utf8))
        // Whatever stands there before is forgotten.
        var values = [JSONDocument.Node?](repeating: document.root, count: names.count)
        MemberNames(names).find(of: document.root, in: document, to: &values)
        #expect(values == names.map { document.member($0, of: document.root) })
        return values.map { $0.map { document.string(document.text(of: $0)) } }
    }

    @Test(
        arguments: [
            ("{}", [nil, nil, nil, nil, nil, nil]),
            (#"{"b":1,"a":2}"#, ["2", "1", nil, nil, nil, nil]),
            (#"{"a":1,"a":2,"\u0061":3,"A":4,"ab":5}"#, ["1", nil, nil, nil, nil, nil]),
            (#"{"\u0061":{"b":1},"c":[{"b":2}]}"#, [#"{"b":1}"#, nil, nil, nil, nil, nil]),
            (#"{"abcdefghj":1,"abcdefghi":null,"abcdefgh":[],"":"x","abcdefghk":0}"#, [nil, nil, "[]", "null", "1", "x"]),
            (#"["a","b"]"#, [nil, nil, nil, nil, nil, nil]),
            (#""a""#, [nil, nil, nil, nil, nil, nil]),
        ] as [(String, [String?])])
    func theFirstOfANameIsFound(json: String, values: [String?]) throws {
        #expect(try Self.found(json) == values)
    }

    @Test func duplicatesAreNamedUnlessNobodyAsks() throws {
        let json = Array(#"{"a":1,"b":2,"a":3}"#.utf8)
        var document = JSONDocument()
        try document.read(json.span, namingDuplicates: false)
        #expect(document.duplicateKeys.isEmpty)
        try document.read(json.span)
        #expect(document.duplicateKeys.count == 1)
    }
}
