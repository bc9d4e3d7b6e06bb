import Foundation
import TestSupport
import Testing

@testable import Console

/// `--wait` of an order. Needs a real broker: the embedded one finds no offsets for times.
@Suite(.needsKafka, .serialized) struct OrderWaitTests {
    private static func report(orders: [String]?) -> String {
        let list = orders.map {
            #","orders":[\#($0.map { #"{"id":"\#($0)","kind":"hold","waiting":0}"# }.joined(separator: ","))]"#
        }
        return #"{"schema":1,"loops":[{"worker":"w"\#(list ?? "")}]}"#
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            (false, true, ExitCode.done, "1 worker obeys it\n"),
            (true, true, .partlyFailed, "1 of 2 workers knows no holds, and goes on, until updated: w-old\n"),
            (false, false, .temporary, "0 workers obey it, and in time did not: w-new\n"),
        ])
    func itEndsWhenEveryWorkerObeys(hasOld: Bool, obeys: Bool, code: ExitCode, text: String) throws {
        let stage = try ReplayStage(["status"])
        let harness = stage.harness
        let seconds = obeys ? farDeadline.components.seconds : 3
        func write(_ orders: [String]) throws {
            try stage.write("status", [(0, Self.report(orders: orders))], key: "w-new")
            if hasOld { try stage.write("status", [(0, Self.report(orders: nil))], key: "w-old") }
        }
        try write([])
        let command = Background {
            harness.run(
                "hold --tenant acme --reason r --wait --timeout \(seconds)s -o ndjson".split(separator: " ").map(String.init))
        }
        let key = try #require(try stage.read("control", atLeast: 1).first?.key)
        let id = String(try #require(key.firstMatch(of: #/"id":"([^"]*)"/#)).1)
        #expect(
            try eventually {
                try write(obeys ? ["h-another1", id] : ["h-another1"])
                return command.isDone
            })
        let outcome = try command.value()
        #expect(outcome.code == code, "\(outcome.messages)")
        #expect(outcome.messages.contains(text), "\(outcome.messages)")
        #expect(outcome.lines.count == 1)
    }
}
