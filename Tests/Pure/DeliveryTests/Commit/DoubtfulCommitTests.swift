import Delivery
import Testing

struct DoubtfulCommitTests {
    private static let old = LedgerCommit(offset: 10, metadata: "1Ag==")
    private static let new = LedgerCommit(offset: 12, metadata: "1BA==")
    private static let other = LedgerCommit(offset: 11, metadata: "1BA==")

    private static func partition(_ before: LedgerCommit?, _ found: LedgerCommit?) -> DoubtfulCommit.Position {
        DoubtfulCommit.Position(before: before, intended: new, found: found)
    }

    private static let moved = partition(old, new)
    private static let unmoved = partition(old, old)
    private static let foreign = partition(old, other)
    /// It was to stay where it was.
    private static let silent = DoubtfulCommit.Position(before: new, intended: new, found: new)

    @Test(
        arguments: [
            (partition(old, new), .committed), (partition(nil, new), .committed),
            (partition(old, old), .notCommitted), (partition(nil, nil), .notCommitted),
            (partition(old, other), .superseded), (partition(nil, old), .superseded),
            // The position was deleted, by retention or by hand.
            (partition(old, nil), .superseded),
        ] as [(DoubtfulCommit.Position, DoubtfulCommit)])
    func onePartitionTellsByWhereItStands(position: DoubtfulCommit.Position, finding: DoubtfulCommit) {
        #expect(DoubtfulCommit([position]) == finding)
    }

    @Test(
        arguments: [
            // The same offset with another map, or the same map at another offset, is another position.
            (LedgerCommit(offset: 12, metadata: "1Ag=="), .superseded),
            (LedgerCommit(offset: 10, metadata: "1BA=="), .superseded),
            (LedgerCommit(offset: 12, metadata: ""), .superseded), (new, .committed), (old, .notCommitted),
        ] as [(LedgerCommit, DoubtfulCommit)])
    func offsetAndMapMustBothAgree(found: LedgerCommit, finding: DoubtfulCommit) {
        #expect(DoubtfulCommit([Self.partition(Self.old, found)]) == finding)
    }

    @Test func aMapAloneCanMove() {
        let grown = LedgerCommit(offset: 10, metadata: "1Bg==")
        func finding(_ found: LedgerCommit) -> DoubtfulCommit {
            DoubtfulCommit([DoubtfulCommit.Position(before: Self.old, intended: grown, found: found)])
        }
        #expect(finding(grown) == .committed)
        #expect(finding(Self.old) == .notCommitted)
        #expect(finding(Self.new) == .superseded)
    }

    @Test(
        arguments: [
            ([moved, moved, moved], .committed), ([unmoved, unmoved], .notCommitted),
            ([moved, silent], .committed), ([silent, unmoved], .notCommitted),
            ([moved, unmoved], .inconclusive), ([unmoved, moved, silent], .inconclusive),
            ([silent], .inconclusive), ([], .inconclusive),
            ([moved, foreign], .superseded), ([unmoved, foreign], .superseded), ([foreign, silent], .superseded),
            ([moved, unmoved, foreign], .superseded),
        ] as [([DoubtfulCommit.Position], DoubtfulCommit)])
    func aTransactionMovesAllItsPartitionsOrNone(positions: [DoubtfulCommit.Position], finding: DoubtfulCommit) {
        #expect(DoubtfulCommit(positions) == finding)
        #expect(DoubtfulCommit(positions.reversed()) == finding)
    }
}
