import Testing

@testable import Bench

@Suite struct StageTests {
    @Test func theStagesAreARequestsWayInItsOrder() throws {
        let path = try RequestPath()
        let exchange = try ExchangeRun(call: path.callBytes)
        defer { exchange.close() }
        let stages = StageBench.stages(path, exchange: exchange)
        let way = ["parse", "validate", "plan", "format", "sign", "write", "send", "answer", "result", "commit"]
        #expect(stages.filter { $0.part == .request }.map(\.name) == way)
        for contained in stages.compactMap(\.contained) { #expect(way.contains(contained)) }
        // Each can be done by itself, and again.
        for stage in stages + stages { try stage.work() }
    }

    @Test func theHubCallHasTheSampleRequestsTagAndMessage() throws {
        let call = String(decoding: try RequestPath().callBytes, as: UTF8.self)
        #expect(call.hasPrefix("POST /demo/messages"))
        #expect(call.contains("ServiceBusNotification-Tags: username:000000001\r\n"))
        #expect(call.contains("Authorization: SharedAccessSignature "))
        #expect(call.contains("Order shipped"))
    }

    @Test func whatIsContainedIsTakenAwayAndNothingBecomesNegative() {
        var whole = StageFigure(
            name: "validate", part: .request, what: "", microseconds: 3, systemMicroseconds: 0, allocations: 2)
        whole.subtract(
            StageFigure(name: "parse", part: .request, what: "", microseconds: 1, systemMicroseconds: 1, allocations: 2))
        #expect(whole.microseconds == 2)
        #expect(whole.systemMicroseconds == 0)
        #expect(whole.allocations == 0)
    }
}
