import Delivery
import PushModel
import TestSupport
import Testing

struct StartRuleTests {
    /// The retained offsets, the first one that is young enough, and what comes of it.
    @Test(
        arguments: [
            (.safe, 0, 0, nil, .offset(0)), (.safe, 40, 40, nil, .offset(40)), (.safe, 0, 9, 0, .offset(0)),
            (.safe, 5, 9, 5, .offset(5)), (.safe, 0, 9, 2, .refused), (.safe, 0, 9, nil, .refused), (.safe, 5, 6, nil, .refused),
            // One record with an old time, in front of newer ones, and what would overflow.
            (.safe, 0, 9, 1, .offset(0)), (.safe, 5, 9, 6, .offset(5)), (.safe, 5, 9, 7, .refused), (.safe, 0, 2, 1, .offset(0)),
            (.safe, 0, .max, .max, .refused), (.safe, 9, 9, 3, .offset(9)),
            (.beginning, 3, 9, nil, .offset(3)), (.end, 3, 9, 3, .offset(9)), (.moment(7), 3, 9, 5, .offset(5)),
            (.moment(7), 3, 9, nil, .offset(9)),
        ] as [(StartRule, Int64, Int64, Int64?, StartRule.Decision)])
    func aPartitionWithoutAPositionBeginsWhereTheRuleSays(
        rule: StartRule, low: Int64, high: Int64, since: Int64?, decision: StartRule.Decision
    ) {
        #expect(rule.decision(low: low, high: high, since: since) == decision)
    }

    /// Records that workers wrote: the retained offsets, the first one that is young enough, and whether one may have been gone on with.
    @Test(
        arguments: [
            // Nobody can have gone on with it, so nobody has lost a position: the group is new, or the partition.
            (.safe, 0, 9, nil, false, .offset(0)), (.safe, 4, 9, 4, false, .offset(4)), (.end, 0, 9, nil, false, .offset(0)),
            (.moment(7), 2, 9, 5, false, .offset(2)), (.beginning, 2, 9, nil, false, .offset(2)),
            // Nothing is there.
            (.safe, 0, 0, nil, false, .offset(0)), (.safe, 7, 7, nil, true, .offset(7)), (.end, 7, 7, nil, true, .offset(7)),
            // It may have been sent, however young it is.
            (.safe, 0, 9, nil, true, .refused), (.safe, 0, 9, 0, true, .refused), (.safe, 4, 5, 4, true, .refused),
            // An operator has said it.
            (.beginning, 4, 9, nil, true, .offset(4)), (.end, 4, 9, 4, true, .offset(9)), (.moment(7), 4, 9, 6, true, .offset(6)),
            (.moment(7), 4, 9, nil, true, .offset(9)),
        ] as [(StartRule, Int64, Int64, Int64?, Bool, StartRule.Decision)])
    func whatWorkersWroteIsReadUnlessItMayHaveBeenSent(
        rule: StartRule, low: Int64, high: Int64, since: Int64?, mayBeFinished: Bool, decision: StartRule.Decision
    ) {
        let writer = StartRule.Writer.workers(mayBeFinished: mayBeFinished)
        #expect(rule.decision(low: low, high: high, since: since, by: writer) == decision)
    }

    /// A partition as text: `-` has a position, and the leader of `?` is away; else the first retained offset, the end, and the first
    /// offset that is young enough. About one in brackets another worker decides.
    private static func topic(_ text: String) -> [StartRule.Partition] {
        text.split(separator: " ").map { word in
            guard word != "?" else { return .away }
            let numbers = word.split(whereSeparator: { "(,)".contains($0) }).compactMap { Int64($0) }
            guard numbers.count >= 2 else { return .init(low: 3, high: 9, since: 3, hasPosition: true) }
            return .init(
                low: numbers[0], high: numbers[1], since: numbers.count > 2 ? numbers[2] : nil, hasPosition: false,
                isOther: word.hasPrefix("("))
        }
    }

    /// What is decided as text: `-` for nothing, `?` as long as that cannot be known, `no`, or an offset.
    private static func text(_ decisions: [StartRule.Decision?]) -> String {
        decisions.map { decision in
            switch decision {
            case nil: "-"
            case .refused: "no"
            case .undecided: "?"
            case .offset(let offset): "\(offset)"
            }
        }.joined(separator: " ")
    }

    @Test(
        arguments: [
            // Added to a topic that the group knows, however long its records have waited.
            (.safe, "- - 0,9", "- - 0"), (.safe, "- 0,9 0,9", "- 0 0"), (.safe, "- 0,0", "- 0"), (.safe, "- 0,9 -", "- 0 -"),
            // One that has lost its first record may be older than the group's knowledge.
            (.safe, "- 4,9", "- no"), (.safe, "- 4,9,4", "- 4"), (.safe, "- 4,9 0,9", "- no 0"),
            // The group is new: what is refused takes all before it with it, so that none of them is taken for an added one later.
            (.safe, "0,9 0,9,0", "no 0"), (.safe, "0,9,0 0,9", "no no"), (.safe, "0,0 0,9 0,9,0", "no no 0"),
            (.safe, "0,9,0 0,0", "0 0"),
            // It has begun with what is behind that.
            (.safe, "0,9 -", "no -"), (.safe, "0,0 0,9 -", "no no -"), (.safe, "0,0 0,9,0 -", "0 0 -"),
            // One whose leader is away, and what a position in partition 0 would say of it.
            (.safe, "- ? 0,9", "- ? 0"), (.safe, "- 4,9 ?", "- no ?"), (.safe, "0,9,0 ? 0,9,0", "? ? 0"),
            (.safe, "0,9,0 0,9,0 ?", "? 0 ?"), (.safe, "? 0,9,0", "? 0"), (.safe, "0,9 ?", "no ?"), (.safe, "? 0,9", "? no"),
            (.end, "0,9 ?", "? ?"), (.moment(7), "? 4,9,6", "? 6"), (.beginning, "? - ?", "? - ?"),
            (.beginning, "- 4,9 0,9", "- 4 0"), (.end, "- 4,9 0,0", "- 9 0"), (.moment(7), "4,9,6 4,9", "6 9"), (.safe, "", ""),
            // Added under a rule that skips records of a group that is new.
            (.end, "- 0,9", "- 0"), (.moment(7), "- 0,9,6 0,9", "- 0 0"), (.end, "- - 0,9 ?", "- - 0 ?"),
            (.end, "0,9 0,9", "9 9"), (.end, "0,9 -", "9 -"), (.moment(7), "0,9,6 -", "6 -"),
            // Its position in partition 0 comes last, so that no other worker takes its own for added ones.
            (.end, "0,9 (0,9)", "? 9"), (.end, "(0,9) 0,9", "9 9"), (.moment(7), "0,9,6 0,9 (0,9)", "? 9 9"),
            (.end, "0,9 - -", "9 - -"), (.safe, "0,9,0 (0,9,0)", "0 0"), (.beginning, "0,9 (0,9)", "0 0"),
        ] as [(StartRule, String, String)])
    func theTopicOfAPartitionWithoutAPositionDecidesWithIt(rule: StartRule, topic: String, decisions: String) {
        #expect(Self.text(rule.decisions(in: Self.topic(topic))) == decisions)
    }

    /// Whatever lies in a topic: what was refused once is refused again, when the rest has begun and has positions.
    @Test func whatWasRefusedIsNeverTakenForAnAddedPartition() {
        let kinds = ["0,0", "0,9", "0,9,0", "0,9,1", "4,9", "4,9,4"]
        for number in 0..<216 {
            let words = [number % 6, number / 6 % 6, number / 36].map { kinds[$0] }
            var topic = Self.topic(words.joined(separator: " "))
            let first = StartRule.safe.decisions(in: topic)
            for index in topic.indices { topic[index].hasPosition = first[index] != .refused }
            for (before, after) in zip(first, StartRule.safe.decisions(in: topic)) where before == .refused {
                #expect(after == .refused, "\(words)")
            }
        }
    }

    /// Whatever lies in a topic of which one partition was away when the others began: its return refuses what had been refused at once.
    @Test func whatWaitedForALeaderIsNeverTakenForAnAddedPartition() {
        let kinds = ["0,0", "0,9", "0,9,0", "0,9,1", "4,9", "4,9,4"]
        for number in 0..<216 {
            let words = [number % 6, number / 6 % 6, number / 36].map { kinds[$0] }
            let topic = Self.topic(words.joined(separator: " "))
            let whole = StartRule.safe.decisions(in: topic)
            for away in topic.indices {
                var (seen, back) = (topic, topic)
                seen[away] = .away
                let first = StartRule.safe.decisions(in: seen)
                #expect(first[away] == .undecided)
                for index in topic.indices { if case .offset? = first[index] { back[index].hasPosition = true } }
                let second = StartRule.safe.decisions(in: back)
                for index in Set([0, away]) where whole[index] == .refused {
                    #expect(second[index] == .refused, "\(words) without \(away)")
                }
            }
        }
    }

    /// Whichever of a group's first workers commits first: no partition that was there then is taken for an added one.
    @Test(arguments: [StartRule.end, .moment(7)], [0, 1, 2, 3])
    func whatWasThereWhenTheGroupBeganIsNotTakenForAdded(rule: StartRule, seed: Int) {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            let owners = (0..<5).map { _ in Int.random(in: 0..<3, using: &random) }
            var positions = [Int64?](repeating: nil, count: owners.count)
            while positions.contains(nil) {
                let worker = Int.random(in: 0..<3, using: &random)
                let topic = owners.indices.map {
                    StartRule.Partition(
                        low: 0, high: 9, since: 6, hasPosition: positions[$0] != nil, isOther: owners[$0] != worker)
                }
                for (index, decision) in rule.decisions(in: topic).enumerated() where owners[index] == worker {
                    if case .offset(let offset)? = decision { positions[index] = offset }
                }
            }
            #expect(Set(positions) == [rule == .end ? 9 : 6], "\(owners)")
        }
    }

    @Test(
        arguments: [
            (.safe, 1_000_000, 400_000), (.safe, 5, 0), (.safe, .min, 0), (.safe, .max, Timestamp.limit - 600_000),
            (.beginning, 5, nil), (.end, 5, nil), (.moment(77), 5, 77), (.moment(-1), 5, 0),
        ] as [(StartRule, Int64, Int64?)])
    func onlyAgeAndMomentNeedATime(rule: StartRule, now: Int64, time: Int64?) {
        #expect(rule.time(now: .at(now))?.milliseconds == time)
    }
}
