import Testing

@testable import Jobs

@Suite struct HubFindingsTests {
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
