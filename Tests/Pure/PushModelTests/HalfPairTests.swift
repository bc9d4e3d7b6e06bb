import PushModel
import Testing

/// Texts with an escape that is half a surrogate pair, which no UTF-8 can hold.
@Suite struct HalfPairTests {
    private static func read(_ text: [UInt8], isTolerant: Bool) -> Result<JSONDocument, JSONError> {
        var document = JSONDocument()
        do throws(JSONError) {
            try document.read(text.span, replacingHalfPairs: isTolerant)
            return .success(document)
        } catch {
            return .failure(error)
        }
    }

    @Test(
        arguments: [
            (#""\ud83d""#, "\u{FFFD}"), (#""\udc00""#, "\u{FFFD}"), (#""\ud83dx""#, "\u{FFFD}x"), (#""\ud83d\n""#, "\u{FFFD}\n"),
            (#""a\ud83d\u0041b""#, "a\u{FFFD}Ab"), (#""\ud83d\ud83d\ude80""#, "\u{FFFD}🚀"),
            (#""\ude80\ud83d""#, "\u{FFFD}\u{FFFD}"),
        ])
    func halfAPairIsReplacedAndMarked(text: String, content: String) throws {
        let document = try Self.read(Array(text.utf8), isTolerant: true).get()
        #expect(document.string(document.text(of: document.root)) == content)
        #expect(document.illFormedTexts == [document.root] && document.isIllFormed(document.root))
        #expect(failure(of: Array(text.utf8))?.reason == .invalidString)
    }

    @Test(arguments: [#""\ud83d\ude80""#, #""\uFFFD""#, "\"\u{FFFD}\"", "7", #"{"\u00e9":[]}"#])
    func whatIsWellFormedIsNotMarked(text: String) throws {
        #expect(try Self.read(Array(text.utf8), isTolerant: true).get().illFormedTexts.isEmpty)
    }

    @Test(arguments: [
        "\"\\ud83d", #""\ud83d\"#, #""\ud83d\u12"#, #""\ud83d\u12g4""#, #""\ud83d\q""#, #""\ud83""#, "\"\\ud83d\t\"",
    ])
    func whatIsNoJSONStaysNone(text: String) {
        #expect(throws: JSONError.self) { try Self.read(Array(text.utf8), isTolerant: true).get() }
    }

    /// Both ways of reading agree about every text but those that the tolerant one marks.
    @Test(arguments: 0..<4) func bothWaysAgreeOnTextsWithoutHalfAPair(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        var counts = [0, 0, 0]
        let original = Array(fullRecord.replacing("Game", with: #"\ud83d\ude80"#).utf8)
        for _ in 0..<20_000 {
            let text = mutated(original, using: &random)
            switch (Self.read(text, isTolerant: false), Self.read(text, isTolerant: true)) {
            case (.success(let strict), .success(let tolerant)):
                counts[0] += 1
                let isAlike =
                    tolerant.illFormedTexts.isEmpty && tolerant.bytes == strict.bytes
                    && JSONValue(tolerant, tolerant.root) == JSONValue(strict, strict.root)
                if !isAlike { Issue.record("\(text)") }
            case (.failure(let strict), .success(let tolerant)):
                counts[1] += 1
                if strict.reason != .invalidString || tolerant.illFormedTexts.isEmpty { Issue.record("\(text)") }
            case (.failure(let strict), .failure(let tolerant)):
                counts[2] += 1
                if tolerant.offset < strict.offset && strict.reason != .unexpectedEnd { Issue.record("\(text)") }
            case (.success, .failure): Issue.record("\(text)")
            }
        }
        #expect(counts.allSatisfy { $0 > 50 }, "\(counts)")
    }

    @Test(
        arguments: [
            (#""message":{"title":"\ud83d"}"#, "/message/title"), (#""message":{"data":{"a":"x\udc00"}}"#, "/message/data/a"),
            (#""labels":{"a":"\ud83d"}"#, "/labels/a"), (#""labels":{"\ud83d":"x"}"#, "/labels/\u{FFFD}"),
            (#""template":{"\ud83d":"x"}"#, "/template/\u{FFFD}"), (#""unknown":["\ud83d"]"#, "/unknown/0"),
            (#""payloads":{"gcm":{"body":{"data":{"a":"\ud83d"}}}}"#, "/payloads/gcm/body/data/a"),
            (#""payloads":{"gcm":{"body":"\ud83d"}}"#, "/payloads/gcm/body"), (#""source":"\ud83d""#, "/source"),
            (#""\ud83d":1"#, "/\u{FFFD}"), (#""hub":null,"labels":{"a":null,"b":"\ud83d"}"#, "/labels/b"),
        ])
    func aReadableRecordIsRejectedWithItsID(fragment: String, pointer: String) {
        var reading = Reading()
        let faults = reading.faults(record(#""id":"mine",\#(fragment)"#))
        #expect(
            faults.contains { $0.pointer == pointer && $0.code == .schemaInvalid && $0.message.contains("surrogate") },
            "\(faults)")
        #expect(reading.string(reading.request.id) == "mine")
        // Both go into a result.
        #expect(reading.request.labels == nil && reading.request.source == nil)
    }

    @Test func manyAreNamedAsFarAsFaultsAre() {
        var reading = Reading()
        let texts = String(repeating: #""\ud83d","#, count: 50_000)
        #expect(reading.faults(record("\"x\":[\(texts)0]")).count == 16)
        let labels = (0..<10).map { "\"l\($0)\":\"\\ud83d\"" }.joined(separator: ",")
        #expect(reading.faults(record("\"x\":[\(texts)0],\"labels\":{\(labels)}")).count == 16)
        #expect(reading.request.labels == nil)
    }

    @Test func anIDWithHalfAPairIsNone() {
        var reading = Reading([("ce_id", "header")])
        #expect(reading.faults(record(#""id":"a\ud83d""#)).map(\.pointer) == ["/id"])
        #expect(reading.string(reading.request.id) == "header")
    }
}
