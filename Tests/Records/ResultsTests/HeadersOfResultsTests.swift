import Delivery
import Foundation
import Kafka
import Publishing
import Replay
import Replays
import ResultQuery
import ReplayStage
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// Results are found, counted and planned by their values, whatever headers they have.
@Suite(.serialized) struct HeadersOfResultsTests {
    private static let outcomes = [
        ("transient", "success"), ("ambiguous", "transient"), ("success", "success"), ("permanent", "permanent"),
    ]

    private static func brokers() throws -> [ReplayBroker] {
        try HeadersOfResult.allCases.map { headers in
            let broker = try ReplayBroker()
            try broker.writeHistory(outcomes, headers: headers)
            return broker
        }
    }

    private static func text(_ json: [UInt8]) -> String { String(decoding: json, as: UTF8.self) }

    @Test(arguments: [false, true]) func aPlanIsTheSame(ambiguousToo: Bool) throws {
        let plans = try Self.brokers().map { broker in
            var header = ReplayBroker.header()
            header.includesAmbiguous = ambiguousToo
            let counts = try broker.plan(header, broker.context()).counts
            #expect(counts.eligible == 2 && counts.ambiguous == (ambiguousToo ? 1 : 0))
            return try String(contentsOfFile: broker.path, encoding: .utf8)
        }
        #expect(plans[0].contains(#""request_id":"r0""#) && plans == Array(repeating: plans[0], count: 3))
    }

    /// What lists, lookups and counts of commands and gateway read: from the topic, and from an index.
    @Test(arguments: [false, true]) func listsAndLookupsAreTheSame(isIndexed: Bool) throws {
        let answers = try Self.brokers().map { broker in
            let index = IndexChoice(file: broker.folder.path("i.sqlite"), environment: [:])
            let answers = ResultAnswers(broker.context(), index: isIndexed ? index : nil)
            let partial = try ResultFilter("state:partial", now: 0)
            let page = try answers.page(2, partial, after: nil, patience: farDeadline)
            #expect((page.searched.source == .index) == isIndexed && page.results.map(\.requestID) == ["r3", "r1"])
            let next = try answers.page(2, partial, after: page.next, patience: farDeadline)
            let life = try answers.life(of: "r1", ResultFilter())
            #expect(life.final?.requestID == "r1" && life.own.count == 1)
            return try [
                page.results.map(\.line).map(Self.text).joined(), next.results.map(\.line).map(Self.text).joined(),
                answers.newest(9, ResultFilter()).map(\.line).map(Self.text).joined(), Self.text(life.json),
                Self.text(answers.failureReport(ResultFilter()).json(withTotal: true)),
            ]
        }
        #expect(answers == Array(repeating: answers[0], count: 3))
    }

    /// `results show --wait` reads on while its request has no final result.
    @Test(arguments: HeadersOfResult.allCases) func aFinalResultEndsTheWait(_ headers: HeadersOfResult) throws {
        let broker = try ReplayBroker()
        let answers = ResultAnswers(broker.context())
        let reader = try answers.scan.open(.beginning, .never)
        defer { reader.close() }
        var life = try answers.life(of: "r0", ResultFilter())
        #expect(life.final == nil)
        try broker.writeHistory(Self.outcomes, headers: headers)
        try answers.follow(reader, &life, until: Deadline(after: farDeadline)) { _ in }
        #expect(life.final?.state == "partial" && life.own.count == 1)
    }
}
