import FaultOracle
import PushModel
import Testing

/// The invariants of large requests can fail, and hold where they must.
@Suite struct PartOracleTests {
    /// One request for 300 users: 45 calls in three parts.
    private static var sound: Evidence {
        var evidence = Evidence()
        evidence.published = 1
        evidence.usersOfLarge = 300
        evidence.inputs = [InputFact(Place(0, 0), .large(number: 7))]
        evidence.wholes = [WholeFact(Place(0, 0), number: 7, parts: 3, sent: 3, acceptedCalls: 45)]
        evidence.parts = (0..<3).map { PartFact(number: 7, chunk: $0, at: 1000) }
        evidence.calls = (0..<15).flatMap { piece in
            (1...3).map { platform in
                CallFact(user: nil, at: 900, piece: PieceName(number: 7, first: piece * 20, platform: UInt64(platform)))
            }
        }
        evidence.positions = [PositionFact(0, committed: 1)]
        return evidence
    }

    private static func violated(_ change: (inout Evidence) -> Void) -> Set<Invariant> {
        var evidence = sound
        change(&evidence)
        return Set(Oracle(evidence).findings().filter { !$0.holds }.map(\.invariant))
    }

    @Test func soundEvidenceViolatesNothing() {
        #expect(Self.violated { _ in } == [])
    }

    @Test func aPartOrAResultThatIsMissingOrRepeatedIsFound() {
        #expect(Self.violated { $0.parts.removeLast() } == [.parts])
        #expect(Self.violated { $0.parts.append($0.parts[0]) } == [.parts])
        #expect(Self.violated { $0.wholes = [] } == [.parts])
        #expect(Self.violated { $0.wholes.append($0.wholes[0]) } == [.parts])
    }

    @Test func aWrongCountIsFound() {
        #expect(Self.violated { $0.wholes[0].sent = 2 } == [.parts])
        #expect(Self.violated { $0.wholes[0].parts = 4 } == [.parts])
        #expect(Self.violated { $0.wholes[0].acceptedCalls = 44 } == [.parts])
        #expect(Self.violated { $0.parts[1].state = .failed } == [.parts])
        #expect(
            Self.violated {
                $0.parts[1].state = .failed
                $0.wholes[0].state = .partial
                ($0.wholes[0].sent, $0.wholes[0].acceptedCalls) = (2, 30)
            } == [])
    }

    @Test func aPieceThatNobodyCalledIsFound() {
        #expect(Self.violated { $0.calls.removeLast() } == [.parts])
        #expect(Self.violated { $0.calls[3].isAccepted = false } == [.parts])
    }

    @Test func callsAreRepeatedOnlyWhereAWorkerWasKilled() {
        #expect(Self.violated { $0.calls.append($0.calls[0]) } == [.repeatedPieces])
        #expect(
            Self.violated {
                $0.calls.append($0.calls[0])
                $0.disturbances = [Disturbance(.kill, worker: "w1", startedAt: 0, at: 950)]
            } == [])
    }

    @Test func aCallOfAPieceIsReadFromItsTags() throws {
        let tags = "(username:l12-40 || username:l12-41)"
        let piece = try #require(PieceName(tags: tags, format: "apple"))
        #expect(piece == PieceName(number: 12, first: 40, platform: Digest.of("apple".utf8)))
        #expect(PieceName(tags: "username:u12", format: "apple") == nil)
        #expect(PieceName(tags: "", format: "apple") == nil)
    }
}
