import Delivery
import PushModel
import ResultQuery
import Testing

@testable import Groups
@testable import Results

/// Incidents as records, in words, and in the list of all gateways.
@Suite struct IncidentTests {
    private static let now: Int64 = 1_795_262_400_000

    private static func incident(
        _ kind: Incident.Kind = .hubThrottled, of subject: String = "shop", ago minutes: Int64 = 30, seconds: Int64 = 720
    ) -> Incident {
        var incident = Incident(kind, of: subject, from: now - minutes * 60_000)
        (incident.lasted, incident.seen) = (seconds * 1000, seconds * 1000 + 60_000)
        (incident.watched, incident.isOver) = (incident.seen, true)
        return incident
    }

    private static func read(_ record: [UInt8]) -> Incident? { Incident(record: record.span) }

    @Test func anIncidentSurvivesItsRecord() throws {
        var incident = Self.incident()
        (incident.failed, incident.expired, incident.waited) = (1, 12, 340)
        incident.cause = "429"
        #expect(Self.read(incident.record) == incident)
        (incident.isOver, incident.cause) = (false, nil)
        #expect(Self.read(incident.record) == incident)
    }

    @Test(arguments: Incident.Kind.allCases) func theGreatestIncidentHasRoomInARecord(kind: Incident.Kind) throws {
        let text = String(repeating: "\u{1}", count: 5000)
        var incident = Self.incident(kind, of: text)
        let most = 1 << 53
        (incident.failed, incident.expired, incident.waited) = (most, most, most)
        incident.cause = Incident.cut(text)
        #expect(incident.record.count <= 8192 / 2)
        #expect(Self.read(incident.record) == incident)
    }

    @Test(arguments: [
        "", "{}", #"{"incident":{}}"#, #"{"incident":{"kind":"hub_down"}}"#, #"{"incident":[]}"#,
        #"{"incident":{"id":"x","kind":"of_later","subject":"s","from":"2026-11-21T17:00:00.000Z"}}"#,
        #"{"incident":{"id":"x","kind":"hub_down","subject":"s","from":7}}"#,
        #"{"at":"2026-11-21T17:00:00.000Z","covered_ms":60000,"finished":{"sent":1}}"#,
    ])
    func anythingElseIsPassedOver(text: String) {
        #expect(Self.read(Array(text.utf8)) == nil)
    }

    @Test func greatNumbersOfAStrangerDoNoHarm() throws {
        let json = """
            {"incident":{"id":"x","kind":"hub_down","subject":"s","from":"2026-11-21T17:00:00.000Z","lasted_ms":9223372036854775807,\
            "seen_ms":-5,"watched_ms":99999999999999999999,"failed":-1,"waited":"x"}}
            """
        let incident = try #require(Self.read(Array(json.utf8)))
        #expect((incident.failed, incident.waited, incident.seen) == (0, 0, 0) && incident.lasted == 1 << 53)
        #expect(!incident.text(at: Self.now).isEmpty && !incident.json(at: .max).isEmpty)
    }

    // MARK: Words

    @Test func aSentenceSaysHowLongAndWhatBecameOfRequests() {
        var incident = Self.incident()
        (incident.waited, incident.expired) = (340, 12)
        let beginning = "Hub shop was throttled (429) for 12 min; meanwhile "
        #expect(incident.text(at: Self.now) == beginning + "340 requests waited, 12 expired in all.")
        (incident.waited, incident.expired, incident.failed) = (1, 0, 2)
        #expect(incident.text(at: Self.now) == beginning + "1 request waited, 2 failed in all.")
        incident = Self.incident(ago: 12)
        incident.isOver = false
        let quiet = "Hub shop was throttled (429) for 12 min, and has shown no trouble for 60 s."
        #expect(incident.text(at: Self.now) == quiet)
        incident.lasted = incident.seen
        #expect(incident.text(at: Self.now) == "Hub shop has been throttled (429) for 13 min.")
    }

    @Test(
        arguments: [
            (.hubDown, "Hub shop was down for 1 h 30 min."), (.hubUnauthorized, "Hub shop refused the key for 1 h 30 min."),
            (.kafkaAway, "Kafka was away for 1 h 30 min."), (.workerLost, "Worker shop was lost for 1 h 30 min."),
            (.noWorker, "No worker reported for 1 h 30 min."),
            (.tenantLimited, "Tenant shop was held to its rate for 1 h 30 min."),
            (.unwatched, "Nothing was watched for 1 h 30 min: no gateway ran, and what happened then is in no incident."),
        ] as [(Incident.Kind, String)])
    func eachKindHasItsWords(kind: Incident.Kind, text: String) {
        #expect(Self.incident(kind, ago: 200, seconds: 5400).text(at: Self.now) == text)
    }

    /// Reports do not say of whose requests failed: no sentence blames its subject for all of them.
    @Test(
        arguments: [
            (.hubDown, "Hub shop was down for 12 min; meanwhile 3 requests waited, 5000 failed, 1 expired in all."),
            (.workerLost, "Worker shop was lost for 12 min; meanwhile 3 requests waited, 5000 failed, 1 expired in all."),
            (.kafkaAway, "Kafka was away for 12 min: 3 requests waited, 5000 failed, 1 expired."),
            (.tenantLimited, "Tenant shop was held to its rate for 12 min: 3 requests waited."),
            (.sourceLimited, "Source shop was held to its rate for 12 min: 3 requests waited."),
        ] as [(Incident.Kind, String)])
    func aSentenceBlamesNobodyForWhatFailedInAll(kind: Incident.Kind, text: String) {
        var incident = Self.incident(kind)
        (incident.waited, incident.failed, incident.expired) = (3, 5000, 1)
        #expect(incident.text(at: Self.now) == text)
        let json = String(decoding: incident.json(at: Self.now), as: UTF8.self)
        #expect(
            json.contains(#""failed":"#) == text.contains("failed") && json.contains(#""expired":"#) == text.contains("expired"))
    }

    /// A gateway counts its own refusals alone, so their number would be another after each record of another one.
    @Test func theNumberOfRefusedCallsIsLeftOutOfOldRecordsToo() throws {
        let json =
            #"{"incident":{"id":"x","kind":"tenant_limited","subject":"s","from":"2026-11-21T17:00:00.000Z","lasted_ms":60000,"refused":30}}"#
        let incident = try #require(Self.read(Array(json.utf8)))
        for text in [incident.text(at: Self.now), String(decoding: incident.json(at: Self.now) + incident.record, as: UTF8.self)]
        {
            #expect(!text.contains("30") && !text.contains("refused"), "\(text)")
        }
    }

    @Test(
        arguments: [
            (59, "59 s"), (119, "119 s"), (120, "2 min"), (162, "2 min 42 s"), (630, "10 min"), (3600, "1 h 0 min"),
            (187_200, "2 d 4 h"),
        ] as [(Int64, String)])
    func lengthsAreThoseThatPeopleSay(seconds: Int64, text: String) {
        #expect(Self.incident(ago: 5000, seconds: seconds).text(at: Self.now).hasSuffix("for \(text)."))
    }

    @Test func failuresAreThoseOfItsTimeAndHub() throws {
        let incident = Self.incident(of: "two words")
        let filter = try #require(incident.failures(at: Self.now))
        #expect(filter.description.hasPrefix(#"hub:"two words" since:2026-"#) && filter.until == incident.end + 1)
        #expect(try ResultFilter(filter.description, now: 0) == filter, "people can type it")
        #expect(Self.incident(.unwatched).failures(at: Self.now) == nil)
        var lasting = Self.incident(ago: 12)
        lasting.isOver = false
        #expect(lasting.failures(at: Self.now)?.until == nil && lasting.failures(at: Self.now)?.since == lasting.from)
    }

    @Test func anIncidentThatLastsHasNoEnd() {
        var incident = Self.incident(ago: 12)
        func json() -> String { String(decoding: incident.json(at: Self.now, open: 3), as: UTF8.self) }
        #expect(json().contains(#""to":""#) && json().contains(#""seconds":720"#) && json().contains(#""open":3"#))
        incident.isOver = false
        #expect(!json().contains(#""to":"#) && json().contains(#""seconds":720"#))
        #expect(
            String(decoding: incident.json(at: Self.now + 241_000), as: UTF8.self).contains(#""to":""#), "nobody has told since")
    }

    // MARK: The list

    @Test func theNewestStandFirstAndThoseBeforeAMomentAreLeftOut() {
        var list = IncidentList()
        for minutes in [90, 30, 300, 60] as [Int64] { list.take(Self.incident(of: "h\(minutes)", ago: minutes), now: Self.now) }
        #expect(list.incidents().map(\.subject) == ["h30", "h60", "h90", "h300"])
        #expect(list.incidents(since: Self.now - 60 * 60_000).map(\.subject) == ["h30", "h60"])
    }

    @Test func ofOneIncidentTheRecordThatHasWatchedMostCounts() {
        var list = IncidentList()
        for (watched, failed) in [(20_000, 1), (59_000, 2), (30_000, 3)] as [(Int64, Int)] {
            var incident = Self.incident()
            (incident.watched, incident.failed) = (watched, failed)
            list.take(incident, now: Self.now)
        }
        #expect(list.incidents().map(\.failed) == [2])
    }

    @Test func whatIsTooOldOrFarAheadIsDroppedAndTheOldestGo() {
        var list = IncidentList()
        let day: Int64 = 1440
        for minutes in [15 * day, -11] { list.take(Self.incident(of: "odd", ago: minutes), now: Self.now) }
        #expect(list.count == 0)
        for place in 0..<2400 as Range<Int64> { list.take(Self.incident(of: "h\(place)", ago: 5000 - place), now: Self.now) }
        #expect(list.count <= IncidentList.capacity && list.incidents().first?.subject == "h2399")
        #expect(list.incidents().count >= IncidentList.capacity / 2 && !list.incidents().contains { $0.subject == "h0" })
    }

    /// A gateway that starts reads hours instead of 14 days.
    @Test func whoeverHasReadADigestKnowsAllThatWasBeforeIt() {
        var list = IncidentList()
        for minutes in [20, 300, 9000] as [Int64] { list.take(Self.incident(of: "h\(minutes)", ago: minutes), now: Self.now) }
        #expect(!list.isWhole(since: .min), "without a digest all days are read")
        let records = list.digest(at: Self.now)
        #expect(records.count == 4 && list.digest(at: Self.now + 3_599_999).isEmpty, "once an hour")
        var reader = IncidentList()
        for record in records { reader.take(record: record.span, now: Self.now + 60_000) }
        #expect(reader.incidents() == list.incidents())
        let first = Self.now - 600_000
        #expect(
            reader.isWhole(since: first) && !reader.isWhole(since: first + 1), "what others wrote just before it is read, too")
        #expect(reader.digest(at: Self.now + 3_599_999).isEmpty && reader.digest(at: Self.now + 3_600_000).count == 4)
        #expect(IncidentList.windows.last == IncidentList.span && IncidentList.windows[0] >= 2 * 3_600_000)
    }

    @Test(arguments: [
        #"{"digest":{}}"#, #"{"digest":[]}"#, #"{"digest":{"at":7}}"#, #"{"digest":{"at":"2026-12-21T17:00:00.000Z"}}"#,
        #"{"digest":{"#, "",
    ])
    func aMarkOfAStrangerOrOfTheFutureIsNone(text: String) {
        var list = IncidentList()
        list.take(record: Array(text.utf8).span, now: Self.now)
        #expect(!list.isWhole(since: .min))
    }

    @Test func minutesCostNothing() {
        var list = IncidentList()
        let minute = Array(
            #"{"at":"2026-11-21T17:00:00.000Z","covered_ms":60000,"finished":{"sent":1},"calls":1,"workers":2}"#.utf8)
        for _ in 0..<200_000 { list.take(record: minute.span, now: Self.now) }
        #expect(list.count == 0)
    }
}

/// The signs of trouble in reports.
@Suite struct IncidentSignFinderTests {
    private static let wall: Int64 = 1_795_262_400_000

    private static func member(_ id: String, age: Int64 = 100, _ json: String) throws -> Fleet.Member {
        Fleet.Member(id: id, page: try #require(WorkerPage(Array(json.utf8))), raw: [], age: age)
    }

    private static func facts(_ members: [Fleet.Member] = []) -> IncidentSignFinder.Facts {
        var facts = IncidentSignFinder.Facts()
        (facts.members, facts.wall, facts.passed, facts.hasKafkaAnswered) = (members, wall, 1000, true)
        return facts
    }

    private static func kinds(_ troubles: [IncidentSign]) -> [String] {
        troubles.map { "\($0.subject.kind.rawValue) \($0.subject.name)" }.sorted()
    }

    /// The members of a hub besides its name, and the incident that it is a sign of.
    @Test(
        arguments: [
            (#""circuit":"closed""#, []), (#""circuit":"open","circuit_reason":"failures_in_row""#, ["hub_down h"]),
            (#""circuit":"half_open""#, ["hub_down h"]),
            (#""circuit":"closed","trouble":"the hub h does not answer: x""#, ["hub_down h"]),
            (#""circuit":"open","retired":true"#, []),
            (#""circuit":"closed","throttled_until":"2026-11-21T12:00:05.000Z""#, ["hub_throttled h"]),
            (#""circuit":"closed","throttled_until":"2026-11-21T11:59:59.000Z""#, []),
            (#""circuit":"open","throttled_until":"2026-11-21T12:00:05.000Z""#, ["hub_down h"]),
        ] as [(String, [String])])
    func aHubIsInTheWorstTroubleThatIsReported(members: String, expected: [String]) throws {
        let page =
            #"{"loops":[{"at":"2026-11-21T12:00:00.000Z","hubs":[{"hub":"h",\#(members)},{"hub":"well","circuit":"closed"}]}]}"#
        var finder = IncidentSignFinder()
        #expect(Self.kinds(finder.signs(Self.facts([try Self.member("w", page)])) { [:] }) == expected)
    }

    /// The sentences are those of workers.
    @Test(arguments: [401, 403]) func aRefusedKeyIsKnownByTheWordsOfWorkers(status: Int) throws {
        var hub = HubAvailability(of: "h", isAsked: true)
        for _ in 0..<100 { hub.noteFailure("it answers \(status)") }
        let byCalls = try #require(hub.problem(isClosed: true, reason: nil))
        let byQuestion = "the hub h \(HubFinding(status: 401, detail: "", asksToWait: false).words)"
        for sentence in [byCalls, byQuestion] {
            let page = #"{"loops":[{"hubs":[{"hub":"h","circuit":"closed","trouble":"\#(sentence)"}]}]}"#
            var finder = IncidentSignFinder()
            let troubles = finder.signs(Self.facts([try Self.member("w", page)])) { [:] }
            #expect(Self.kinds(troubles) == ["hub_unauthorized h"] && troubles.first?.cause == sentence)
        }
    }

    @Test func theRequestsOfAllWorkersWait() throws {
        let hub = #""circuit":"open","waiting_for_turn":3,"waiting_for_timer":4"#
        let page = #"{"loops":[{"hubs":[{"hub":"h",\#(hub)}]},{"hubs":[{"hub":"h",\#(hub)}]}]}"#
        var finder = IncidentSignFinder()
        let troubles = finder.signs(Self.facts([try Self.member("a", page), try Self.member("b", page)])) { [:] }
        #expect(troubles.map(\.waiting) == [28])
    }

    @Test func aLostWorkerIsMissedWhileOthersReport() throws {
        var finder = IncidentSignFinder()
        #expect(finder.signs(Self.facts()) { [:] }.isEmpty, "there never was one")
        let members = [try Self.member("a", #"{"loops":[]}"#), try Self.member("b", age: 20_000, #"{"loops":[]}"#)]
        #expect(Self.kinds(finder.signs(Self.facts(members)) { [:] }) == ["worker_lost b"])
        #expect(Self.kinds(finder.signs(Self.facts(Array(members.suffix(1)))) { [:] }) == ["no_worker "])
        #expect(Self.kinds(finder.signs(Self.facts()) { [:] }) == ["no_worker "])
        var unanswered = Self.facts()
        unanswered.hasKafkaAnswered = false
        #expect(finder.signs(unanswered) { [:] }.isEmpty, "it may be Kafka that is away")
    }

    /// A worker that leaves takes its report away. What waits in Kafka, the seconds until it is missed, and those for one that is lost.
    @Test(arguments: [(0, nil), (1, 60), (900, 60)] as [(Int, Int?)])
    func aPlannedRestartIsNoTroubleBeforeAMinuteInWhichSomethingWaits(waiting: Int, seconds: Int?) throws {
        var finder = IncidentSignFinder()
        func missed(after members: [Fleet.Member], by finder: inout IncidentSignFinder) -> Int? {
            (1...300).first { second in
                var facts = Self.facts(second == 1 ? members : [])
                facts.waiting = waiting
                return !finder.signs(facts) { [:] }.isEmpty
            }
        }
        for _ in 0..<2 {
            #expect(finder.signs(Self.facts([try Self.member("a", #"{"loops":[]}"#)])) { [:] }.isEmpty)
            #expect(missed(after: [], by: &finder) == seconds)
        }
        #expect(finder.signs(Self.facts([try Self.member("a", #"{"loops":[]}"#)])) { [:] }.isEmpty)
        #expect(missed(after: [try Self.member("a", age: 20_000, #"{"loops":[]}"#)], by: &finder) == 1, "it was lost")
        var told = IncidentSignFinder()
        told.expectWorkers()
        #expect(missed(after: [], by: &told) == 1, "an incident lasts")
    }

    @Test func whileKafkaIsAwayNoWorkerIsMissedNorAMinuteAfter() throws {
        var finder = IncidentSignFinder()
        finder.expectWorkers()
        var away = Self.facts()
        (away.kafkaProblem, away.hasKafkaAnswered) = ("brokers do not answer", false)
        #expect(Self.kinds(finder.signs(away) { [:] }) == ["kafka_away "])
        for _ in 0..<59 { #expect(finder.signs(Self.facts()) { [:] }.isEmpty) }
        #expect(Self.kinds(finder.signs(Self.facts()) { [:] }) == ["no_worker "])
    }

    @Test func limitsConcernTenantsAndSourcesAndHoldsNobody() throws {
        let orders =
            ["t", "s", "h", "gone"].map { #"{"id":"\#($0)","kind":"limit","waiting":5}"# } + [
                #"{"id":"hold","kind":"hold","waiting":9}"#, #"{"id":"idle","kind":"limit","waiting":0}"#,
            ]
        let member = try Self.member("w", #"{"orders":[\#(orders.joined(separator: ","))],"loops":[]}"#)
        func scope(_ change: (inout OrderScope) -> Void) -> OrderScope {
            var scope = OrderScope()
            change(&scope)
            return scope
        }
        let scopes = [
            "t": scope { $0.tenant = "acme" }, "s": scope { $0.source = "/shop" }, "h": scope { $0.hub = "north" },
            "hold": scope { $0.tenant = "bank" }, "idle": scope { $0.tenant = "idle" },
        ]
        var facts = Self.facts([member])
        facts.refused = [IncidentSign.Subject(.tenantLimited, of: "loud"): 12]
        var finder = IncidentSignFinder()
        let troubles = finder.signs(facts) { scopes }
        #expect(Self.kinds(troubles) == ["source_limited /shop", "tenant_limited acme", "tenant_limited loud"])
        #expect(troubles.map(\.waiting).sorted() == [0, 5, 5])
        // Nobody reads orders by which nothing waits.
        var (other, wasAsked) = (IncidentSignFinder(), false)
        _ = other.signs(Self.facts([try Self.member("w", #"{"orders":[\#(orders[5])],"loops":[]}"#)])) {
            wasAsked = true
            return [:]
        }
        #expect(!wasAsked)
    }
}
