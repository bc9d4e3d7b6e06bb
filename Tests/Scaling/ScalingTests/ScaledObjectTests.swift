import Foundation
import ScaleModel
import TestSupport
import Testing

/// The rule as it is read from the file that a cluster gets.
@Suite struct ScaledObjectTests {
    private static func text() throws -> String {
        try String(
            contentsOf: Repository.root.appendingPathComponent("Deploy/kubernetes/components/keda/scaledobject.yaml"),
            encoding: .utf8)
    }

    @Test func theRuleIsWhatTheFileSays() throws {
        let rule = try ScaledObject(Array(Self.text().utf8)).rule()
        #expect(rule.replicas == 2...12)
        #expect(rule.triggers.map(\.target) == [20, 20, 38])
        #expect(rule.triggers.map(\.gate?.ceiling) == [20, 20, nil], "the hold is the threshold itself")
        #expect(rule.growth.window == 30)
        #expect(rule.shrinking == .init(window: 3600, policies: [.init(2, isPercent: false, seconds: 600)]))
    }

    @Test(arguments: [
        ("max by (hub)", "min by (hub)"), ("[2m]", "[5m]"), ("unless on (hub)", "and on (hub)"),
        ("metricType: Value", "metricType: Utilization"),
        ("stabilizationWindowSeconds: 30", "stabilizationWindowSeconds: 30\n          selectPolicy: Min"),
        ("type: Pods", "type: Nodes"),
        ("minReplicaCount: 2", "minReplicaCount: 20"), ("spec:", "spec: ["),
    ])
    func whatIsNotSimulatedIsRefused(_ old: String, _ new: String) throws {
        let text = try Self.text()
        #expect(text.contains(old))
        #expect(throws: RuleError.self) { try ScaledObject(Array(text.replacing(old, with: new).utf8)).rule() }
    }
}
