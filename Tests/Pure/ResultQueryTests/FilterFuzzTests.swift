import PushModel
import TestSupport
import Testing

@testable import ResultQuery

@Suite struct FilterFuzzTests {
    private static let pieces = [
        "state", "hub", ":", ":", ",", "-", "\"", "\\", " ", "*", ">", "<=", "failed", "label.", "a", "since", "1h", "9", "\n",
        "é", "e\u{301}", "🙂", "\u{0}", "2026-11-21", "attempts", "took", "platform", "apns",
        "user", "to", "title", "today", "yesterday", "14:05", "9:00", "..", "–", "25:00", "until", "waiting", "\u{202E}",
        "\u{A0}",
    ]

    @Test(arguments: 0..<20) func anyTextIsAFilterOrAFaultWithAPlace(seed: Int) {
        var random = SeededRandom(seed)
        for _ in 0..<500 {
            let text = (0..<random.below(12)).map { _ in Self.pieces[random.below(Self.pieces.count)] }.joined()
            do throws(FilterError) {
                let filter = try ResultFilter(text, now: noon)
                let again = try ResultFilter(filter.description, now: 0)
                #expect(again == filter, "\(text)")
            } catch {
                #expect((1...text.unicodeScalars.count + 1).contains(error.position), "\(text)")
                #expect(!error.reason.isEmpty)
            }
        }
    }

    @Test(arguments: 0..<20) func everyFilterIsReadBackFromItsText(seed: Int) throws {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            let filter = Self.filter(&random)
            #expect(try ResultFilter(filter.description, now: 0) == filter, "\(filter)")
        }
    }

    /// Nothing that a stranger types ends the process, and the longest texts are read as fast as others.
    @Test(arguments: [
        "a", "\"", "-", ",", ":", "a:", "a,", "\\", "*", "\u{0}", "\n", "\u{202E}", "👩‍👩‍👧", "e\u{301}", "9:00..", "..", "today ",
        "-today ",
        "9:00 ", "since:9:00 ", "since:\"", "since:today\u{A0}", "2026-11-21", "2026-11-21..", "user:", "to:", "9", "99:99 ", "–",
        "a \u{2028}", "today" + String(repeating: " ", count: 100),
    ])
    func theLongestTextsAreReadToo(piece: String) {
        let count = FilterParser.maximumLength / piece.unicodeScalars.count
        for text in [String(repeating: piece, count: count), String(repeating: piece, count: count + 1)] {
            do throws(FilterError) {
                let filter = try ResultFilter(text, now: noon, zone: LocalZone(name: "east", secondsEast: 50_000))
                #expect(try ResultFilter(filter.description, now: 0) == filter)
            } catch {
                #expect((1...text.unicodeScalars.count + 1).contains(error.position))
            }
        }
    }

    /// The clock may stand anywhere.
    @Test(arguments: [Int64.min, -1, 0, .max])
    func timesAreReadAtAnyMoment(now: Int64) {
        for text in [
            "14:05", "today", "yesterday..now", "since:today 9:00", "0000-01-01", "9999-12-31", "until:9999-12-31 24:00",
        ] {
            do throws(FilterError) {
                let filter = try ResultFilter(text, now: now, zone: LocalZone(name: "west", secondsEast: -80_000))
                #expect(try ResultFilter(filter.description, now: 0) == filter, "\(text)")
            } catch {
                #expect(error.reason.contains("no moment") || error.reason.contains("ends before"), "\(text): \(error)")
            }
        }
    }

    /// The glance at the first members may pass over nothing that reading the whole record would find.
    @Test(arguments: 0..<20) func aGlanceChangesNoAnswer(seed: Int) throws {
        var random = SeededRandom(seed)
        var matchCount = 0
        for _ in 0..<500 {
            let filter = Self.plainFilter(&random)
            let json = Self.record(&random)
            let expected = Records.read(json).map(filter.matches) ?? false
            #expect(filter.finds(json) == expected, "\(filter) of \(json)")
            if expected { matchCount += 1 }
        }
        #expect(matchCount > 20, "the records are so strange that nothing is compared")
    }

    private static let texts = [
        "a", "b", "a b", "a,b", "*", "a*", "\"", "\\", "", "é", "e\u{301}", "🙂\n", "since:1h", "-a", "failed",
    ]

    private static func filter(_ random: inout SeededRandom) -> ResultFilter {
        var filter = ResultFilter()
        for _ in 0..<random.below(5) {
            let field = ResultField.allCases[random.below(ResultField.allCases.count)]
            let subject: ResultFilter.Subject = random.below(5) == 0 ? .label("l_\(random.below(3))") : .field(field)
            let values = (0...random.below(3)).map { _ in value(of: subject, &random) }
            filter.add(ResultFilter.Term(subject: subject, isNegated: random.below(3) == 0, values: values))
        }
        for _ in 0..<random.below(3) { filter.add(sought(&random)) }
        if random.below(3) == 0 { filter.add(since: noon - Int64(random.below(1_000_000_000))) }
        if random.below(3) == 0 { filter.add(until: noon - Int64(random.below(1_000_000_000))) }
        return filter
    }

    private static func sought(_ random: inout SeededRandom) -> Sought {
        let subject = Sought.Subject.allCases[random.below(Sought.Subject.allCases.count)]
        let words =
            texts.filter { !$0.isEmpty } + ["today", "14:05", "9:00..9:30", "hub:a", "push.requests.v1:3:17", "all", "a..b"]
        let values = (0...random.below(3)).map { _ in
            random.below(4) == 0
                ? Sought.Value(["*", "a*", "*é*"][random.below(3)], hasPattern: true)
                : Sought.Value(words[random.below(words.count)])
        }
        return Sought(subject, isNegated: random.below(3) == 0, values: values)
    }

    private static func value(of subject: ResultFilter.Subject, _ random: inout SeededRandom) -> ResultFilter.Value {
        switch subject.values {
        case .number, .duration:
            let comparisons = ResultFilter.Comparison.allCases
            return .number(comparisons[random.below(comparisons.count)], Int64(random.below(100_000)))
        case .words(let words) where random.below(2) == 0: return .text(Array(words[random.below(words.count)].utf8))
        case .words, .text:
            if random.below(4) == 0 { return .pattern(Array(["*", "a*", "*é*", "-*:"][random.below(4)].utf8)) }
            return .text(Array(texts[random.below(texts.count)].utf8))
        }
    }

    /// A filter that the records below match now and then.
    private static func plainFilter(_ random: inout SeededRandom) -> ResultFilter {
        var filter = ResultFilter()
        let fields: [ResultField] = [.state, .hub, .request, .kind, .error, .attempts]
        for _ in 0...random.below(3) {
            let field = fields[random.below(fields.count)]
            let value: ResultFilter.Value =
                field == .attempts
                ? .number(.more, Int64(random.below(3)))
                : random.below(3) == 0 ? .pattern(Array("*".utf8)) : .text(Array(["a", "b"][random.below(2)].utf8))
            filter.add(ResultFilter.Term(subject: .field(field), isNegated: random.below(3) == 0, values: [value]))
        }
        return filter
    }

    private static func record(_ random: inout SeededRandom) -> String {
        let names = ["state", "hub", "request_id", "kind", "st\\u0061te", "other", "error", "attempt_count"]
        let values = [
            "\"a\"", "\"b\"", "\"\\u0061\"", "7", "-1.5e3", "true", "null", "{\"code\":\"a\"}", "[\"state\",{\"hub\":\"b\"}]",
            "\"\"", "{}", "\"state\"",
        ]
        var members = ["\"request_id\":\"a\""]
        for _ in 0..<random.below(7) {
            let blank = ["", " ", "\n\t"][random.below(3)]
            let member = "\"\(names[random.below(names.count)])\"\(blank):\(blank)\(values[random.below(values.count)])\(blank)"
            members.insert(member, at: random.below(members.count + 1))
        }
        let json = "{" + members.joined(separator: ", ") + "}"
        guard random.below(6) == 0 else { return json }
        // Broken somewhere: cut, or with a byte too many.
        let cut = json.index(json.startIndex, offsetBy: random.below(json.count))
        return random.below(2) == 0 ? String(json[..<cut]) : json[..<cut] + ["\"", "}", ",", "x"][random.below(4)] + json[cut...]
    }
}
