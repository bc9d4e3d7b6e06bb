import PushModel
import Testing

@testable import Replay

@Suite struct EligibilityTests {
    /// Outcomes of the sends, some with their codes, what was replayed before, what is allowed; then what is repeated, and what stands for
    /// the rest.
    struct Row: Sendable, CustomTestStringConvertible {
        var outcomes: [String]
        var replayed: [Int] = []
        var ambiguousToo = false
        var renewed = false
        var namesAll = false
        var sends: [Int]
        var left: [Leftover: [Int]] = [:]
        var repair: ErrorCode?

        var testDescription: String { "\(outcomes) \(replayed) \(ambiguousToo) \(renewed)" }
    }

    static let rows = [
        Row(outcomes: ["success", "success"], sends: [], left: [.delivered: [0, 1]]),
        Row(outcomes: ["success", "throttled"], sends: [1]),
        Row(outcomes: ["transient", "throttled", "auth", "cancelled:worker_shutdown"], sends: [0, 1, 2, 3]),
        Row(outcomes: ["cancelled:cancelled", "transient"], sends: [], left: [.cancelled: [0, 1]]),
        Row(outcomes: ["cancelled", "ambiguous", "expired"], renewed: true, sends: [], left: [.cancelled: [0, 1, 2]]),
        Row(outcomes: ["cancelled:cancelled", "transient", "success"], namesAll: true, sends: [0, 1]),
        Row(outcomes: ["payload", "permanent", "duplicate"], sends: [], left: [.pointless: [0, 1, 2]]),
        Row(outcomes: ["payload:payload_too_large", "no_target"], sends: [], left: [.pointless: [0], .untargeted: [1]]),
        Row(outcomes: ["no_target:no_target", "success"], namesAll: true, sends: [0]),
        Row(
            outcomes: ["success", "permanent:hub_not_found", "permanent:unknown_hub", "permanent:response_invalid"],
            sends: [1, 2, 3], repair: .hubNotFound),
        Row(
            outcomes: ["auth:hub_forbidden", "permanent:devices_refused"], sends: [0], left: [.pointless: [1]],
            repair: .hubForbidden),
        Row(outcomes: ["transient:hub_unavailable", "throttled:hub_throttled"], sends: [0, 1]),
        Row(outcomes: ["ambiguous:response_invalid"], sends: [], left: [.ambiguous: [0]]),
        Row(outcomes: ["payload", "transient"], sends: [1], left: [.pointless: [0]]),
        Row(outcomes: ["ambiguous", "transient"], sends: [1], left: [.ambiguous: [0]]),
        Row(outcomes: ["ambiguous", "transient"], ambiguousToo: true, sends: [0, 1]),
        Row(outcomes: ["a word of tomorrow", "transient"], sends: [1], left: [.ambiguous: [0]]),
        Row(outcomes: ["expired", "success"], sends: [], left: [.expired: [0]]),
        Row(outcomes: ["expired", "success"], renewed: true, sends: [0]),
        Row(outcomes: ["expired:expired_on_hold", "success"], sends: [], left: [.expired: [0]]),
        Row(outcomes: ["expired:expired_on_hold", "success"], renewed: true, sends: [0]),
        Row(outcomes: ["payload"], ambiguousToo: true, renewed: true, sends: [], left: [.pointless: [0]]),
        Row(outcomes: ["transient", "transient"], replayed: [0], sends: [1], left: [.replayed: [0]]),
        Row(outcomes: ["ambiguous", "transient"], replayed: [0, 1], ambiguousToo: true, sends: [], left: [.replayed: [0, 1]]),
    ]

    @Test(arguments: rows) func onlyWhatFailedAndMayBeRepeatedIs(_ row: Row) throws {
        var history = ReplayHistory()
        history.noteReplay(of: SendSet(row.replayed), in: placed)
        let policy = ReplayPolicy(
            includesAmbiguous: row.ambiguousToo, renewsExpiry: row.renewed, includesCancelled: row.namesAll,
            includesUntargeted: row.namesAll)
        let eligibility = Eligibility(of: try settled(result(row.outcomes)), after: history, under: policy)
        #expect(eligibility.sends.indices == row.sends)
        #expect(eligibility.left == row.left.mapValues { SendSet($0) })
        #expect(eligibility.repair == row.repair)
    }

    @Test(arguments: [(true, [0, 1], [0]), (false, [1], [])] as [(Bool, [Int], [Int])])
    func whatMayRingTwiceIsKnownAmongWhatIsRepeated(ambiguousToo: Bool, sends: [Int], ambiguous: [Int]) throws {
        let eligibility = Eligibility(
            of: try settled(result(["ambiguous", "transient", "ambiguous"])), after: replayed([2]),
            under: ReplayPolicy(includesAmbiguous: ambiguousToo))
        #expect(eligibility.sends.indices == sends && eligibility.ambiguous.indices == ambiguous)
    }

    private func replayed(_ sends: [Int]) -> ReplayHistory {
        var history = ReplayHistory()
        history.noteReplay(of: SendSet(sends), in: placed)
        return history
    }

    @Test(
        arguments: [
            (["unknown_hub"], "permanent", nil), (["not_configured"], "permanent", nil),
            (["unknown_hub", "schema_invalid"], "permanent", .pointless),
            (["unknown_hub", "a_code_of_tomorrow"], "permanent", .pointless),
            (["payload_too_large"], "payload", .pointless), (["cancelled"], "cancelled", .cancelled),
        ] as [([String], String, Leftover?)])
    func aRejectedRequestIsRepeatedOnceAllItsFaultsCanBeRepaired(_ faults: [String], _ outcome: String, _ left: Leftover?) throws
    {
        let settled = try settled(result([], outcome: outcome, faults: faults))
        let eligibility = Eligibility(of: settled, after: ReplayHistory(), under: ReplayPolicy())
        #expect(eligibility.mainReason == left)
        #expect(eligibility.sends == (left == nil ? .all : SendSet()))
        #expect(eligibility.repair == (left == nil ? ErrorCode(rawValue: faults[0]) : nil))
    }

    @Test func ofARequestThatWasSentInPartsOnlyThePartsAreRepeated() throws {
        let whole = result([], planned: 45).dropLast() + #","parts":{"count":3,"sent":2,"failed":1}}"#
        let settled = try settled(String(whole))
        #expect(settled.hasParts)
        let eligibility = Eligibility(
            of: settled, after: ReplayHistory(), under: ReplayPolicy(includesAmbiguous: true, renewsExpiry: true))
        #expect(eligibility.sends.isEmpty && eligibility.mainReason == .parts)
    }

    @Test func whatAReplayHasDeliveredIsRepaired() throws {
        var history = ReplayHistory()
        history.noteJob("j")
        let lineage =
            #"{"root_request_id":"r-1","parent_request_id":"r-1","parent_origin":"\#(place)","sends":[1],"generation":1,"job_id":"j"}"#
        history.noteResult(try document(result(["success"], at: "push.requests.v1:0:9", replay: lineage)))
        let eligibility = Eligibility(of: try settled(result(["transient", "transient"])), after: history, under: ReplayPolicy())
        #expect(eligibility.sends.indices == [0])
        #expect(eligibility.left == [.delivered: SendSet([1])])
    }

    @Test(arguments: [#","job_id":"forged""#, "", #","job_id":7"#]) func aReplayOfWhichNoJobIsKnownRepairsNothing(_ job: String)
        throws
    {
        var history = ReplayHistory()
        history.noteJob("j")
        let lineage = #"{"parent_origin":"\#(place)","generation":1\#(job)}"#
        history.noteResult(try document(result(["success"], at: "push.requests.v1:0:9", replay: lineage)))
        #expect(history.unknownCount == 1)
        #expect(Eligibility(of: try settled(result(["transient"])), after: history, under: ReplayPolicy()).sends.indices == [0])
    }

    @Test func aReplayThatFailedIsReplayedInPlaceOfItsOriginal() throws {
        var history = ReplayHistory()
        history.noteJob("j")
        let lineage = #"{"parent_origin":"\#(place)","generation":1,"job_id":"j"}"#
        let again = result(["throttled"], at: "push.requests.v1:0:9", id: "j:0", replay: lineage)
        history.noteResult(try document(again))
        let original = Eligibility(of: try settled(result(["transient"])), after: history, under: ReplayPolicy())
        #expect(original.mainReason == .replayed)
        #expect(Eligibility(of: try settled(again), after: history, under: ReplayPolicy()).sends.indices == [0])
    }

    @Test func aRequestThatEndedBeforeAnyCallIsRepeatedAsAWhole() throws {
        let expired = try settled(result([], outcome: "expired"))
        #expect(Eligibility(of: expired, after: ReplayHistory(), under: ReplayPolicy()).mainReason == .expired)
        #expect(Eligibility(of: expired, after: ReplayHistory(), under: ReplayPolicy(renewsExpiry: true)).sends == .all)
        #expect(
            Eligibility(of: try settled(result([], outcome: "payload")), after: ReplayHistory(), under: ReplayPolicy()).mainReason
                == .pointless
        )
    }

    @Test func resultsWithoutDetailsSayEnoughOfOneCallOnly() throws {
        let one = try settled(result([], planned: 1, outcome: "throttled"))
        #expect(Eligibility(of: one, after: ReplayHistory(), under: ReplayPolicy()).sends.indices == [0])
        let several = try settled(result([], planned: 2, outcome: "throttled"))
        #expect(Eligibility(of: several, after: ReplayHistory(), under: ReplayPolicy()).mainReason == .unspecific)
        let cut = try settled(result(["transient", "success"], planned: 300))
        #expect(Eligibility(of: cut, after: ReplayHistory(), under: ReplayPolicy()).mainReason == .unspecific)
    }

    @Test func onlyFinalAndOutcomeResultsOfKnownRequestsCount() throws {
        #expect(SettledResult(try document(result(["transient"], kind: "interim"))) == nil)
        #expect(SettledResult(try document(#"{"request_id":"r","kind":"final"}"#)) == nil)
        #expect(try settled(result(["transient"], kind: "outcome")).isOutcome)
    }
}
