import FaultOracle
import Testing

/// What the oracle says of calls of one ordering key.
@Suite struct OrderOracleTests {
    /// Whether calls at these moments are in order: user 1 stands before user 2, both of one key, and user 3 has none.
    private static func isInOrder(_ calls: [(user: Int, at: Int64)], kills: [Int64] = []) -> Bool {
        var evidence = Evidence()
        evidence.inputs = (1...3).map { InputFact(Place(0, Int64($0)), .request(user: $0, isFlawed: false)) }
        evidence.calls = calls.map { CallFact(user: $0.user, at: $0.at) }
        evidence.disturbances = kills.map { Disturbance(.kill, worker: "w1", startedAt: 0, at: $0) }
        return Oracle(evidence).order { $0 < 3 ? 7 : nil }.holds
    }

    @Test func aCallBeforeItsTurnIsFoundUnlessAKillMadeTheFirstOneAgain() {
        #expect(Self.isInOrder([(1, 10), (1, 20), (2, 30), (3, 5), (3, 40)]))
        #expect(!Self.isInOrder([(2, 10), (1, 20)]))
        #expect(!Self.isInOrder([(1, 10), (2, 20), (1, 5_000)]))
        #expect(Self.isInOrder([(1, 10), (2, 20), (1, 5_000), (2, 5_010)], kills: [30]))
        #expect(!Self.isInOrder([(1, 10), (2, 3_000), (1, 5_000)], kills: [1_500, 5_001]), "neither kill lies between the two")
        #expect(Self.isInOrder([(2, 10)]), "the first one may have expired")
    }
}
