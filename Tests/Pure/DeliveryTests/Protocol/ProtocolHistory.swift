import Delivery
import TestSupport

/// Random histories of the commit protocol.
extension ProtocolModel {
    /// Some read faster than they finish, some are full of gaps, some full of faults.
    static func steps(_ count: Int, using random: inout SeededRandom) -> [Step] {
        let faults = [0, 1, 1, 3][random.below(4)]
        let moves = [0, 1, 1, 3][random.below(4)]
        let weights: [(Step.Kind, Int)] = [
            (.append, 40), (.gap, [0, 2, 10][random.below(3)]), (.delete, random.below(3)), (.grow, 1),
            (.pass, [6, 12, 24][random.below(3)]),
            (.receive, [40, 80][random.below(2)]), (.reachEnd, 2), (.begin, 10), (.finish, [60, 120, 200][random.below(3)]),
            (.tick, [0, 40][random.below(2)]), (.offer, [40, 80][random.below(2)]), (.publish, [20, 60][random.below(2)]),
            (.commit, [20, 60][random.below(2)]), (.heartbeat, 60), (.start, 40),
            (.reject, [0, 1, 2][random.below(3)]), (.accept, 3),
            (.abort, 2 * faults), (.fillTimeout, faults), (.answerLost, 2 * faults), (.requestLost, faults),
            (.requestLate, faults), (.commitPrepared, faults), (.arrive, 3), (.transactionTimeout, faults > 0 ? 1 : 0),
            (.replaceCommitter, faults),
            (.rebalance, moves), (.drainSlowly, 1 + moves), (.askToStop, moves), (.crash, faults), (.restart, 20),
            (.replace, faults > 0 ? 1 : 0),
            (.stall, moves), (.wake, 20), (.sessionTimeout, moves),
        ]
        let kinds = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
        var steps: [Step] = []
        steps.reserveCapacity(count)
        for _ in 0..<count {
            let bits = Int(truncatingIfNeeded: random.next() >> 1)
            steps.append(Step(kind: kinds[bits & 0xFF_FFFF % kinds.count], who: bits >> 24 & 0xFF, value: bits >> 32))
        }
        return steps
    }

    /// Small windows, where the limits are met often, and now and then the largest.
    static func setting(using random: inout SeededRandom) -> Setting {
        let window = [16, 16, 17, 24, 64, 100][random.below(6)]
        let rules: [StartRule] = [.beginning, .safe, .moment(1)]
        let maps: [Int] = [0, 8, 8, .max, .max, .max, .max, .max, .max, .max]
        var setting = Setting(
            window: window, partitions: 1 + random.below(3), slots: 1 + random.below(3), isStatic: random.below(3) > 0,
            backlog: [20, 100, 300][random.below(3)], firstCount: [0, 5][random.below(2)], rule: rules[random.below(3)],
            longestMap: maps[random.below(10)], isRestarted: random.below(4) == 0)
        setting.mayBeRejected = random.below(2) == 0
        if random.below(40) == 0 {
            setting.window = 16_384
            setting.backlog = 300
        }
        return setting
    }
}
