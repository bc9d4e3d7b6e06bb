@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
import Basics
import Dispatch
import EventLoop
import Foundation
import HTTPServing
import Keys
import PushModel
import Replay
import ResultQuery
import TestSupport
import Testing

@testable import JobSupport
@testable import Replays

/// What a caller wants planned and run.
@Suite struct PlanOrderTests {
    private static let now: Int64 = 1_764_000_000_000

    private static func order(_ body: String, tenant: String? = nil) throws -> PlanOrder {
        try PlanOrder(call(.planReplay, scopes: [.replay], tenant: tenant, method: "POST", body: body), at: now)
    }

    /// The plan's rate, that of a run before, the rate that is asked for, and what is shown.
    static let prices: [(plan: Double?, run: Double?, asked: Int?, rate: Int, seconds: Int)] = [
        (20, nil, nil, 20, 500), (nil, nil, nil, 500, 20), (20, nil, 100, 20, 100), (20, 50, nil, 50, 200),
        (20, 50, 100, 50, 100),
        (20, 0, nil, 20, 500), (20, 1e18, nil, 1_000_000, 1),
    ]

    @Test(arguments: prices) func aPlanCostsWhatItsOwnRateMakes(
        plan: Double?, run: Double?, asked: Int?, rate: Int, seconds: Int
    ) throws {
        var header = ReplayPlanHeader(jobID: "j", createdAt: Timestamp(milliseconds: Self.now), filter: "", actor: "a")
        (header.rate, header.counts.requests) = (plan, 10_000)
        let job = run.map { run -> JobLog.Job in
            var record = JobRecord(jobID: "j", state: .interrupted)
            record.rate = run
            return JobLog.Job(record: record)
        }
        let shown = ReplayJSON(ReplayReport(header, job: job, now: Self.now), standing: nil)
        let bytes = shown.whole(samples: [], rate: asked, callsAtOnce: 64).bytes
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(json["rate"] as? Int == rate && json["seconds"] as? Int == seconds)
    }

    @Test func aBodyBecomesTheHeaderOfAPlan() throws {
        let order = try Self.order(
            #"{"filter":"error:hub_unavailable since:1h","mode":"include_ambiguous","reason":"the hub was down","ttl_seconds":60,"set":["hub=b"]}"#
        )
        let publisher = Publisher(keyID: "k1", tenant: nil, source: "shop", scopes: [.replay])
        let header = order.header(jobID: "j", at: Self.now, by: publisher)
        #expect(header.includesAmbiguous && header.reason == "the hub was down" && header.edits == ["hub=b"])
        #expect(header.expiry == .life(seconds: 60) && header.actor == "shop (key k1)" && header.tenant == nil)
        #expect(header.filter.contains("error:hub_unavailable") && header.filter.contains("state:failed"))
        #expect(header.rate == 500)
        #expect(header.filter.contains("since:2025-11-24T"), "relative times are settled: \(header.filter)")
    }

    /// An operator's note of a key is for operators: what is written of a replay is read by tenants, too.
    @Test func theCommentOnAKeyIsInNothingThatIsWritten() throws {
        var publisher = Publisher(keyID: "k1", tenant: nil, source: "shop", scopes: [.replay])
        publisher.comment = "on call, Ann"
        #expect(publisher.actor == "shop (key k1)")
        let header = try Self.order(#"{"filter":"","reason":"r"}"#).header(jobID: "j", at: Self.now, by: publisher)
        #expect(!String(decoding: header.json, as: UTF8.self).contains("Ann"))
    }

    /// The actor of a plan, that of its run, and the key whose comment is shown.
    @Test(
        arguments: [
            ("shop (key k1)", nil, "k1"), ("shop (key k1)", "ops (key k2)", "k2"), ("a (key b) (key k1)", nil, "k1"),
            ("ann", nil, nil), ("shop (key k1), of Ann", nil, nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func aListAddsTheCommentOfTheKeyThatRunsItButNotForTenants(planned: String, run: String?, key: String?) {
        let job = run.map { actor -> JobLog.Job in
            var record = JobRecord(jobID: "j", state: .done)
            record.actor = actor
            return JobLog.Job(record: record)
        }
        let header = ReplayPlanHeader(jobID: "j", createdAt: Timestamp(milliseconds: Self.now), filter: "", actor: planned)
        let shown = ReplayJSON(ReplayReport(header, job: job, now: Self.now), standing: nil)
        #expect(shown.keyID == key)
        for tenant in [nil, "acme"] as [String?] {
            var json = JSONObject()
            let publisher = Publisher(keyID: "k", tenant: tenant, source: "x", scopes: [.read])
            shown.addComment(to: &json, for: publisher) { "note of \($0)" }
            let text = String(decoding: json.bytes, as: UTF8.self)
            #expect(text.contains(#""comment":"note of "#) == (key != nil && tenant == nil), "\(text)")
        }
    }

    /// The job of a run that has just ended may not be read yet. What has failed before it began has none.
    @Test(
        arguments: [
            (nil, false), (.starting, true), (.running, true), (.paused, true), (.ended(.done), true), (.ended(.stopped), true),
            (.failed(.noStateFolder), false),
        ] as [(ReplayRuns.Standing.State?, Bool)])
    func whatWasRunHereCountsAsRunBeforeItsJobIsRead(state: ReplayRuns.Standing.State?, wasRun: Bool) {
        let header = ReplayPlanHeader(jobID: "j", createdAt: Timestamp(milliseconds: Self.now), filter: "", actor: "a")
        func shown(_ job: JobLog.Job?) -> ReplayJSON {
            ReplayJSON(ReplayReport(header, job: job, now: Self.now), standing: state.map { .init(state: $0) })
        }
        #expect(shown(nil).wasRun == wasRun)
        #expect(shown(JobLog.Job(record: JobRecord(jobID: "j", state: .done))).wasRun)
    }

    @Test(
        arguments: [
            (0..<5000).map { "\"x\($0)\":1" }.joined(separator: ","),
            #""source":"deadletter","reason":"r","places":["#
                + Array(repeating: #""nowhere""#, count: 1000).joined(separator: ",") + "]",
        ])
    func ofManyFaultsThirtyTwoAreTold(members: String) {
        let problem = #expect(throws: APIProblem.self) { try Self.order("{\(members)}") }
        #expect(problem?.status == 422 && problem?.faults.count == 32)
    }

    @Test func aPlanTakesAFilterAsLongAsOneOfAList() throws {
        let ids = [Int](0..<900).map { "bad-\($0)" }.joined(separator: ",")
        #expect(try Self.order(#"{"filter":"request:\#(ids)","reason":"a"}"#).filter.description.contains("bad-899"))
    }

    @Test func whatIsNullIsNotSet() throws {
        let names = [
            "mode", "rate", "ttl_seconds", "expires_at", "set", "limit", "since", "until", "codes", "places", "value",
        ]
        let nulls = names.map { "\"\($0)\":null" }.joined(separator: ",")
        let publisher = Publisher(keyID: "k1", tenant: nil, source: "shop", scopes: [.replay])
        let headers = try [
            "{\"source\":null,\"filter\":\"tenant:a\",\"reason\":\"x\",\(nulls)}", #"{"filter":"tenant:a","reason":"x"}"#,
        ].map {
            try Self.order($0).header(jobID: "j", at: Self.now, by: publisher)
        }
        #expect(headers[0] == headers[1])
    }

    @Test func aKeyWithATenantPlansForThatAlone() throws {
        let order = try Self.order(#"{"filter":"tenant:other","reason":"x"}"#, tenant: "acme")
        #expect(order.filter.description.contains("tenant:acme"))
        let publisher = Publisher(keyID: "k1", tenant: "acme", source: "shop", scopes: [.replay])
        #expect(order.header(jobID: "j", at: Self.now, by: publisher).tenant == "acme")
        #expect(throws: APIProblem.notForTenants) { try Self.order(#"{"source":"deadletter","reason":"x"}"#, tenant: "acme") }
    }

    @Test(arguments: [
        (#""filter":1"#, ["/filter"]), (#""mode":"all","rate":0,"limit":-1"#, ["/mode", "/rate", "/limit", "/filter"]),
        (#""filtr":"""#, ["/filtr", "/filter"]), (#""filter":"","ttl_seconds":0"#, ["/ttl_seconds"]),
        (#""filter":"","ttl_seconds":1,"expires_at":"2099-01-01T00:00:00Z""#, ["/expires_at"]),
        (#""filter":"","expires_at":"2001-01-01T00:00:00Z""#, ["/expires_at"]), (#""filter":"","set":["a",1]"#, ["/set"]),
        (#""filter":"","codes":["x"]"#, ["/codes"]), (#""source":"deadletter","filter":"","mode":"safe""#, ["/filter", "/mode"]),
        (#""source":"deadletter","places":["nowhere"]"#, ["/places"]), (#""source":"deadletter","value":{}"#, ["/value"]),
        (#""filter":"","filter":"""#, ["/filter"]), (#""filter":null,"set":null"#, ["/filter"]),
        (#""filtr":null"#, ["/filtr", "/filter"]),
    ])
    func everyFaultIsNamedAtOnce(body: String, pointers: [String]) throws {
        let problem = try #require(throws: APIProblem.self) { try Self.order(#"{"reason":"x",\#(body)}"#) }
        #expect(problem.status == 422 && problem.faults.map(\.pointer) == pointers)
    }

    /// Whatever it is for, and beside other faults.
    @Test(arguments: [
        (#"{"filter":""}"#, ["/reason"]), (#"{"filter":"","reason":""}"#, ["/reason"]),
        (#"{"filter":"","reason":" \n\u00a0"}"#, ["/reason"]), (#"{"filter":"","reason":null}"#, ["/reason"]),
        (#"{"source":"deadletter","reason":"\t"}"#, ["/reason"]), ("{}", ["/filter", "/reason"]), ("", ["/filter", "/reason"]),
        ("[]", [""]),
    ])
    func aPlanHasAReason(body: String, pointers: [String]) throws {
        let problem = try #require(throws: APIProblem.self) { try Self.order(body) }
        #expect(problem.status == 422 && problem.faults.map(\.pointer) == pointers)
        let again = #"{"reason":" "}"#
        let run = HTTPServerRequest(method: "POST", target: "/x", headers: [:], body: Array(again.utf8))
        #expect(throws: APIProblem.self) { try RunOrder(run) }
    }

    /// A filter is asked of every result, and the answer names how much it may ask.
    @Test(
        arguments: [
            (String(repeating: "hub:a ", count: 65), "a filter has at most 64"),
            ("request:" + String(repeating: "a,", count: 1024) + "a", "a filter has at most 1024"),
            ("request:" + String(repeating: "*a,", count: 64) + "*a", "a filter has at most 64"),
        ] as [(String, String)])
    func aFilterThatAsksTooMuchIsRefusedWithTheLimit(filter: String, words: String) throws {
        let problem = try #require(throws: APIProblem.self) { try Self.order(#"{"filter":"\#(filter)","reason":"x"}"#) }
        #expect(problem.status == 400 && problem.detail.contains(words), "\(problem.detail)")
    }

    @Test(arguments: [#"{"filter":"stat:failed","reason":"x"}"#, #"{"filter":"since:tomorrow","reason":"x"}"#])
    func aFilterThatIsNoneIsRefused(body: String) throws {
        let problem = try #require(throws: APIProblem.self) { try Self.order(body) }
        #expect(problem.status == 400 && problem.detail.hasPrefix("filter, position "))
    }

    @Test func aDeadLetterIsNamedByItsPlaceAndMayBeReplaced() throws {
        let order = try Self.order(
            #"{"source":"deadletter","reason":"x","places":["push.deadletter.v1:0:12@2026-11-21T12:00:00.000Z"],"value":{"a":[1, 2]}}"#
        )
        let place = RecordPlace(topic: "push.deadletter.v1", partition: 0, offset: 12)
        #expect(order.places == [Original(at: place, publishedAt: Timestamp(milliseconds: 1_795_262_400_000))])
        let bare = try Self.order(#"{"source":"deadletter","reason":"x","places":["push.deadletter.v1:0:12"]}"#)
        #expect(bare.places == [Original(at: place)])
        #expect(order.value == Array(#"{"a":[1, 2]}"#.utf8))
    }

    @Test func aRunIsToldTheReasonTheRateAndTheNumber() throws {
        let request = HTTPServerRequest(
            method: "POST", target: "/x", headers: [:], body: Array(#"{"reason":"again","rate":20,"count":4711}"#.utf8))
        let order = try RunOrder(request)
        #expect(order.reason == "again" && order.rate == 20 && order.count == 4711)
        let bare = try RunOrder(HTTPServerRequest(method: "POST", target: "/x"))
        #expect(bare.reason == nil && bare.rate == nil && bare.count == nil)
    }
}

/// Plans in files, and those that are being made.
@Suite struct PlanKeepingTests {
    @Test(arguments: ["", "..", "../../etc/passwd", "a/b/c/d/e", "0123456", "01234567\n", String(repeating: "a", count: 65)])
    func anIdIsNoPath(id: String) throws {
        let folder = try TemporaryFolder()
        #expect(try PlanStore(folder.path("plans")).path(of: id) == nil)
    }

    @Test func plansAreListedNewestFirstAndHalfOnesRemoved() throws {
        let folder = try TemporaryFolder()
        let store = try PlanStore(folder.path(""))
        for name in ["replay-00000001.ndjson", "replay-00000002.ndjson", "replay-00000003.ndjson.part", "other"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path(name)))
        }
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() }
        #expect(store.ids == ["00000002", "00000001"])
        #expect(store.existingPath(of: "00000001") != nil && store.existingPath(of: "00000009") == nil)
        store.removeOld(now: Date(timeIntervalSinceNow: 2 * 86_400))
        #expect(try names() == ["other", "replay-00000001.ndjson", "replay-00000002.ndjson"])
        store.removeOld(now: .distantFuture)
        #expect(try names() == ["other"])
    }

    /// Also of what another process has put there, as before a restart.
    @Test func plansInFilesMakeRoomByWhoseTheyAre() throws {
        let folder = try TemporaryFolder()
        for (number, tenant) in ["quiet", "greedy", "greedy", "greedy", "greedy"].enumerated() {
            var header = ReplayPlanHeader(
                jobID: "1000000\(number)", createdAt: Timestamp(milliseconds: 0), filter: "", actor: "shop (key k1)")
            header.tenant = tenant
            let file = URL(fileURLWithPath: folder.path("replay-1000000\(number).ndjson"))
            try Data(header.json + [UInt8(ascii: "\n")]).write(to: file)
        }
        try Data("no plan\n".utf8).write(to: URL(fileURLWithPath: folder.path("replay-10000009.ndjson")))
        let (store, limit) = (try PlanStore(folder.path("")), 3 * KeptPlans.leastByteCount)
        #expect(store.makeRoom(besides: ["10000001"], within: limit) == ["10000002", "10000003"])
        #expect(store.ids == ["10000009", "10000004", "10000001", "10000000"])
        #expect(store.makeRoom(besides: [], within: limit) == [])
    }

    @Test func aFolderThatCannotBeUsedIsAFailure() throws {
        let folder = try TemporaryFolder()
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path("file")))
        #expect(throws: GatewayFailure.self) { try PlanStore(folder.path("file/below")) }
    }

    @Test func aDraftAnswersItsCallOnce() throws {
        let (drafts, answered) = (PlanDrafts(), Answered())
        #expect(drafts.add("a", tenant: nil) { answered.add($0) })
        drafts.note(.began(.originals, count: 10), of: "a")
        drafts.note(.reached(remaining: 4), of: "a")
        drafts.tick(at: .now())
        #expect(answered.all.isEmpty)
        drafts.tick(at: MonotonicTime.now().advanced(by: .seconds(11)))
        #expect(answered.last?.status == 202 && answered.text == "{\"id\":\"a\",\"state\":\"planning\",\"read\":6,\"of\":10}\n")
        drafts.end("a", with: .failure(.stopping))
        #expect(answered.all.count == 1 && drafts["a"]?.problem == .stopping)
        #expect(drafts.cancel("a") == false)
    }

    @Test func aDraftThatIsBeingMadeIsNeverForgottenForAnother() {
        let drafts = PlanDrafts()
        let count = (0..<1000).count { drafts.add("\($0 + 1000)", tenant: nil) { _ in } }
        #expect(count == 200 && drafts["1000"]?.isCancelled == false)
        drafts.end("1100", with: .failure(.planGivenUp))
        #expect(drafts.add("3000", tenant: nil) { _ in } && drafts["1100"] == nil)
        drafts.forget("3000")
        #expect(drafts["3000"] == nil)
    }

    @Test func ofDraftsThatFailedWhoeverHasMostLosesItsOldest() {
        let drafts = PlanDrafts()
        _ = drafts.add("0001", tenant: "quiet") { _ in }
        drafts.end("0001", with: .failure(.planGivenUp))
        for number in 1000..<1500 {
            #expect(drafts.add("\(number)", tenant: nil, source: "greedy") { _ in })
            drafts.end("\(number)", with: .failure(.planGivenUp))
        }
        #expect(drafts["0001"] != nil && drafts["1499"] != nil && drafts["1000"] == nil)
    }

    /// The plans of parties, the oldest first, each with its size, those at work, and those that leave beyond 64 MiB.
    @Test(
        arguments: [
            ("a1 b1", [], []), ("a8 a40 b20", [], [0]), ("b20 a8 a40", [], [1]), ("b30 a40", [], [1]), ("a40 b30", [1], [0]),
            ("b1 a30 a30 a30", [], [1]), ("b1 a30 a30 a30", [1], [2]), ("a80", [], [0]), ("a80", [0], []),
            ("b1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1", [], [1, 2]), ("b20 b20 a30 a80", [], [2, 3]),
        ] as [(String, Set<Int>, [Int])])
    func ofPlansWhoeverHasMostLosesItsOldest(words: String, atWork: Set<Int>, leaving: [Int]) {
        let plans = words.split(separator: " ").enumerated().map { (number, word) in
            KeptPlans.Plan(
                id: "\(100 + number)", party: Party(tenant: String(word.prefix(1)), source: nil),
                byteCount: (Int(word.dropFirst()) ?? 0) << 20)
        }
        let gone = KeptPlans(plans: plans).leaving(besides: Set(atWork.map { "\(100 + $0)" }), within: 64 << 20)
        #expect(gone == leaving.map { "\(100 + $0)" })
    }

    @Test func aTenantSeesItsOwnDrafts() {
        let drafts = PlanDrafts()
        for tenant in ["acme", "bank"] { _ = drafts.add(tenant, tenant: tenant) { _ in } }
        func seen(_ tenant: String?) -> [String] {
            drafts.all(for: Publisher(keyID: "k", tenant: tenant, source: "s", scopes: [])).keys.sorted()
        }
        #expect(seen("acme") == ["acme"] && seen(nil) == ["acme", "bank"] && seen("other") == [])
    }

    @Test func oneReplayOfATenantRunsAtATimeAndAPausedOneHoldsUpNoOther() throws {
        let (runs, begun) = (ReplayRuns(), Box(0))
        let (goOn, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let admission = runs.start("first", of: "acme") { _ in
            begun.withLock { $0 += 1 }
        } work: { report throws(JobFailure) in
            report(.began(at: 3))
            report(.reached(5, skipped: 1))
            goOn.wait()
            defer { ended.signal() }
            return JobRecord(jobID: "first", state: .interrupted)
        }
        #expect(admission == .begins())
        #expect(eventually { runs.standing(of: "first")?.next == 5 })
        func start(_ id: String, of tenant: String?) -> RunPlaces.Admission {
            runs.start(id, of: tenant) { _ in
            } work: { _ throws(JobFailure) in
                throw .room(ReplayFailure.takenOver)
            }
        }
        #expect(start("second", of: "acme") == .excluded(by: "first") && start("all", of: nil) == .excluded(by: "first"))
        #expect(start("other", of: "bank") == .begins())
        runs.notePause(of: "first")
        #expect(runs.standing(of: "first")?.state == .paused && runs.standing(of: "first")?.isAtWork == true)
        #expect(start("first", of: "acme") == .excluded(by: "first"), "it is resumed, not run")
        #expect(eventually { runs.standing(of: "other")?.isAtWork == false })
        #expect(start("second", of: "acme") == .begins())
        #expect(eventually { runs.standing(of: "second")?.state == .failed(APIProblem(.takenOver)) })
        goOn.signal()
        ended.wait()
        #expect(eventually { runs.standing(of: "first")?.state == .ended(.interrupted) })
        #expect(begun.withLock { $0 } == 1 && runs.standing(of: "first")?.isAtWork == false)
    }

    /// Replays that rest keep their places as long as there are others.
    @Test func aPausedReplayGivesItsPlaceUpWhenThereIsNoOther() {
        let (runs, rests) = (ReplayRuns(), (0..<RunPlaces.limit).map { _ in Latch() })
        let goOn = DispatchSemaphore(value: 0)
        for (number, rest) in rests.enumerated() {
            let admission = runs.start("\(number)", of: number == 0 ? "quiet" : "greedy", rest: rest) { _ in
            } work: { _ throws(JobFailure) in
                goOn.wait()
                return JobRecord(jobID: "\(number)", state: .interrupted)
            }
            #expect(admission == .begins())
            runs.notePause(of: "\(number)")
        }
        let next = runs.start("next", of: "newcomer") { _ in
        } work: { _ throws(JobFailure) in
            throw .room(ReplayFailure.takenOver)
        }
        #expect(next == .begins(interrupting: "1") && rests.map(\.isSet) == (0..<RunPlaces.limit).map { $0 == 1 })
        for _ in rests { goOn.signal() }
        runs.waitForEnds(until: .now() + 10)
    }
}
