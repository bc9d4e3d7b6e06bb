import PushModel
import Testing

/// What the parts of a request come to as a whole.
struct PartTotalsTests {
    private static func tally(_ chunk: Int, _ state: ResultState, _ outcome: Outcome, _ code: ErrorCode? = nil) -> PartTally {
        var tally = PartTally(chunk: chunk, state: state, outcome: outcome, code: code)
        tally.accepted = state == .sent ? 15 : state == .partial ? 10 : 0
        tally.ambiguous = outcome == .ambiguous ? 2 : 0
        tally.attempts = 17
        return tally
    }

    private static let sent = tally(0, .sent, .success)
    private static let failed = tally(1, .failed, .transient, .hubUnavailable)
    private static let expired = tally(2, .expired, .expired, .expiredInQueue)
    private static let cancelled = tally(3, .cancelled, .cancelled, .cancelled)
    private static let partial = tally(4, .partial, .throttled, .hubThrottled)
    private static let doubtful = tally(5, .failed, .ambiguous, .hubTimeout)
    private static let unauthorized = tally(7, .failed, .permanent, .unknownHub)
    private static let refused = tally(6, .rejected, .payload, .payloadTooLarge)

    @Test(
        arguments: [
            ([sent], .sent, .success, nil), ([sent, sent], .sent, .success, nil),
            ([sent, failed], .partial, .transient, .hubUnavailable), ([partial], .partial, .throttled, .hubThrottled),
            ([sent, expired, failed], .partial, .transient, .hubUnavailable),
            ([failed, expired], .failed, .transient, .hubUnavailable), ([failed, failed], .failed, .transient, .hubUnavailable),
            ([expired, expired], .expired, .expired, .expiredInQueue), ([cancelled], .cancelled, .cancelled, .cancelled),
            ([expired, cancelled], .expired, .expired, .expiredInQueue), ([sent, cancelled], .partial, .cancelled, .cancelled),
            ([failed, doubtful], .failed, .ambiguous, .hubTimeout), ([refused], .failed, .payload, .payloadTooLarge),
            ([], .failed, .transient, .internal),
        ] as [([PartTally], ResultState, Outcome, ErrorCode?)])
    func theWholeIsSentPartlySentOrAsTheGravestPart(
        _ tallies: [PartTally], _ state: ResultState, _ outcome: Outcome, _ code: ErrorCode?
    ) {
        var totals = PartTotals()
        for tally in tallies { totals.add(tally) }
        let conclusion = totals.conclusion
        #expect(conclusion.state == state && conclusion.outcome == outcome && conclusion.code == code)
        #expect(totals.count == tallies.count)
    }

    /// What is left of a replay is the gravest of what it takes: the result of a whole says what those of its parts say.
    @Test(
        arguments: [
            ([], .safe), ([sent], .duplicateRisk), ([sent, sent], .duplicateRisk), ([sent, failed], .safe), ([partial], .safe),
            ([failed, doubtful], .ambiguous), ([sent, doubtful, refused], .ambiguous), ([sent, refused], .pointless),
            ([refused, failed], .safe), ([expired], .pointless), ([expired, cancelled], .safe), ([sent, unauthorized], .safe),
        ] as [([PartTally], ReplaySafety)])
    func theSafetyOfTheWholeIsTheGravestOfItsParts(_ tallies: [PartTally], _ safety: ReplaySafety) {
        var totals = PartTotals()
        for tally in tallies { totals.add(tally) }
        #expect(totals.safety == safety)
        var reversed = PartTotals()
        for tally in tallies.reversed() { reversed.add(tally) }
        #expect(reversed.safety == safety)
    }

    /// An older version wrote no safety: what its class and reason say holds, unless a call was in doubt.
    @Test(
        arguments: [
            (#""outcome":"transient","code":"hub_unavailable""#, .safe),
            (#""outcome":"payload","code":"payload_too_large""#, .pointless),
            (#""outcome":"permanent","code":"unknown_hub""#, .safe), (#""outcome":"auth","ambiguous":1"#, .ambiguous),
            (#""outcome":"payload","safety":"safe","ambiguous":1"#, .safe),
            (#""outcome":"payload","safety":"later""#, .pointless),
        ] as [(String, ReplaySafety)])
    func aTallyWithoutASafetyHasThatOfItsReason(_ members: String, _ safety: ReplaySafety) {
        let tally = PartTally(Array(#"{"v":1,"state":"partial",\#(members)}"#.utf8).span, chunk: 0)
        #expect(tally?.safety == safety)
    }

    @Test func eachPartIsCountedUnderOneState() {
        var totals = PartTotals()
        for tally in [Self.sent, Self.failed, Self.expired, Self.cancelled, Self.partial, Self.doubtful, Self.refused] {
            totals.add(tally)
        }
        #expect(totals.sent == 1 && totals.failed == 2 && totals.expired == 1 && totals.cancelled == 1)
        #expect(totals.partial == 1 && totals.ambiguous == 1)
        #expect(totals.acceptedCalls == 25 && totals.ambiguousCalls == 2 && totals.attempts == 17)
        #expect(totals.notSent == [1, 2, 3, 4, 5, 6])
    }

    @Test(arguments: 0..<20) func theOrderOfPartsMakesNoDifference(seed: UInt64) {
        var random = SeededRandom(seed)
        let kinds = [Self.sent, Self.failed, Self.expired, Self.cancelled, Self.partial, Self.doubtful, Self.refused]
        let tallies = (0..<PartTotals.maximumNamed).map { chunk in
            var tally = kinds[random.below(kinds.count)]
            tally.chunk = chunk
            tally.firstAttemptAt = Timestamp(milliseconds: Int64(random.below(1000)))
            return tally
        }
        var totals = PartTotals()
        for tally in tallies { totals.add(tally) }
        var other = PartTotals()
        for tally in tallies.shuffled(using: &random) { other.add(tally) }
        #expect(totals.conclusion == other.conclusion && totals.firstAttemptAt == other.firstAttemptAt)
        #expect(totals.notSent == other.notSent.sorted() && totals.acceptedCalls == other.acceptedCalls)
    }

    @Test func noMoreThanAHundredAreNamed() {
        var totals = PartTotals()
        for chunk in 0..<1000 { totals.add(Self.tally(chunk, .failed, .transient)) }
        #expect(totals.notSent.count == 100 && totals.failed == 1000)
    }

    @Test func aTallyIsReadAsItIsWritten() throws {
        var tally = Self.doubtful
        tally.firstAttemptAt = Timestamp(milliseconds: 1_795_176_000_000)
        (tally.hubTime, tally.throttleWait) = (1234, 5678)
        for tally in [Self.sent, Self.refused, tally] {
            var json = ByteWriter()
            tally.append(to: &json)
            let read = PartTally(json.span, chunk: tally.chunk)
            #expect(read == tally)
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"v":2,"state":"sent","outcome":"success"}"#, #"{"v":1,"state":"x","outcome":"success"}"#,
    ])
    func whatNobodyWroteIsNoTally(_ text: String) {
        let tally = PartTally(Array(text.utf8).span, chunk: 0)
        #expect(tally == nil)
    }

    @Test func hostileNumbersDoNotOverflow() throws {
        let text = #"{"v":1,"state":"sent","outcome":"success","accepted":9223372036854775807,"attempts":-5,"hub_ms":1e9}"#
        let read = PartTally(Array(text.utf8).span, chunk: 0)
        let tally = try #require(read)
        var totals = PartTotals()
        for _ in 0..<100 { totals.add(tally) }
        #expect(tally.attempts == 0 && tally.hubTime == 0 && totals.acceptedCalls > 0)
    }

    @Test(arguments: [Int.max, .max - 1, 1 << 62]) func sumsStopAtTheEndOf64Bits(_ number: Int) {
        var tally = Self.sent
        (tally.accepted, tally.ambiguous, tally.attempts) = (number, number, number)
        (tally.hubTime, tally.throttleWait) = (Int64(number), Int64(number))
        tally.firstAttemptAt = Timestamp(milliseconds: .min)
        var totals = PartTotals()
        for _ in 0..<3 { totals.add(tally) }
        #expect(totals.acceptedCalls == .max && totals.ambiguousCalls == .max && totals.attempts == number)
        #expect(totals.hubTime == .max && totals.throttleWait == .max && totals.sent == 3)
    }
}
