@testable import OperatorAPI
import Delivery
import Foundation
import GroupPositions
import Groups
import HubEmulator
import Kafka
import TestSupport
import Testing

/// Requests behind an open transaction wait, and every place says so alike: by processes on a real broker.
@Suite(.needsKafka, .serialized)
struct OpenTransactionTests {
    private static let open = "6 records behind an open transaction since "

    /// The numbers of requests that wait, as each place has them.
    private struct Numbers: Equatable {
        var status = 0
        var doctor = 0
        var backlog = 0
        var metrics = 0
    }

    private let stage: RealStage
    private let worker: RealWorker

    init() throws {
        stage = try RealStage()
        worker = try stage.startProbedWorker()
    }

    private func status() throws -> [String: Any] {
        let said = try stage.run(["status", "-o", "json"]).said
        return try #require(try JSONSerialization.jsonObject(with: Data(said.utf8)) as? [String: Any], "\(said)")
    }

    /// What doctor says of the group.
    private func doctor() throws -> [Substring] {
        try stage.run(["doctor"]).said.split(separator: "\n").filter { $0.contains(" group ") }
    }

    private func backlog() throws -> History.Backlog {
        let report = try #require(try stage.report())
        return History.Backlog(report, topics: stage.topics)
    }

    private func numbers() throws -> Numbers {
        let found = try doctor().compactMap { line in line.firstMatch(of: /(\d+) requests? waits?/).flatMap { Int($0.1) } }
        let lag = #"pushfan_consumer_lag_records{topic="\#(stage.topics.requests)",partition="0"}"#
        return Numbers(
            status: try #require(try status()["lag_records"] as? Int), doctor: try #require(found.first),
            backlog: try backlog().requests, metrics: Int(try worker.metric(lag)))
    }

    /// The age of the oldest at three places, in seconds.
    private func age() throws -> [Double] {
        let waiting = #"pushfan_oldest_waiting_seconds{hub="\#(HubEmulatorConfiguration().hubName)"}"#
        return [
            try #require(try status()["lag_ms"] as? Double) / 1000, Double(try backlog().oldest) / 1000,
            try worker.metric(waiting),
        ]
    }

    @Test(arguments: [true, false]) func whatItHidesWaitsEverywhereAlike(isCommitted: Bool) throws {
        defer { stage.stop() }
        let producer = try stage.openTransaction(of: 6)
        defer { producer.close(timeout: .seconds(5)) }
        let started = ContinuousClock.now
        #expect(try eventually { try numbers() == Numbers(status: 6, doctor: 6, backlog: 6, metrics: 6) })
        // A short transaction is part of every commit, and this one is not any more.
        let note = "ok group: \(stage.topics.requests)[0]: \(Self.open)"
        #expect(try eventually { try worker.probe("/readyz?verbose").contains(note) })
        let ages = try age()
        let length = Double((ContinuousClock.now - started) / .seconds(1))
        #expect(ages.allSatisfy { $0 >= 4 && $0 <= length + 3 }, "\(ages), \(length)")
        #expect(try worker.probe("/readyz") == "ok\n")

        let report = try status()
        let reasons = try #require(report["reasons"] as? [[String: Any]])
        #expect(
            reasons.contains {
                let text = $0["text"] as? String ?? ""
                return text.contains(Self.open) && text.contains("of requests from shop") && $0["stuck"] as? Bool == false
            }, "\(reasons)")
        let partition = try #require((report["partitions"] as? [[String: Any]])?.first { $0["open_transaction"] != nil })
        let transaction = try #require(partition["open_transaction"] as? [String: Any])
        #expect(transaction["records"] as? Int == 6 && transaction["offset"] as? Int == 0)
        #expect(transaction["source"] as? String == "shop")
        let place = try stage.run(["results", "show", "t-3"]).said
        #expect(place.contains("unsearched \(stage.topics.requests)[0]: 6 records behind an open transaction"), "\(place)")
        #expect(try doctor().contains { $0.hasPrefix("warning") && $0.contains(Self.open) })

        if isCommitted { try producer.commitTransaction(timeout: nil) } else { try producer.abortTransaction(timeout: nil) }
        // The end of the transaction takes an offset and is no request, nor is what was aborted.
        #expect(try eventually { try numbers() == Numbers() })
        #expect(try eventually { try worker.probe("/readyz?verbose").contains("ok group\n") })
        #expect(try status()["lag_ms"] as? Int == 0 && backlog().oldest == 0)
        if isCommitted { #expect(try stage.resultIDs().count == 6) }
    }

    @Test func whatCanBeReadBesideItIsCountedOnce() throws {
        defer { stage.stop() }
        stage.killWorker()
        for partition in [0, 1] as [Int32] { try stage.write(#"{"id":"before"}"#, key: "k", partition: partition) }
        let producer = try stage.openTransaction(of: 6)
        defer { producer.close(timeout: .seconds(5)) }
        // Others' records behind it are committed, and hidden all the same.
        for partition in [0, 1] as [Int32] { try stage.write(#"{"id":"behind"}"#, key: "k", partition: partition) }
        let report = try #require(try stage.report())
        #expect(report.lag == 10)
        let hidden = report.partitions.compactMap(\.counted?.transaction)
        #expect(hidden.map(\.recordCount) == [7] && hidden.map(\.offset) == [1])
    }
}
