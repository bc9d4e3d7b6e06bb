@testable import GatewayAPI
import TestSupport
import Testing

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

    @Test func theRestOfWhatWasAdmittedIsNotRefused() {
        var turns = UserTurns<Int>(lineLimit: 1, userLimit: 2, limit: 2)
        #expect(turns.add(1, of: "a") == .inLine && turns.add(2, of: "a") == .kept && turns.add(3, of: "a") == .refusedToUser)
        #expect(turns.add(4, of: "a", isAdmitted: true) == .kept && turns.count == 3)
        #expect(turns.finish(of: "a") == 2 && turns.finish(of: "a") == 4 && turns.finish(of: "a") == nil && turns.count == 0)
    }

    @Test func theUsersOfAGroupShareWhatItMayHaveAndTakeTurns() {
        var turns = UserTurns<String>(lineLimit: 1, userLimit: 5, groupLimits: (line: 2, all: 6), limit: 12)
        func add(_ work: String, of user: String, in group: String? = "acme") -> UserTurns<String>.Admission {
            turns.add(work, of: user, in: group)
        }
        #expect(
            [add("a1", of: "a"), add("a2", of: "a"), add("b1", of: "b"), add("c1", of: "c")] == [.inLine, .kept, .inLine, .kept])
        #expect([add("c2", of: "c"), add("d1", of: "d"), add("e1", of: "e")] == [.kept, .kept, .refusedToUser])
        #expect(add("x1", of: "x", in: "shop") == .inLine && add("y1", of: "y", in: nil) == .inLine, "others are not concerned")
        // Whoever has had a turn waits for those who have not.
        #expect(turns.finish(of: "a", in: "acme") == "c1")
        #expect(turns.finish(of: "b", in: "acme") == "d1")
        #expect(turns.finish(of: "c", in: "acme") == "a2")
        #expect(turns.finish(of: "d", in: "acme") == "c2")
        #expect(turns.finish(of: "a", in: "acme") == nil && turns.finish(of: "c", in: "acme") == nil)
        #expect(turns.finish(of: "y") == nil && turns.finish(of: "x", in: "shop") == nil)
        #expect(turns.count == 0 && turns.userCount == 0)
        #expect(add("a3", of: "a") == .inLine)
    }

    /// Random steps of groups: their shares hold, and nothing is lost.
    @Test(arguments: 0..<20) func whateverComesNoGroupHasMoreThanItsShare(seed: Int) {
        var turns = UserTurns<Int>(lineLimit: 2, userLimit: 5, groupLimits: (line: 3, all: 8), limit: 20)
        var generator = SeededRandom(seed)
        var (line, users): ([Int], [Int: Int]) = ([], [:])
        var (added, done) = (0, 0)
        func group(of work: Int) -> Int { (users[work] ?? 0) % 3 }
        for work in 0..<600 {
            let user = Int.random(in: 0..<9, using: &generator)
            if Int.random(in: 0..<5, using: &generator) < 3 {
                users[work] = user
                switch turns.add(work, of: "\(user)", in: "\(user % 3)") {
                case .inLine: line.append(work)
                case .kept: break
                case .refusedToUser, .refusedToAll: continue
                }
                added += 1
            } else if let index = line.indices.randomElement(using: &generator) {
                let ended = line.remove(at: index)
                done += 1
                if let next = turns.finish(of: "\(users[ended] ?? 0)", in: "\(group(of: ended))") {
                    #expect(group(of: next) == group(of: ended))
                    line.append(next)
                }
            }
            #expect(turns.count == added - done)
            for each in 0..<3 { #expect(line.count { group(of: $0) == each } <= 3) }
            for each in 0..<9 { #expect(line.count { users[$0] == each } <= 2) }
        }
        while let ended = line.popLast() {
            done += 1
            if let next = turns.finish(of: "\(users[ended] ?? 0)", in: "\(group(of: ended))") { line.append(next) }
        }
        #expect(done == added && turns.count == 0 && turns.userCount == 0, "everything has had its turn")
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
