import PushModel
import TestSupport
import Testing

@testable import ResultQuery

@Suite struct FilterFuzzTests {
    private static let pieces = [
        "state", "hub", ":", ":", ",", "-", "\"", "\\", " ", "*", ">", "<=", "failed", "label.", "a", "since", "1h", "9", "\n",
        "é", "e\u{301}", "🙂", "\u{0}", "2026-11-21", "attempts", "took", "platform", "apns",
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
        if random.below(3) == 0 { filter.add(since: noon - Int64(random.below(1_000_000_000))) }
        if random.below(3) == 0 { filter.add(until: noon - Int64(random.below(1_000_000_000))) }
        return filter
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
