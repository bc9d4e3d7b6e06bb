import PushModel
import TestSupport
import Testing

@testable import ResultQuery

@Suite struct RequestTokensTests {
    /// An index finds what the matcher finds, and bytes rule out nothing of it.
    @Test(arguments: 0..<20) func tokensAndBytesLoseNoMatch(seed: Int) throws {
        var random = SeededRandom(seed)
        var (named, possible, ruledOut) = (0, 0, 0)
        for _ in 0..<400 {
            let json = Self.record(&random)
            let headers =
                random.below(5) == 0 ? RequestRecords.headers(id: Self.tags[random.below(Self.tags.count)]) : RecordHeaders()
            let filter = Self.filter(&random)
            let matcher = RequestMatcher(filter)
            let request = RequestRecords.read(json, headers: headers)
            let match = matcher.match(request, from: "push.requests.v1", partition: 3)
            let isRuledOut = matcher.rulesOut(bytesOf: json, headers: headers)
            if isRuledOut { ruledOut += 1 }
            #expect(match == .none || !isRuledOut, "\(filter.terms) \(filter.sought) of \(json)")
            #expect(match == .none || !matcher.rulesOut(bytesOf: json))
            guard let query = RequestQuery(filter) else {
                #expect(filter.sought.contains { $0.values.contains(where: \.hasPattern) })
                continue
            }
            let answer = query.match(RequestTokens(of: request))
            // Terms mind capitals, and tokens do not.
            if filter.terms.isEmpty || match != .none { #expect(answer == match, "\(filter.terms) \(filter.sought) of \(json)") }
            if match == .possible {
                #expect(query.possible.match(RequestTokens(of: request)) == .named(asPerson: false))
                possible += 1
            }
            if case .named = match { named += 1 }
        }
        #expect(named > 10 && possible > 3 && ruledOut > 10, "\(named) \(possible) \(ruledOut): nothing is compared")
    }

    @Test func wordsAreSplitAlikeInTitlesAndQuestions() {
        #expect(Self.words("Hello, wörld! 42") == ["hello", "wörld", "42"])
        #expect(Self.words("e\u{301}tude") == ["e\u{301}tude"])
        #expect(Self.words("हिन्दी שלום") == ["हिन्दी", "שלום"])
        #expect(Self.words("🎉 -- ") == [] && Self.words("") == [] && Self.words("\u{0}") == [])
        #expect(Self.words("İstanbul") == ["i\u{307}stanbul"])
        #expect(Self.words(String(repeating: "a", count: 1 << 20)) == [String(repeating: "a", count: 64)])
    }

    private static func words(_ text: String) -> [String] {
        TextWords.words(of: text).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aLongBodyHasItsFirstWords() throws {
        let body = (0..<300).map { "w\($0)" }.joined(separator: " ")
        let json = #"{"audience":{"broadcast":true},"message":{"title":"w0 Title","body":""# + body + #""}}"#
        let request = RequestRecords.read(json)
        let words = RequestTokens(of: request).all.filter { $0.kind == .word }
        #expect(words.count == 64 && words.contains(.init(.word, text: Array("title".utf8))))
        for word in ["w62", "w63", "w299"] {
            let filter = try ResultFilter([Sought(.title, is: word)])
            #expect((RequestMatcher(filter).match(json) != .none) == (word == "w62"))
        }
    }

    @Test func tokensSayWhatARequestIs() {
        let tokens = RequestTokens(of: RequestRecords.read(RequestRecords.tags)).all
        let wanted: [(RequestTokens.Kind, String)] = [
            (.all, ""), (.broad, ""), (.audience, "tags"), (.tag, "news"), (.tag, "sport"), (.id, "r-2"), (.label, "kind=mail"),
            (.value, "mail"),
            (.word, "goal"),
        ]
        #expect(tokens == Set(wanted.map { RequestTokens.Token($0.0, text: Array($0.1.utf8)) }))
        #expect(!RequestTokens(of: RequestRecords.read(RequestRecords.users)).all.contains(.init(.broad)))
    }

    @Test func aNeedleIsFoundWhereverItStands() {
        for length in 1...20 {
            let text = String("Needle-0123456789-xyzq".prefix(length))
            let needle = ByteNeedle(text, ignoringCase: true)
            for place in 0...40 {
                let haystack = Array(
                    (String(repeating: "n", count: place) + text.uppercased() + String(repeating: "e", count: 40 - place)).utf8)
                let first = needle.place(in: haystack)
                #expect(first == (length == 1 ? 0 : place), "\(length) at \(place)")
                let isFoundAsWritten = ByteNeedle(text, ignoringCase: false).isFound(in: haystack)
                #expect(isFoundAsWritten == (text == text.uppercased()), "\(length) at \(place)")
                #expect(!ByteNeedle(text + "?", ignoringCase: true).isFound(in: haystack))
            }
            #expect(!needle.isFound(in: Array(text.utf8.dropLast())) && needle.isFound(in: Array(text.utf8)))
        }
    }
}

extension RequestTokensTests {
    private static let tags = ["alice", "Alice", "bob", "K9", "news", "abcd", "ABCD", "r-1", "push.requests.v1:3:17", "1"]
    private static let names =
        tags + [
            "\u{212A}9", "é", "É", "e\u{301}", "İ", "i\u{307}", "a b", "x/y", "order", "אב", "new order", "ß", "ẞ", "<ab cd>",
            "a\"b", "a\\b",
        ]

    private static func one(of texts: [String], _ random: inout SeededRandom) -> String { texts[random.below(texts.count)] }

    /// A JSON string, with an escape for some characters now and then.
    private static func quoted(_ text: String, _ random: inout SeededRandom) -> String {
        var json = "\""
        let escapes = random.below(8) == 0
        for unit in text.unicodeScalars {
            switch unit {
            case "\"", "\\": json += "\\\(unit)"
            case "/" where random.below(2) == 0: json += "\\/"
            case _ where escapes && unit.value < 0x1_0000 && random.below(3) == 0:
                let digits = String(unit.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(unit)
            }
        }
        return json + "\""
    }

    private static func list(of texts: [String], _ random: inout SeededRandom) -> String {
        let chosen = Set((0...random.below(3)).map { _ in one(of: texts, &random) })
        return "[" + chosen.sorted().map { quoted($0, &random) }.joined(separator: ",") + "]"
    }

    private static func audience(_ random: inout SeededRandom) -> String {
        switch random.below(7) {
        case 0: return #"{"broadcast":true}"#
        case 1: return #"{"installations":\#(list(of: tags, &random))}"#
        case 2: return #"{"categories":\#(list(of: tags, &random))}"#
        case 3: return #"{"tag_expression":\#(quoted(one(of: tags, &random) + "&&!(" + one(of: tags, &random) + ")", &random))}"#
        case 4:
            let handle = one(of: ["abcd", "<ab cd>", "ABCD", "ab"], &random)
            return
                #"{"devices":[{"platform":"\#(random.below(2) == 0 ? "apple" : "gcm")","handle":\#(quoted(handle, &random))}]}"#
        default: return #"{"users":\#(list(of: names, &random))}"#
        }
    }

    private static func record(_ random: inout SeededRandom) -> String {
        var members = [#""audience": \#(audience(&random))"#]
        if random.below(2) == 0 { members.append(#""id":\#(quoted(one(of: tags, &random), &random))"#) }
        if random.below(3) == 0 { members.append(#""source":\#(quoted(one(of: names, &random), &random))"#) }
        if random.below(3) == 0 { members.append(#""tenant":"\#(one(of: ["alice", "bob"], &random))""#) }
        if random.below(2) == 0 { members.append(#""labels":{"kind":\#(quoted(one(of: names, &random), &random))}"#) }
        let title = quoted(one(of: names, &random) + " " + one(of: names, &random), &random)
        switch random.below(4) {
        case 0: members.append(#""template":{"alert":\#(title)}"#)
        case 1: members.append(#""payloads":{"apple":{"body":{"aps":{"alert":\#(title)},"audience":"x"}}}"#)
        default: members.append(#""message":{"title":\#(title),"body":\#(quoted(one(of: names, &random), &random))}"#)
        }
        if random.below(5) == 0 {
            members.append(
                #""parent":{"id":"\#(one(of: ["news", "r-1"], &random))","key":"k","partition":0,"chunk":0,"chunks":2,"#
                    + #""published_at":"2026-11-21T11:00:00Z","remaining":[{"audience":{"users":\#(list(of: names, &random))}}]}"#
            )
        }
        return "{" + members.shuffled(using: &random).joined(separator: ",") + "}"
    }

    private static func filter(_ random: inout SeededRandom) -> ResultFilter {
        var filter = ResultFilter()
        for _ in 0...random.below(2) {
            let subject = Sought.Subject.allCases[random.below(Sought.Subject.allCases.count)]
            let texts = subject == .audience ? AudienceSummary.Kind.allCases.map(\.rawValue) : names
            let values = (0...random.below(3)).map { _ in
                let text = one(of: texts, &random)
                return random.below(8) == 0 ? Sought.Value(text.prefix(2) + "*", hasPattern: true) : Sought.Value(text)
            }
            filter.add(Sought(subject, isNegated: random.below(4) == 0, values: values))
        }
        guard random.below(3) == 0 else { return filter }
        let subjects: [ResultFilter.Subject] = [
            .field(.request), .field(.source), .field(.tenant), .label("kind"), .field(.state),
        ]
        let value = Array(one(of: names, &random).utf8)
        filter.add(
            ResultFilter.Term(
                subject: subjects[random.below(subjects.count)], isNegated: random.below(2) == 0,
                values: [random.below(4) == 0 ? .pattern(value + Array("*".utf8)) : .text(value)]))
        return filter
    }
}

extension ByteNeedle {
    fileprivate func place(in bytes: [UInt8]) -> Int? { place(in: bytes.span, from: 0) }

    fileprivate func isFound(in bytes: [UInt8]) -> Bool { isFound(in: bytes.span) }
}
