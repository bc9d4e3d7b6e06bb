import TestSupport
import Testing

@testable import Gateway

/// Who may have how much in line.
struct UserTurnsTests {
    private func turns() -> UserTurns<Int> { UserTurns(lineLimit: 2, userLimit: 5, limit: 12) }

    @Test func aUserWithMuchWorkHasLittleInLine() {
        var turns = turns()
        let admissions = (1...7).map { turns.add($0, of: "mallory") }
        #expect(admissions == [.inLine, .inLine, .kept, .kept, .kept, .refusedToUser, .refusedToUser])
        #expect(turns.add(8, of: "bob") == .inLine, "whoever else comes is behind two")
        #expect(turns.count == 6)
    }

    @Test func whatIsDoneMakesRoomForTheOldestThatWaits() {
        var turns = turns()
        for work in 1...5 { _ = turns.add(work, of: "mallory") }
        #expect(turns.finish(of: "mallory") == 3)
        #expect(turns.add(6, of: "mallory") == .kept)
        #expect((0..<5).map { _ in turns.finish(of: "mallory") } == [4, 5, 6, nil, nil])
        #expect(turns.count == 0 && turns.userCount == 0, "whoever has no work is forgotten")
        #expect(turns.finish(of: "mallory") == nil && turns.count == 0)
        #expect(turns.add(7, of: "mallory") == .inLine)
    }

    @Test func allTogetherHaveALimit() {
        var turns = turns()
        for work in 0..<12 { #expect(turns.add(work, of: "\(work)") == .inLine) }
        #expect(turns.add(12, of: "12") == .refusedToAll && turns.add(13, of: "1") == .refusedToAll)
        #expect(turns.userCount == 12)
        #expect(turns.finish(of: "3") == nil)
        #expect(turns.add(14, of: "12") == .inLine)
    }

    /// Random steps against a plain count.
    @Test(arguments: 0..<20) func whateverComesTheLimitsHold(seed: Int) {
        var turns = UserTurns<Int>(lineLimit: 2, userLimit: 4, limit: 9)
        var generator = SeededRandom(seed)
        var line: [String: Int] = [:]
        var kept: [String: [Int]] = [:]
        for work in 0..<500 {
            let user = "\(Int.random(in: 0..<5, using: &generator))"
            if Bool.random(using: &generator) {
                switch turns.add(work, of: user) {
                case .inLine: line[user, default: 0] += 1
                case .kept: kept[user, default: []].append(work)
                case .refusedToUser: #expect(line[user, default: 0] + (kept[user]?.count ?? 0) == 4)
                case .refusedToAll: #expect(turns.count == 9)
                }
            } else if line[user, default: 0] > 0 {
                let oldest = kept[user]?.first
                #expect(turns.finish(of: user) == oldest)
                if oldest == nil { line[user, default: 0] -= 1 } else { kept[user]?.removeFirst() }
            }
            #expect(line.values.allSatisfy { $0 <= 2 })
            #expect(turns.count == line.values.reduce(0, +) + kept.values.reduce(0) { $0 + $1.count })
            #expect(turns.userCount == line.values.count { $0 > 0 })
        }
    }
}
