import Foundation
import Observability
import Synchronization
import TestSupport
import Testing

/// Keeps what a log wrote.
private final class Lines: Sendable {
    private let lines = Mutex<[[UInt8]]>([])
    let time = Atomic<Int64>(0)

    func log(_ format: Log.Format = .json, level: LogLevel = .info, sampler: LogSampler = LogSampler()) -> Log {
        Log(
            format: format, level: level, sampler: sampler, now: { self.time.load(ordering: .relaxed) },
            sink: { line in self.lines.withLock { $0.append(line) } })
    }

    var texts: [String] { lines.withLock { $0.map { String(decoding: $0, as: UTF8.self) } } }

    func objects() throws -> [[String: Any]] {
        try lines.withLock { $0 }.map { line in
            #expect(line.last == UInt8(ascii: "\n"))
            #expect(line.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
            return try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
    }
}

@Suite(.tags(.threads)) struct LogTests {
    @Test func jsonLineHasTheDocumentedShape() {
        let lines = Lines()
        lines.time.store(1_795_176_091_007, ordering: .relaxed)
        lines.log().info(
            .requestFinished, "request finished",
            [
                .requestID: "a-1", .hub: "demo", .attempt: 2, .durationMilliseconds: 1.5, .partition: LogValue(UInt8(3)),
                .state: true,
            ])
        #expect(
            lines.texts == [
                #"{"ts":"2026-11-20T12:01:31.007Z","level":"info","msg":"request finished","event":"request_finished","#
                    + #""request_id":"a-1","hub":"demo","attempt":2,"duration_ms":1.5,"partition":3,"state":true}"# + "\n"
            ])
    }

    @Test func textLineIsReadable() {
        let lines = Lines()
        lines.log(.text).warning(.hubThrottled, "the hub asked to wait", [.hub: "my hub", .delayMilliseconds: 250, .code: "429"])
        #expect(
            lines.texts == [
                "1970-01-01T00:00:00.000Z WARNING the hub asked to wait event=hub_throttled hub=\"my hub\" delay_ms=250 code=429\n"
            ])
    }

    static let hostile: [String] = [
        "", "\"", "\\", "line\nfeed", "carriage\rreturn", "tab\t", "\u{0}nul\u{1F}", "del\u{7F}",
        "bidi\u{202E}\u{2066}\u{200F}", "c1\u{9B}31m", "\u{1B}[31mred",
        "separator\u{2028}\u{2029}", "ä 🔔 e\u{301}", "a=b c=\"d\"", "}{", "\u{FFFD}", "\u{10FFFF}",
    ]

    @Test(arguments: hostile) func jsonGivesBackWhatWasLogged(_ value: String) throws {
        let lines = Lines()
        lines.log().info(.kafkaError, "an error", [.reason: .string(value)])
        #expect(try lines.objects().first?["reason"] as? String == value)
    }

    @Test(arguments: hostile) func textStaysOneLineWithoutControls(_ value: String) throws {
        let lines = Lines()
        lines.log(.text).info(.kafkaError, "an error", [.reason: .string(value)])
        let line = try #require(lines.texts.first)
        #expect(line.hasSuffix("\n"))
        #expect(line.dropLast().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(!line.unicodeScalars.contains { [0x200F, 0x2028, 0x2029, 0x202E, 0x2066].contains($0.value) })
    }

    @Test func everyByteStringBecomesLegalJSON() throws {
        let lines = Lines()
        let log = lines.log()
        var random = SplitMix(seed: 7)
        for byte in UInt8.min...UInt8.max { log.info(.kafkaError, "an error", [.reason: LogValue(bytes: [byte])]) }
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            log.info(.kafkaError, "an error", [.reason: LogValue(bytes: bytes)])
            let seen = try #require(try lines.objects().last?["reason"] as? String)
            #expect(seen == String(decoding: bytes, as: UTF8.self))
        }
        #expect(try lines.objects().count == 756)
    }

    @Test func longValueIsCutBetweenCharacters() throws {
        let lines = Lines()
        lines.log().info(.kafkaError, "an error", [.reason: .string("x" + String(repeating: "ä", count: 5000))])
        let seen = try #require(try lines.objects().first?["reason"] as? String)
        #expect(seen == "x" + String(repeating: "ä", count: 511) + "…")
    }

    @Test func longBytesAreCut() throws {
        let lines = Lines()
        lines.log().info(.kafkaError, "an error", [.reason: LogValue(bytes: [UInt8](repeating: 0x61, count: 1_000_000))])
        #expect(try lines.objects().first?["reason"] as? String == String(repeating: "a", count: 1024) + "…")
    }

    static let doubles: [(Double, String)] = [
        (0.5, "0.5"), (1e300, "1e+300"), (.infinity, "\"inf\""), (-.infinity, "\"-inf\""), (.nan, "\"nan\""),
    ]

    @Test(arguments: doubles) func doubleIsLegalJSON(_ value: Double, _ written: String) throws {
        let lines = Lines()
        lines.log().info(.requestFinished, "sent", [.durationMilliseconds: .double(value)])
        #expect(lines.texts.first?.hasSuffix("\"duration_ms\":\(written)}\n") == true)
        _ = try lines.objects()
    }

    @Test func repeatedKeyIsWrittenOnceWithItsLastValue() throws {
        let lines = Lines()
        lines.log().info(.requestFinished, "sent", [.hub: "a", .code: "1", .hub: "b"])
        #expect(lines.texts.first?.hasSuffix(#""code":"1","hub":"b"}"# + "\n") == true)
    }

    @Test(arguments: LogLevel.allCases) func onlyLinesOfTheLevelAndAboveAreWritten(_ level: LogLevel) throws {
        let lines = Lines()
        let log = lines.log(level: .error)
        log.level = level
        log.debug(.requestFinished, "one")
        log.info(.requestFinished, "two")
        log.warning(.requestFinished, "three")
        log.error(.requestFinished, "four")
        let seen = try lines.objects().compactMap { $0["level"] as? String }
        #expect(seen == LogLevel.allCases.filter { $0 >= level }.map(\.word))
        #expect(LogLevel.allCases.map(log.isEnabled) == LogLevel.allCases.map { $0 >= level })
    }

    @Test func stormIsCutOffAndTold() throws {
        let lines = Lines()
        let log = lines.log(sampler: LogSampler(burst: 3, every: 1000))
        for _ in 0..<10 { log.error(.hubConnection, "no answer") }
        log.error(.commitFailed, "not committed")
        #expect(lines.texts.count == 4)
        lines.time.store(1000, ordering: .relaxed)
        log.error(.hubConnection, "no answer")
        let objects = try lines.objects()
        try #require(objects.count == 6)
        #expect(objects[4]["msg"] as? String == "suppressed 7")
        #expect(objects[4]["event"] as? String == "suppressed")
        #expect(objects[4]["suppressed_event"] as? String == "hub_connection")
        #expect(objects[4]["count"] as? Int == 7)
        #expect(objects[5]["msg"] as? String == "no answer")
    }

    @Test func endOfStormIsToldWithoutAFurtherLine() throws {
        let lines = Lines()
        let log = lines.log(sampler: LogSampler(burst: 1, every: 1000))
        for _ in 0..<5 { log.warning(.hubThrottled, "wait") }
        log.flushSuppressed()
        #expect(lines.texts.count == 1)
        lines.time.store(5000, ordering: .relaxed)
        log.flushSuppressed()
        log.flushSuppressed()
        #expect(try lines.objects().map { $0["msg"] as? String } == ["wait", "suppressed 4"])
    }

    @Test func ordinaryLinesAreNeverHeldBack() {
        let lines = Lines()
        let log = lines.log(level: .debug, sampler: LogSampler(burst: 1, every: 1000))
        for _ in 0..<50 { log.info(.requestFinished, "done") }
        for _ in 0..<50 { log.debug(.requestFinished, "sent") }
        #expect(lines.texts.count == 100)
    }

    @Test func secretIsShownByNothing() throws {
        struct Key { let name = "root", secret = Redacted("canary-8131") }
        let key = Key()
        var dumped = ""
        dump(key, to: &dumped)
        let lines = Lines()
        lines.log().info(.configurationLoaded, "read", [.reason: LogValue(key.secret), .setting: .string("\(key)")])
        for shown in ["\(key)", "\(key.secret)", String(reflecting: key), String(reflecting: key.secret), dumped] + lines.texts {
            #expect(!shown.contains("canary"))
            #expect(shown.contains("[redacted]"))
        }
        #expect(key.secret.secret == "canary-8131")
    }

    static let moments: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (-5, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
    ]

    @Test(arguments: moments) func timeIsWrittenInUTC(_ milliseconds: Int64, _ written: String) throws {
        let lines = Lines()
        lines.time.store(milliseconds, ordering: .relaxed)
        lines.log().info(.started, "started")
        #expect(try lines.objects().first?["ts"] as? String == written)
    }

    @Test func timeAgreesWithAnotherCalendar() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var random = SplitMix(seed: 11)
        for _ in 0..<300 {
            let lines = Lines()
            let seconds = Int64.random(in: 0...253_402_300_799, using: &random)
            lines.time.store(seconds * 1000, ordering: .relaxed)
            lines.log().info(.started, "started")
            let expected = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(try lines.objects().first?["ts"] as? String == expected)
        }
    }

    @Test func wordsOfTheVocabularyAreDistinctAndPlain() {
        let words = LogEvent.allCases.map(\.rawValue) + ["-"] + LogKey.allCases.map(\.rawValue)
        #expect(Set(LogEvent.allCases.map(\.rawValue)).isDisjoint(with: ["ts", "level", "msg", "event"]))
        #expect(Set(LogKey.allCases.map(\.rawValue)).isDisjoint(with: ["ts", "level", "msg", "event"]))
        #expect(words.allSatisfy { $0.wholeMatch(of: /[a-z_]+|-/) != nil })
    }
}

/// A small seeded generator (Vigna's splitmix64), so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
