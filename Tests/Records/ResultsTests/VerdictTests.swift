import PushModel
import ResultQuery
import Testing

@testable import Groups
@testable import Results

/// The table of verdicts: a sentence for every request, and no claim that its story does not support.
@Suite struct VerdictTests {
    /// 2026-11-21T14:18:00Z.
    private static let now = moment("2026-11-21T14:18:00.000Z")

    private static func moment(_ text: String) -> Timestamp { Timestamp(text.utf8.span)! }

    private static func story(_ change: (inout RequestStory) -> Void) -> RequestStory {
        var story = RequestStory(id: "order-1", publishedAt: moment("2026-11-21T14:05:12.100Z"))
        change(&story)
        return story
    }

    private static func ended(
        _ state: String, _ outcome: String = "success", code: String? = nil,
        change: (inout RequestStory.Ending) -> Void = { _ in }
    ) -> RequestStory.Ending {
        var ending = RequestStory.Ending(state: state, outcome: outcome)
        ending.at = moment("2026-11-21T14:05:12.300Z")
        ending.took = 200
        ending.code = code
        (ending.planned, ending.accepted, ending.ambiguous) = (1, state == "sent" ? 1 : 0, 0)
        change(&ending)
        return ending
    }

    /// One of 300 parts, none of which was sent.
    private static func divided(_ state: String, code: String, failed: Int?, expired: Int?, cancelled: Int?) -> RequestStory {
        story {
            $0.ending = ended(state, "throttled", code: code) {
                ($0.parts, $0.partsSent) = (300, 0)
                ($0.partsFailed, $0.partsExpired, $0.partsCancelled) = (failed, expired, cancelled)
            }
        }
    }

    private static let alice = AudienceSummary(.users, names: ["alice"])
    private static let berlin = LocalZone(name: "Europe/Berlin", secondsEast: 3600)
    private static let north = RequestStory.HubObstacle(
        name: "north", kind: .throttled(until: moment("2026-11-21T13:08:00.000Z")))

    // MARK: The sentences of the issue

    /// Stories, and what is said of them in a zone an hour east of UTC.
    private static let sentences: [(RequestStory, String)] = [
        (
            story {
                $0.ending = ended("sent") { $0.at = moment("2026-11-21T13:05:12.300Z") }
                $0.telemetry = .notTracked
            }, "Sent at 14:05:12, in 0.2 s. Whether the phone showed it is not known: outcomes are not tracked."
        ),
        (
            story {
                $0.ending = ended("sent")
                $0.doubts = [.lostAnswer]
            }, "Sent, and may have rung twice: the first answer was lost."
        ),
        (
            story {
                $0.standing = .inParts(count: 300, ended: 214, sent: 214)
                $0.hub = north
                $0.publishedAt = nil
            }, "On its way: 214 of 300 parts sent, 86 wait for hub north (429 until 14:08)."
        ),
        (
            story {
                $0.standing = .delayed(due: moment("2026-11-21T14:30:00.000Z"), attempts: 0)
                $0.publishedAt = nil
            }, "Waits for 15:30 (in 12 min)."
        ),
        (
            story { $0.ending = ended("failed", "ambiguous", code: "hub_timeout") },
            "Failed; it may have rung: the hub did not answer in time. A replay may ring twice."
        ),
        (
            story {
                $0.ending = ended("duplicate", "duplicate", code: "duplicate")
                $0.original = RequestStory.Original(id: "X", state: "sent")
            }, "A repetition of X, which was sent. It was not sent a second time."
        ),
        (
            story {
                $0.ending = ended("sent") { $0.at = moment("2026-11-20T13:05:12.300Z") }
                $0.whole = RequestStory.Whole(id: "X", number: 7)
            }, "Part 7 of X: sent at 2026-11-20 14:05:12, in 0.2 s."
        ),
    ]

    @Test(arguments: 0..<sentences.count) func theSentencesAreThoseThatPeopleWereShown(number: Int) {
        let (story, said) = Self.sentences[number]
        #expect(Verdict.of(story, now: Self.now, zone: Self.berlin).sentences == said)
    }

    /// Stories whose text alone matters, in UTC.
    private static let texts: [(RequestStory, code: String, String)] = [
        (
            story {
                $0.ending = ended("sent")
                $0.telemetry = .known([RequestStory.Outcome(state: "failed", code: "no_target")])
                $0.audience = alice
            }, "reached_nobody", "Reached no device: the hub knows none of this user."
        ),
        (
            story {
                $0.ending = ended("sent")
                $0.telemetry = .known([RequestStory.Outcome(state: "sent")])
            }, "delivered", "Sent at 14:05:12 UTC, in 0.2 s, and the push services took it for every device."
        ),
        (
            // The outcome of one of two calls is no word about both.
            story {
                $0.ending = ended("sent") { $0.accepted = 2 }
                $0.telemetry = .known([RequestStory.Outcome(state: "failed", code: "no_target")])
            }, "sent", "Sent at 14:05:12 UTC, in 0.2 s."
        ),
        (
            story {
                $0.ending = ended("partial", "throttled", code: "hub_throttled") { ($0.planned, $0.accepted) = (3, 2) }
            }, "sent_in_part", "Sent in part: the hub accepted 2 of 3 calls."
        ),
        (
            story {
                $0.ending = ended("failed", "throttled", code: "hub_throttled") { $0.safety = "safe" }
                $0.replays = [RequestStory.Replay("failed"), RequestStory.Replay("sent")]
            }, "repaired", "Not sent at first, and a replay sent it."
        ),
        (
            story { $0.ending = ended("failed", "throttled", code: "hub_throttled") { $0.safety = "safe" } }, "failed",
            "Failed at 14:05:12 UTC: the hub throttled every attempt."
        ),
        (
            story { $0.ending = ended("cancelled", "cancelled", code: "cancelled") { $0.message = "dry run: nothing was sent" } },
            "dry_run", "A dry run: nothing was sent."
        ),
        (
            story { $0.standing = .inParts(count: 300, ended: 300, sent: 290) }, "in_parts",
            "On its way: all 300 parts have ended, and the result of the whole is about to be written."
        ),
        (
            story { $0.standing = .inParts(count: 300, ended: 214, sent: 200) }, "in_parts",
            "On its way: 200 of 300 parts sent, 14 ended otherwise, 86 are to come."
        ),
        (
            story { $0.standing = .inParts(count: nil, ended: 12, sent: 12) }, "in_parts",
            "On its way: it was divided into parts, of which at least 12 have ended."
        ),
        (
            // The workers may be away.
            story { $0.standing = .delayed(due: moment("2026-11-21T14:16:00.000Z"), attempts: 0) }, "waiting",
            "Was due at 14:16 UTC, and no worker has gone on with it yet."
        ),
        (
            story {
                $0.standing = .open
                $0.obstacle = .kafkaAway
            }, "not_known", "What became of it is not known: Kafka does not answer."
        ),
        (
            story {
                $0.standing = .done
                $0.obstacle = .indexBehind
            }, "not_known", "The workers are done with it, and its result has not been read yet."
        ),
        (
            story {
                $0.standing = .delayed(due: moment("2026-11-21T15:00:00.000Z"), attempts: 0)
                $0.hold = RequestStory.Hold(
                    author: "key k1", reason: "wrong text", from: now, until: moment("2026-11-21T15:30:30.000Z"))
            }, "held", "Held until 15:30:30 UTC (in 73 min): “wrong text”."
        ),
        (
            story {
                $0.standing = .inParts(count: 300, ended: 214, sent: 214)
                $0.cancelledAt = now
            }, "cancelling",
            "Cancelled at 14:18:00 UTC, after 214 of 300 parts had ended; the others end as they have their turns."
        ),
        (
            divided("failed", code: "hub_throttled", failed: 300, expired: 0, cancelled: 0), "failed",
            "Failed in all 300 parts at 14:05:12 UTC: the hub throttled every attempt."
        ),
        (
            divided("failed", code: "hub_throttled", failed: 200, expired: 60, cancelled: 40), "failed",
            "Failed in 200 of 300 parts (60 expired, 40 cancelled) at 14:05:12 UTC: the hub throttled every attempt."
        ),
        (
            divided("expired", code: "expired", failed: 0, expired: 260, cancelled: 40), "expired",
            "Expired in 260 of 300 parts (40 cancelled) at 14:05:12 UTC: its time was over before the hub had accepted it."
        ),
        (
            divided("failed", code: "hub_throttled", failed: nil, expired: nil, cancelled: nil), "failed",
            "Failed at 14:05:12 UTC: the hub throttled every attempt."
        ),
    ]

    @Test(arguments: 0..<texts.count) func eachStoryHasItsVerdict(number: Int) {
        let (story, code, text) = Self.texts[number]
        let verdict = Verdict.of(story, now: Self.now)
        #expect(verdict.text == text)
        #expect(verdict.code == code)
    }

    // MARK: All of them

    /// A sentence for people: a full stop, no word of programs outside backticks, nothing that was not filled in.
    private static func faults(_ verdict: Verdict) -> [String] {
        var faults: [String] = []
        if Verdict.Code(rawValue: verdict.code) == nil { faults.append("code \(verdict.code)") }
        for text in [verdict.text, verdict.reason].compactMap(\.self) {
            let plain = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .map { $0.offset % 2 == 0 ? String($0.element) : "code" }.joined()
            if !text.hasSuffix(".") || text.hasSuffix("..") { faults.append("no full stop: \(text)") }
            if plain.contains("_") { faults.append("a word of programs: \(text)") }
            if ["nil", "Optional", "  ", " ,", ": .", " .", "(null)"].contains(where: plain.contains) {
                faults.append("a gap: \(text)")
            }
            if text.first?.isLowercase == true { faults.append("no capital: \(text)") }
        }
        return faults
    }

    private static let states = ResultState.allCases.map(\.rawValue) + ["new_word"]
    private static let outcomes = Outcome.allCases.map(\.rawValue) + ["new_class"]
    private static let codes = ErrorCode.allCases.map { $0.rawValue as String? } + ["new_code", nil]

    private static let telemetries: [RequestStory.Telemetry] =
        [.notSearched, .notTracked, .awaited, .missing]
        + ["sent", "partial", "failed", "unknown", "new_word"].flatMap { state in
            codes.map { .known([RequestStory.Outcome(state: state, code: $0)]) }
        }

    private static let standings: [RequestStory.Standing] = [
        .unconfirmed, .open, .published, .inWork, .delayed(due: nil, attempts: 0), .delayed(due: now, attempts: 1),
        .delayed(due: .never, attempts: 3), .behindItsKey, .inParts(count: nil, ended: 1, sent: nil),
        .inParts(count: 2, ended: 1, sent: nil), .inParts(count: 3, ended: 1, sent: 1), .inParts(count: 3, ended: 2, sent: 1),
        .inParts(count: 3, ended: 3, sent: 3), .done, .unknown, .deadLetter(reason: nil), .deadLetter(reason: "It is no JSON"),
    ]

    @Test(arguments: states) func everyEndHasASentence(state: String) {
        for outcome in Self.outcomes {
            for code in Self.codes {
                for accepted in [0, 1, 2, nil] as [Int?] {
                    let story = Self.story {
                        $0.ending = Self.ended(state, outcome, code: code) {
                            ($0.planned, $0.accepted) = (accepted.map { max($0, 1) }, accepted)
                        }
                    }
                    let verdict = Verdict.of(story, now: Self.now)
                    #expect(Self.faults(verdict).isEmpty)
                    // Nothing that may have reached a device is said not to have done so.
                    if outcome == "ambiguous", state == "failed" { #expect(verdict.text.contains("may have rung")) }
                }
            }
        }
    }

    @Test(arguments: states) func everyEndHasASentenceWhateverIsKnownBesides(state: String) {
        for telemetry in Self.telemetries {
            for doubts in [[], [.lostAnswer], [.sentTwice(2), .secondResult], [.repeatedDoubt]] as [[RequestStory.Doubt]] {
                for kind in AudienceSummary.Kind.allCases {
                    let story = Self.story {
                        $0.ending = Self.ended(state, "transient", code: "hub_unavailable") { ($0.parts, $0.partsSent) = (3, 2) }
                        ($0.telemetry, $0.doubts) = (telemetry, doubts)
                        $0.audience = AudienceSummary(kind, count: doubts.count + 1)
                        $0.replays = doubts.isEmpty ? [] : [RequestStory.Replay(state)]
                        $0.isRepeated = doubts.isEmpty
                        $0.whole = doubts.isEmpty ? nil : RequestStory.Whole(id: "order-1", number: 7)
                        $0.original = doubts.isEmpty ? nil : RequestStory.Original(id: "X", state: state)
                    }
                    let verdict = Verdict.of(story, now: Self.now)
                    #expect(Self.faults(verdict).isEmpty)
                    #expect(verdict.text.hasPrefix("Part 7 of order-1: ") == !doubts.isEmpty)
                }
            }
        }
    }

    @Test func everyPlaceHasASentence() {
        let troubles: [RequestStory.HubObstacle.Kind] = [
            .throttled(until: .never), .suspended(until: nil), .suspended(until: .never), .refusesKey, .broken,
        ]
        let hold = RequestStory.Hold(author: "key k1", reason: "wrong text", from: Self.now, until: .never)
        for standing in Self.standings {
            for trouble in [nil] + troubles.map({ RequestStory.HubObstacle(name: "north", kind: $0) }) {
                for obstacle in [nil] + RequestStory.Obstacle.allCases.map({ $0 }) {
                    for (cancelledAt, hold) in [(nil, nil), (Self.now, nil), (nil, hold)] as [(Timestamp?, RequestStory.Hold?)] {
                        let story = Self.story {
                            ($0.standing, $0.hub, $0.obstacle) = (standing, trouble, obstacle)
                            ($0.cancelledAt, $0.hold) = (cancelledAt, hold)
                        }
                        let verdict = Verdict.of(story, now: Self.now, zone: Self.berlin)
                        #expect(Self.faults(verdict).isEmpty)
                        guard case .inParts = standing else { continue }
                        // A large request that runs is on its way, whatever is not known beside.
                        #expect(["in_parts", "cancelling", "held"].contains(verdict.code), "\(verdict)")
                    }
                }
            }
        }
    }

    @Test(
        arguments: [
            (nil, "held", "cancelling"), (.kafkaAway, "not_known", "not_known"), (.notAllSearched, "not_known", "not_known"),
        ]
            as [(RequestStory.Obstacle?, String, String)])
    func whatMayHaveEndedIsNeitherHeldNorAboutToEnd(obstacle: RequestStory.Obstacle?, held: String, cancelled: String) {
        let hold = RequestStory.Hold(author: "key k1", reason: "wrong text", from: Self.now, until: .never)
        for (cancelledAt, hold, code) in [(nil, hold, held), (Self.now, nil, cancelled)]
            as [(Timestamp?, RequestStory.Hold?, String)]
        {
            let story = Self.story { ($0.standing, $0.obstacle, $0.cancelledAt, $0.hold) = (.open, obstacle, cancelledAt, hold) }
            #expect(Verdict.of(story, now: Self.now).code == code)
        }
    }

    @Test func whatNobodySearchedIsNotSaid() {
        for telemetry in [RequestStory.Telemetry.notSearched, .missing, .awaited] {
            let story = Self.story {
                $0.ending = Self.ended("sent")
                $0.telemetry = telemetry
            }
            #expect(!Verdict.of(story, now: Self.now).sentences.contains("not tracked"))
        }
        let story = Self.story {
            $0.ending = Self.ended("sent")
            $0.telemetry = .notSearched
        }
        #expect(Verdict.of(story, now: Self.now).reason == nil)
    }

    // MARK: Reading

    private static func life(_ results: [String], of id: String = "a") -> RequestLife {
        var life = RequestLife(id: id)
        for (number, json) in results.enumerated() {
            life.take(Array(json.utf8).span, partition: 0, offset: Int64(number), timestamp: Int64(number + 1))
        }
        return life
    }

    private static func result(_ state: String, kind: String = "final", id: String = "a", members: String = "") -> String {
        #"{"request_id":"\#(id)","result_id":"r-\#(id)","kind":"\#(kind)","state":"\#(state)","outcome":"success","#
            + #""targets":{"planned":1,"accepted":1,"failed":0,"ambiguous":0}\#(members)}"#
    }

    private static let lost =
        #","attempts":[{"n":1,"send":0,"result":"timeout","bytes_sent":true},"#
        + #"{"n":2,"send":0,"result":"ok","http_status":201,"bytes_sent":true}]"#
    private static let refused =
        #","attempts":[{"n":1,"send":0,"result":"error","http_status":429,"bytes_sent":true},"#
        + #"{"n":2,"send":0,"result":"ok","http_status":201,"bytes_sent":true}]"#
    private static let unsent =
        #","attempts":[{"n":1,"send":0,"result":"error","bytes_sent":false},"#
        + #"{"n":2,"send":0,"result":"ok","http_status":201,"bytes_sent":true}]"#

    @Test(
        arguments: [
            ([result("sent", members: lost)], [.lostAnswer]), ([result("sent", members: refused)], []),
            ([result("sent", members: unsent)], []), ([result("sent"), result("sent")], [.secondResult]),
            ([result("sent"), result("sent").replacing("r-a", with: "r-b")], [.sentTwice(2)]),
        ] as [([String], [RequestStory.Doubt])])
    func doubtsAreRead(results: [String], doubts: [RequestStory.Doubt]) {
        #expect(RequestStory(Self.life(results)).doubts == doubts)
    }

    @Test func aLostAnswerIsTheSameDoubtByTheFinalResultAlone() {
        for members in [Self.lost, Self.refused] {
            let life = Self.life([Self.result("sent", members: members)])
            var story = RequestStory(id: "a")
            if let final = life.final { story.take(final) }
            #expect(story.doubts == RequestStory(life).doubts)
            #expect(story.doubts.isEmpty == (members == Self.refused))
        }
    }

    @Test func aReplayOfACallInDoubtIsADoubt() {
        func replay(_ members: String) -> String {
            Self.result("sent", id: "r", members: #","replay":{"root_request_id":"a","parent_request_id":"a"\#(members)}"#)
        }
        let own = Self.result(
            "partial", members: #","sends":[{"index":0,"outcome":"ambiguous"},{"index":1,"outcome":"throttled"}]"#)
        #expect(RequestStory(Self.life([own, replay("")])).doubts == [.repeatedDoubt])
        #expect(RequestStory(Self.life([own, replay(#","sends":[0]"#)])).doubts == [.repeatedDoubt])
        #expect(RequestStory(Self.life([own, replay(#","sends":[1]"#)])).doubts == [])
    }

    /// Of a request of three calls, of which 1 and 2 were not accepted: the replays that were sent, and if they mend it.
    @Test(
        arguments: [
            ([("a", nil)], true), ([("a", [1, 2])], true), ([("a", [1]), ("a", [2])], true), ([("a", [1])], false), ([], false),
            // Of one part, or of a replay: the first of all is the same.
            ([("a.1", nil)], false), ([("a.1", [1, 2])], false), ([("a", [1]), ("a.1", [2])], false),
        ] as [([(String, [Int]?)], Bool)])
    func onlyReplaysOfAllThatWasNotSentMendIt(replays: [(parent: String, calls: [Int]?)], isRepaired: Bool) {
        let sends = #","sends":[{"index":0,"outcome":"success"},{"index":1,"outcome":"throttled"},{"index":2,"outcome":"auth"}]"#
        let results = replays.enumerated().map { number, replay in
            let calls = replay.calls.map { #","sends":\#($0)"# } ?? ""
            return Self.result(
                "sent", id: "r\(number)",
                members: #","replay":{"root_request_id":"a","parent_request_id":"\#(replay.parent)"\#(calls)}"#)
        }
        let story = RequestStory(Self.life([Self.result("partial", members: sends)] + results))
        #expect((Verdict.of(story, now: Self.now).code == "repaired") == isRepaired)
    }

    @Test func aReplayThatFailedIsToldAsItWas() {
        func reason(_ state: String, _ replay: RequestStory.Replay) -> String {
            let story = Self.story {
                $0.ending = Self.ended(state, "throttled", code: "hub_throttled") { $0.open = [1, 2] }
                $0.replays = [replay]
            }
            return Verdict.of(story, now: Self.now).reason ?? ""
        }
        #expect(reason("failed", .init("failed")).hasSuffix("A replay of it failed, too."))
        #expect(reason("sent", .init("failed")).hasSuffix("A replay of it failed."))
        #expect(reason("partial", .init("failed")).hasSuffix("A replay of it failed."))
        #expect(reason("failed", .init("sent", of: [1])).hasSuffix("A replay of 1 of its calls was sent."))
    }

    @Test func outcomesAreReadOncePerCall() {
        func outcome(_ state: String, call: Int) -> String {
            Self.result(state, kind: "outcome", members: #","sends":[{"index":\#(call)}]"#)
        }
        let story = RequestStory(Self.life([Self.result("sent"), outcome("failed", call: 0), outcome("sent", call: 0)]))
        #expect(story.telemetry == .known([RequestStory.Outcome(state: "sent")]))
        #expect(RequestStory(Self.life([Self.result("sent")])).telemetry == .missing)
    }

    @Test func outcomesAreThoseOfTheResultThatCounts() {
        func result(_ state: String, kind: String, at offset: Int) -> String {
            Self.result(
                state, kind: kind,
                members: #","sends":[{"index":0,"outcome":"success"}],"origin":{"topic":"l","partition":0,"offset":"\#(offset)"}"#
            )
        }
        let story = RequestStory(
            Self.life([
                result("sent", kind: "final", at: 1), result("sent", kind: "final", at: 2),
                result("sent", kind: "outcome", at: 2), result("failed", kind: "outcome", at: 1),
            ]))
        #expect(story.telemetry == .known([RequestStory.Outcome(state: "sent")]))
    }

    /// One that was sent, and of whose calls the hub says that it knows nobody.
    @Test(
        arguments: [
            ("sent", [], "reached_nobody"), ("sent", [.lostAnswer], "reached_nobody"), ("sent", [.sentTwice(2)], "perhaps_twice"),
            ("sent", [.secondResult], "perhaps_twice"), ("partial", [], "sent_in_part"), ("failed", [], "failed"),
            ("expired", [], "expired"),
        ] as [(String, [RequestStory.Doubt], String)])
    func nobodyIsReachedOnlyByOneThatWasSentOnce(state: String, doubts: [RequestStory.Doubt], code: String) {
        let story = Self.story {
            $0.ending = Self.ended(state, code: state == "sent" ? nil : "hub_throttled") { $0.accepted = 1 }
            $0.telemetry = .known([RequestStory.Outcome(state: "failed", code: "no_target")])
            $0.doubts = doubts
        }
        #expect(Verdict.of(story, now: Self.now).code == code)
    }

    @Test func theEndingsOfPartsAreRead() {
        let parts = #","parts":{"count":9,"sent":1,"partial":0,"failed":2,"ambiguous":0,"expired":3,"cancelled":3}"#
        let ending = RequestStory(Self.life([Self.result("partial", members: parts)])).ending
        #expect(
            [ending?.parts, ending?.partsSent, ending?.partsFailed, ending?.partsExpired, ending?.partsCancelled] == [
                9, 1, 2, 3, 3,
            ])
    }

    @Test func aRepetitionNamesThePlaceOfTheFirst() {
        let members =
            #","error":{"code":"duplicate","message":"/dedupe/key: The request at offset 7 of its partition has the same key."},"#
            + #""origin":{"topic":"lane","partition":3,"offset":"9"}"#
        let story = RequestStory(Self.life([Self.result("duplicate", members: members)]))
        #expect(story.original == RequestStory.Original(id: "lane:3:7"))
        let first = RequestStory(Self.life([Self.result("sent"), Self.result("duplicate", members: members)]))
        #expect(first.original == nil && first.ending?.state == "sent")
    }

    @Test func theHubThatKeepsCallsBackIsTold() {
        var (north, south) = (WorkerPage.Hub(), WorkerPage.Hub())
        (north.name, south.name) = ("north", "south")
        (north.circuit, south.circuit) = ("closed", "open")
        typealias Obstacle = RequestStory.HubObstacle
        #expect(Obstacle(of: "north", in: [north, south], now: Self.now) == nil)
        north.throttledUntil = Self.now.adding(seconds: 5)
        #expect(Obstacle(of: "north", in: [north, south], now: Self.now)?.kind == .throttled(until: Self.now.adding(seconds: 5)))
        #expect(Obstacle(of: "north", in: [north, south], now: Self.now.adding(seconds: 5)) == nil)
        #expect(Obstacle(of: "south", in: [north, south], now: Self.now)?.kind == .suspended(until: nil))
        south.circuitReason = "hub_unauthorized"
        #expect(Obstacle(of: "south", in: [north, south], now: Self.now)?.kind == .refusesKey)
    }

    @Test(arguments: [(0, "0 ms"), (99, "99 ms"), (200, "0.2 s"), (59_949, "59.9 s"), (59_950, "1 min"), (150_000, "3 min")])
    func lengthsAreShort(milliseconds: Int64, text: String) {
        #expect(MomentWords.measured(milliseconds) == text)
    }

    @Test func oldAndFarMomentsAreTold() {
        for moment in [Timestamp.past, .never, Timestamp(milliseconds: -1)] {
            for zone in [LocalZone.utc, Self.berlin, LocalZone(name: "-12:00", secondsEast: -43_200)] {
                let words = MomentWords(now: Self.now, zone: zone)
                #expect(
                    !words.second(moment).isEmpty && !words.minute(moment).isEmpty && words.distance(to: moment).hasPrefix("in "))
            }
        }
    }
}
