import Testing

@testable import Groups
@testable import KafkaCare

@Suite struct HubFindingsTests {
    private static func worker(_ id: String, age: Int64 = 0, _ hubs: [(String, Int)]...) throws -> Fleet.Member {
        let loops = hubs.map { hubs in
            let list = hubs.map { #"{"hub":"\#($0.0)","waiting":\#($0.1)}"# }.joined(separator: ",")
            return #"{"worker":"\#(id)","unknown_hubs":[\#(list)]}"#
        }
        let json = Array(#"{"loops":[\#(loops.joined(separator: ","))]}"#.utf8)
        return Fleet.Member(id: id, page: try #require(WorkerPage(json)), raw: json, age: age)
    }

    @Test func hubsThatWorkersLackAreNamedWithWhatWaitsForThem() throws {
        let findings = UnknownHubFindings.of([
            try Self.worker("w1", [("shpo", 2), ("late", 1)], [("shpo", 1)]), try Self.worker("w2", [("shpo", 2), ("none", 0)]),
            try Self.worker("gone", age: Fleet.staleAge + 1, [("old", 9)]), try Self.worker("idle", []),
        ])
        #expect(findings.map(\.subject) == ["shpo", "late"] && findings.allSatisfy { $0.state == .warning && $0.remedy != nil })
        #expect(findings.first?.text == "5 requests wait for it, and the settings of w1, w2 lack it")
        #expect(findings.last?.text == "1 request waits for it, and the settings of w1 lack it")
    }

    @Test func namesOfStrangersDoNotFillTheAnswer() throws {
        let workers = try (0..<40).map { try Self.worker("w\($0)", [("all", 1), ("own\($0)", Int.max)]) }
        let findings = UnknownHubFindings.of(workers)
        #expect(findings.count == 10)
        let shared = UnknownHubFindings.of(try (0..<40).map { try Self.worker("w\($0)", [("all", Int.max)]) })
        #expect(shared.map(\.text) == ["\(Int.max) requests wait for it, and the settings of w0, w1, w2, … lack it"])
    }

    @Test(arguments: [
        (404, "The notification does not exist", Finding.State.ok, Finding.Cause.other), (400, "", .ok, .other),
        (404, "No service is hosted at the specified address", .failed, .configuration),
        (401, "InvalidSignature", .failed, .notAllowed), (403, "", .warning, .other),
        (401, "Manage claim is required for this operation", .warning, .other), (405, "", .warning, .other),
        (403, "not available for the Basic tier of this hub", .ok, .other), (503, "", .failed, .unreachable),
        (429, "", .warning, .other),
    ])
    func anAnswerTellsWhetherTheKeyIsTaken(status: Int, detail: String, state: Finding.State, cause: Finding.Cause) {
        let facts = HubFacts(hub: "ns/h", outcome: .answered(status: status, detail: detail, isThrottled: false))
        let findings = HubFindings.of(facts)
        #expect(findings.map(\.state) == [state])
        #expect(state != .failed || findings.first?.cause == cause)
        #expect(state == .ok || findings.first?.remedy != nil)
    }

    /// The answers to first and second key, and the finding that follows.
    @Test(
        arguments: [
            (401, 404, .warning, "first key refused, second works: refuses the key: 401", "new first key into FIRST, and reload"),
            (401, 403, .warning, "first key refused, second works: refuses the key: 401", "new first key into FIRST, and reload"),
            (404, 401, .warning, "first key works, second refused: refuses the key: 401", "other key into SECOND before"),
            (401, 401, .failed, "refuses both keys: 401", "into FIRST"),
            (401, 503, .failed, "refuses the key: 401", "into FIRST"),
            (404, 404, .ok, "accepts the key", nil), (503, 401, .failed, "answers 503", "pushfan explain hub_unavailable"),
        ] as [(Int, Int, Finding.State, String, String?)])
    func oneOfTwoKeysThatWorksIsNoFailure(first: Int, second: Int, state: Finding.State, text: String, remedy: String?) throws {
        var facts = HubFacts(hub: "ns/h", outcome: .answered(status: first, detail: "", isThrottled: false))
        facts.secondOutcome = .answered(status: second, detail: "", isThrottled: false)
        facts.places.connectionString = "FIRST"
        facts.places.secondaryKey = "SECOND"
        let finding = try #require(HubFindings.of(facts).first)
        #expect(finding.state == state && finding.text == text)
        #expect(remedy.map { finding.remedy?.contains($0) == true } ?? (finding.remedy == nil))
    }

    @Test func aPageInTheHubsPlaceIsNoHub() {
        let facts = HubFacts(hub: "ns/h", outcome: .answered(status: 200, detail: "", isThrottled: false, isHubs: false))
        #expect(HubFindings.of(facts).map(\.state) == [.failed])
        #expect(HubFindings.of(facts).first?.cause == .configuration)
    }

    @Test func aKeyWithoutTheRightSendIsGoodForWhoDoesNotNeedIt() {
        let facts = HubFacts(hub: "ns/h", outcome: .answered(status: 403, detail: "", isThrottled: false))
        #expect(HubFindings.of(facts, needsSend: false).map(\.state) == [.ok])
        let refused = HubFacts(hub: "ns/h", outcome: .answered(status: 401, detail: "InvalidSignature", isThrottled: false))
        #expect(HubFindings.of(refused, needsSend: false).map(\.state) == [.failed])
    }

    @Test(arguments: [
        (Int64(0), Finding.State.ok), (29_000, .ok), (31_000, .warning), (-31_000, .warning), (3_600_000, .failed),
        (-3_600_000, .warning),
    ])
    func aClockThatIsFarOffIsNamed(skew: Int64, state: Finding.State) {
        var facts = HubFacts(hub: "ns/h", outcome: .answered(status: 404, detail: "", isThrottled: false))
        facts.skew = skew
        let findings = HubFindings.of(facts)
        #expect(findings.map(\.state) == [.ok, state])
    }

    @Test(arguments: [
        ("certificate", Finding.Cause.notAllowed), ("tls", .notAllowed), ("connect", .unreachable), ("timeout", .unreachable),
    ])
    func aHubThatDoesNotAnswerIsUnreachableOrUntrusted(reason: String, cause: Finding.Cause) {
        let findings = HubFindings.of(HubFacts(hub: "ns/h", outcome: .failed(reason: reason, detail: "d")))
        #expect(findings.map(\.cause) == [cause])
    }

    @Test(arguments: [
        (nil, "curl -v https://ns.servicebus.windows.net/"),
        ("http://127.0.0.1:1", "curl -v --proxy http://127.0.0.1:1 https://ns.servicebus.windows.net/"),
    ])
    func theCommandForAHubThatDoesNotAnswerCallsThatHub(proxy: String?, command: String) {
        var facts = HubFacts(
            hub: "ns.servicebus.windows.net/h", url: "https://ns.servicebus.windows.net/",
            outcome: .failed(reason: "connect", detail: "d"))
        facts.ownProxy = proxy
        #expect(HubFindings.of(facts).first?.remedy == command)
    }
}
