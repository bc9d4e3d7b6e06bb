import PushModel
import Testing

@Suite struct JSONDocumentTests {
    @Test func everyWalkVisitsTheSameChildren() throws {
        let document = try readJSON(#"{"a":1,"b":{"x":[]},"c":[2,{},"s"],"d":{}}"#)
        var members: [String] = []
        document.forEachMember(of: document.root) { key, value in
            members.append("\(document.string(key))=\(document.string(document.text(of: value)))")
        }
        #expect(members == ["a=1", #"b={"x":[]}"#, #"c=[2,{},"s"]"#, "d={}"])
        var cursor = document.children(of: document.root)
        var keys: [String] = []
        while let (key, _) = cursor.next(in: document) { keys.append(document.string(document.text(of: key))) }
        #expect(keys == ["a", "b", "c", "d"])
        let list = try #require(document.member("c", of: document.root))
        var elements: [String] = []
        document.forEachElement(of: list) { elements.append(document.string(document.text(of: $0))) }
        #expect(elements == ["2", "{}", "s"])
        #expect(document.childCount(of: list) == 3)
        #expect(document.member("x", of: document.root) == nil)
        #expect(document.member("a", of: list) == nil)
        document.forEachMember(of: list) { _, _ in Issue.record("An array has no members.") }
        document.forEachElement(of: document.root) { _ in Issue.record("An object has no elements.") }
        let scalar = try #require(document.firstChild(of: list))
        var none = document.children(of: scalar)
        #expect(none.next(in: document) == nil)
    }

    /// Half of the text is values, so room for half as many values as it has bytes is enough; room that doubles could be twice that.
    @Test(
        arguments: [
            (#"["a","b\u0041"]"#, ["a", "bA"]), ("[]", []), (#"["a",1]"#, nil), (#"["a",null]"#, nil), (#"{"a":"b"}"#, nil),
            (#""a""#, nil),
        ] as [(String, [String]?)])
    func aListOfTextsAloneIsRead(_ text: String, texts: [String]?) throws {
        var document = JSONDocument()
        try document.read(Array(text.utf8).span)
        #expect(document.texts(at: document.root) == texts)
    }

    @Test(arguments: [1000, 33_000, 66_000, 131_100, 250_000])
    func valuesTakeNoMoreRoomThanTheirTextCanFill(count: Int) throws {
        let text = "[0" + String(repeating: ",0", count: count - 1) + "]"
        let document = try readJSON(text)
        #expect(document.childCount(of: document.root) == count)
        let most = text.utf8.count / 2 + 4
        // An allocation is rounded up, and there is room for 64 values at least.
        #expect(document.valuesByteCount <= 20 * (most + 64) / 8 * 9)
        #expect(document.valuesByteCount >= 20 * count)
    }

    @Test(
        arguments: [
            ("{}", []), (#"{"a":1,"b":2}"#, []), (#"{"a":1,"a":2}"#, ["/a"]), (#"{"a":1,"\u0061":2}"#, ["/a"]),
            (#"{"x":{"a":1,"b":2,"a":3},"y":[{"":1,"":2}]}"#, ["/x/a", "/y/0/"]), (#"{"a":{"a":1}}"#, []),
            (#"{"a":1,"A":2}"#, []),
            (#"{"a":1,"a":2,"a":3}"#, ["/a", "/a"]), (#"[{"a":1},{"a":1}]"#, []), ("{\"é\":1,\"e\u{301}\":2}", []),
        ] as [(String, [String])])
    func keysThatStandTwiceAreNoted(text: String, pointers: [String]) throws {
        let document = try readJSON(text)
        #expect(document.duplicateKeys.map { document.pointer(to: $0) } == pointers)
    }

    @Test(arguments: [2, 3, 23, 24, 25, 26, 100, 1000])
    func duplicatesAreFoundInSmallAndLargeObjects(count: Int) throws {
        for (first, second) in [(0, count - 1), (0, 1), (count / 2 - 1, count / 2), (count - 2, count - 1)] where first < second {
            var names = (0..<count).map { "key-\($0)" }
            #expect(try readJSON(object(names)).duplicateKeys.isEmpty)
            names[second] = names[first]
            let document = try readJSON(object(names))
            #expect(document.duplicateKeys.map { document.string(document.text(of: $0)) } == [names[first]])
        }
    }

    @Test func noMoreThanSixteenDuplicatesAreNamed() throws {
        #expect(try readJSON(object(Array(repeating: "a", count: 500))).duplicateKeys.count == 16)
        #expect(
            try readJSON("[" + Array(repeating: #"{"a":1,"a":2}"#, count: 40).joined(separator: ",") + "]").duplicateKeys.count
                == 16)
    }

    @Test func aDocumentThatIsReadAgainHasNoTraceOfTheFormerText() throws {
        let texts = [
            #"{"a":"x\ny","a":[1,2,{"b":null}],"c":"plain"}"#, "[1,2", "7", "", #"["\u0041",{"k":"\t"}]"#, "{\"a\":\"\\n", "[]",
            String(repeating: "[", count: 70), object((0..<60).map { "key-\($0 % 50)" }), "\"\"",
        ]
        var reused = JSONDocument()
        for first in texts {
            for second in texts {
                _ = try? reused.read(Array(first.utf8).span)
                var fresh = JSONDocument()
                let expected = Result { () throws(JSONError) in try fresh.read(Array(second.utf8).span) }
                let actual = Result { () throws(JSONError) in try reused.read(Array(second.utf8).span) }
                #expect(reused.bytes == fresh.bytes)
                #expect(reused.duplicateKeys == fresh.duplicateKeys)
                switch (expected, actual) {
                case (.success, .success): #expect(outline(reused, reused.root) == outline(fresh, fresh.root))
                case (.failure(let left), .failure(let right)):
                    #expect(left == right)
                    #expect(reused.bytes.isEmpty)
                default: Issue.record("The outcome depends on the text before.")
                }
            }
        }
    }

    @Test func addedTextStandsBesideTheRecordsOwn() throws {
        var document = try readJSON(#"{"a":"b\n"}"#)
        let added = document.add(Array("later".utf8).span)
        let empty = document.add([UInt8]().span)
        #expect(document.string(added) == "later")
        #expect(added.count == 5)
        #expect(empty.isEmpty)
        #expect(document.isEqual(added, to: "later"))
        #expect(!document.isEqual(added, to: "late"))
        #expect(!document.isEqual(added, to: "latex"))
        let value = try #require(document.member("a", of: document.root))
        #expect(document.string(document.text(of: value)) == "b\n")
        #expect(!document.isEqual(added, to: document.text(of: value)))
    }

    @Test(
        arguments: [
            ("[", 1 << 20, .nestedTooDeeply), ("{", 1 << 20, .unexpectedByte), ("]", 500 << 10, .unexpectedByte),
            ("[{\"\":", 100_000, .nestedTooDeeply), (" ", 1 << 20, .unexpectedEnd), ("\"", 500 << 10, .trailingBytes),
            ("\\", 500 << 10, .unexpectedByte), ("-", 1 << 20, .invalidNumber),
            ("\u{0}", JSONDocument.maximumByteCount + 1, .tooLarge),
        ] as [(String, Int, JSONError.Fault)])
    func hostileMegabytesAreRefused(piece: String, count: Int, reason: JSONError.Fault) {
        let text = [[UInt8]](repeating: Array(piece.utf8), count: count).flatMap { $0 }
        #expect(failure(of: text)?.reason == reason)
    }

    @Test func aHundredThousandKeysAreReadWithoutComparingEachWithEach() throws {
        var names = (0..<100_000).map { "n\($0)" }
        #expect(try readJSON(object(names)).duplicateKeys.isEmpty)
        names[99_999] = names[0]
        let document = try readJSON(object(names))
        let duplicate = try #require(document.duplicateKeys.first)
        #expect(document.pointer(to: duplicate) == "/n0")
        let longKeys = (0..<100).map { String(repeating: "k", count: 5000) + "\($0)" }
        #expect(try readJSON(object(longKeys)).duplicateKeys.isEmpty)
    }

    @Test func aQuarterMillionElementsAreReadAndPointedTo() throws {
        let document = try readJSON("[" + String(repeating: "0,", count: 249_999) + "7]")
        #expect(document.childCount(of: document.root) == 250_000)
        var last = document.root
        document.forEachElement(of: document.root) { last = $0 }
        #expect(document.integer(at: last) == 7)
        for _ in 0..<32 { #expect(document.pointer(to: last) == "/249999") }
        #expect(try readJSON("[" + String(repeating: "[],", count: 150_000) + "{}]").childCount(of: document.root) == 150_001)
    }

    private func object(_ names: [String]) -> String {
        "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
    }

    /// Kinds and texts of `node` and all that is in it.
    private func outline(_ document: JSONDocument, _ node: JSONDocument.Node) -> [String] {
        var lines = ["\(document.kind(of: node)) \(document.string(document.text(of: node)))"]
        var children = document.children(of: node)
        while let (key, value) = children.next(in: document) {
            if key != value { lines.append("key \(document.string(document.text(of: key)))") }
            lines += outline(document, value)
        }
        return lines
    }
}
