import Delivery
import Foundation
import PushModel
import Replay
import ReplayStage
import TestSupport
import Testing

@testable import JobSupport
@testable import Replays

/// Plans are made on a broker inside the process.
@Suite struct PlanMakerTests {
    private static let outcomes = [
        ("transient", "success"), ("ambiguous", "transient"), ("ambiguous", "success"), ("success", "success"),
    ]

    @Test(arguments: [(false, 2, 0), (true, 1, 2)])
    func whatIsRepeatedIsCountedByItsSafety(ambiguousToo: Bool, safe: Int, ambiguous: Int) throws {
        let broker = try ReplayBroker()
        try broker.writeHistory(Self.outcomes)
        var header = ReplayBroker.header()
        header.includesAmbiguous = ambiguousToo
        let counts = try broker.plan(header, broker.context()).counts
        #expect(counts.safe == safe && counts.ambiguous == ambiguous && counts.eligible == safe + ambiguous)
        #expect(try ReplayPlanReader(broker.path).header.counts == counts)
    }

    /// Results that name no time, that of the record which stands at the place, and another one.
    @Test(
        arguments: [(nil, 2, 0), (ReplayBroker.now, 2, 0), (ReplayBroker.now - 1, 0, 2)] as [(Int64?, Int, Int)])
    func aRequestWhoseTopicWasMadeAgainIsGone(publishedAt: Int64?, requests: Int, gone: Int) throws {
        let broker = try ReplayBroker()
        try broker.writeHistory(Self.outcomes, publishedAt: publishedAt)
        let counts = try broker.plan(ReplayBroker.header(), broker.context()).counts
        #expect(counts.requests == requests && counts.left[.gone, default: 0] == gone)
        var plan = try ReplayPlanReader(broker.path)
        while let item = try plan.nextItem() { #expect(item.publishedAt == Timestamp(milliseconds: ReplayBroker.now)) }
    }

    /// The first failed at places where the topic that was made again has the second.
    @Test(arguments: [false, true]) func ofTwoRequestsAtOnePlaceTheOneThatStandsThereIsRepeated(isReversed: Bool) throws {
        let broker = try ReplayBroker()
        try broker.write(
            #"{"id":"new","audience":{"users":["u"]},"platforms":["apple"],"message":{"title":"Hi"}}"#, to: broker.topics.requests
        )
        let results = [("old", ReplayBroker.now - 9), ("new", ReplayBroker.now)].map { id, time in
            """
            {"schema_version":1,"request_id":"\(id)","kind":"final","state":"failed","outcome":"transient",\
            "sends":[{"index":0,"platform":"apple","outcome":"transient"}],"targets":{"planned":1},\
            "timings":{"published_at":"\(Timestamp(milliseconds: time).text)"},\
            "origin":{"topic":"\(broker.topics.requests)","partition":0,"offset":"0"}}
            """
        }
        for json in isReversed ? results.reversed() : results { try broker.write(json, to: broker.topics.results) }
        let counts = try broker.plan(ReplayBroker.header(), broker.context()).counts
        #expect(counts.matched == 2 && counts.requests == 1 && counts.left == [.gone: 1])
        var plan = try ReplayPlanReader(broker.path)
        #expect(try plan.nextItem()?.requestID == "new")
    }

    @Test(arguments: [0, 1, 2, 3, 5, 8, 13, .max]) func aPlanThatIsCancelledLeavesNoFile(at question: Int) throws {
        let broker = try ReplayBroker()
        try broker.writeHistory(Self.outcomes)
        let stop = CancelledAt(question)
        let made = Result { try broker.plan(ReplayBroker.header(), broker.context { stop.isCancelled }) }
        try Self.expect(made, onlyPlanIn: broker, cancelledAt: question)
    }

    @Test(arguments: [0, 1, 2, 3, 5, .max]) func aPlanOfDeadLettersThatIsCancelledLeavesNoFile(at question: Int) throws {
        let broker = try ReplayBroker()
        try broker.writeLetter("{}")
        for named in [[], [Original(at: broker.letter(0, 0))]] {
            let stop = CancelledAt(question)
            let made = Result { try broker.planLetters(Set(named), broker.context { stop.isCancelled }) }
            try Self.expect(made, onlyPlanIn: broker, cancelledAt: question)
            try? FileManager.default.removeItem(atPath: broker.path)
        }
    }

    private static func expect(
        _ made: Result<ReplayPlanHeader, any Error>, onlyPlanIn broker: ReplayBroker, cancelledAt question: Int
    ) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: broker.folder.path(""))
        switch made {
        case .success: #expect(files == ["plan.ndjson"] && question > 0)
        case .failure(let error):
            #expect(files.isEmpty && question < .max)
            guard case JobFailure.cancelled = error else { throw error }
        }
    }

    @Test(arguments: 0..<4) func aFileWhoseWritingIsCancelledIsNotThere(at question: Int) throws {
        let folder = try TemporaryFolder()
        let stop = CancelledAt(question)
        do {
            let file = try LineFile(folder.path("plan"))
            for _ in 0..<3 { file.add([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)) }
            #expect(throws: JobFailure.self) { try file.finish(header: Array("{}".utf8)) { stop.isCancelled } }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).isEmpty)
    }
}
