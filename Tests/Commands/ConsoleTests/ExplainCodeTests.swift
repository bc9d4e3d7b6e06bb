import GatewayAPI
import PushModel
import Testing

@testable import Console

/// Whoever meets a code in a result can ask what it means.
@Suite struct ExplainCodeTests {
    @Test(arguments: ErrorCode.allCases)
    func everyCodeOfAResultHasAPage(code: ErrorCode) {
        let page = Harness().run("explain \(code.rawValue)")
        #expect(page.code == .done)
        #expect(page.messages.isEmpty)
        let explanation = code.explanation
        for line in ["Cause   " + explanation.cause, "Effect  " + explanation.effect, "Remedy  " + explanation.remedy] {
            #expect(page.lines.contains(Substring(line)))
        }
        let json = Harness().run("explain \(code.rawValue) -o json")
        #expect(json.output.contains(#""remedy":"#) && json.output.contains(#""code":"\#(code.rawValue)""#))
    }

    @Test(arguments: APIProblem.Code.allCases)
    func everyCodeOfTheGatewayHasAPage(code: APIProblem.Code) {
        let page = Harness().run("explain \(code.rawValue)")
        #expect(page.code == .done && page.messages.isEmpty)
        // What results have, too, is explained as theirs.
        guard ErrorCode(rawValue: code.rawValue) == nil else { return }
        #expect(page.lines.contains(Substring("Cause   " + code.explanation.cause)))
        #expect(page.lines.contains(Substring("Remedy  " + code.explanation.remedy)))
        #expect(code.statuses.allSatisfy { page.output.contains("\($0)") } && !code.statuses.isEmpty)
        #expect(Harness().run("explain \(code.rawValue) -o json").output.contains(#""code":"\#(code.rawValue)""#))
    }

    @Test(arguments: [("kafka_unavailable", "broker_unavailable"), ("kafka_unanswered", "ack_unknown")])
    func aFormerCodeOfTheGatewayLeadsToTheOneInItsPlace(former: String, present: String) {
        let (old, new) = (Harness().run("explain \(former)"), Harness().run("explain \(present)"))
        #expect(old.code == .done && old.lines.first == Substring("\(present) (formerly \(former))"))
        #expect(old.lines.dropFirst() == new.lines.dropFirst() && new.lines.first == Substring(present))
        #expect(Harness().run("explain \(former) -o json").output.contains(#""code":"\#(present)","formerly":"\#(former)""#))
        #expect(APIProblem.Code(rawValue: former) == nil && APIProblem.Code.formerWords[former]?.rawValue == present)
    }

    /// The closed list of page Results, "Errors", and what outcomes add to it: a code that is added needs an explanation here.
    @Test func theContractsListIsComplete() {
        let contract = [
            "schema_invalid", "record_too_large", "unknown_hub", "not_configured", "expired_in_queue", "expired_on_hold",
            "duplicate",
            "ordering_key_full", "tag_expression_invalid",
            "tag_limit_exceeded", "payload_too_large", "payload_rejected", "hub_unauthorized", "hub_forbidden", "hub_not_found",
            "hub_quota", "hub_throttled", "hub_unavailable", "hub_timeout", "connect_failed", "tls_failed", "dns_failed",
            "response_invalid", "circuit_open", "cancelled", "worker_shutdown", "internal",
        ]
        let telemetry = [
            "devices_refused", "nothing_counted", "no_target", "hub_abandoned", "hub_canceled", "hub_state_unknown",
            "telemetry_unfinished", "telemetry_missing", "telemetry_unanswered", "telemetry_unavailable",
        ]
        #expect(ErrorCode.allCases.map(\.rawValue) == contract + telemetry)
    }

    @Test func theFilterPageNamesEveryField() {
        let page = Harness().run("help filters")
        for name in [
            "request:", "state:", "error:", "platform:", "label.NAME:", "since:", "until:", "job:", "user:", "device:", "title:",
            "to:",
        ] {
            #expect(page.lines.contains { $0.hasPrefix(name) }, "\(name)")
        }
        for word in ["waiting", "dead_letter", "14:05", "installations"] { #expect(page.output.contains(word), "\(word)") }
    }
}
