import Foundation
import PushModel
import TestSupport
import Testing

@testable import Jobs

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

    @Test(arguments: [0, 1, 2, 3, 5, 8, 13, .max]) func aPlanThatIsCancelledLeavesNoFile(at question: Int) throws {
        let broker = try ReplayBroker()
        try broker.writeHistory(Self.outcomes)
        let stop = CancelledAt(question)
        let made = Result { try broker.plan(ReplayBroker.header(), broker.context { stop.isCancelled }) }
        try Self.expect(made, onlyPlanIn: broker, cancelledAt: question)
    }

    @Test(arguments: [0, 1, 2, 3, 5, .max]) func aPlanOfDeadLettersThatIsCancelledLeavesNoFile(at question: Int) throws {
        let broker = try ReplayBroker()
        try broker.writeLetter("{")
        for places in [[], [broker.letter(0, 0)]] {
            let stop = CancelledAt(question)
            let made = Result { try broker.planLetters(Set(places), broker.context { stop.isCancelled }) }
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
