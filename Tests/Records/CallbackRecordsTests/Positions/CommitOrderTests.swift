import Kafka
import Testing

@testable import CallbackRecords

@Suite struct CommitOrderTests {
    private let failure = KafkaError.invalidArgument("away")
    private let all = ["a", "b", "c"]

    /// Commits as brokers do that refuse some groups. Returns what was asked for, and what failed.
    private func run(
        _ order: inout CommitOrder, _ groups: [String], refusing refused: Set<String>, most: Int = .max
    ) -> (calls: [[String]], failure: KafkaError?) {
        var calls: [[String]] = []
        do throws(KafkaError) {
            try order.run(groups, unless: { calls.count >= most }) { groups throws(KafkaError) in
                calls.append(groups)
                if !refused.isDisjoint(with: groups) { throw failure }
            }
            return (calls, nil)
        } catch {
            return (calls, error)
        }
    }

    @Test func allAreCommittedTogether() {
        var order = CommitOrder()
        let result = run(&order, all, refusing: [])
        #expect(result.calls == [all] && result.failure == nil)
        #expect(run(&order, [], refusing: []).calls.isEmpty)
    }

    @Test func aGroupThatFailsStopsNoOtherAndIsTriedApartUntilItIsBack() {
        var order = CommitOrder()
        let first = run(&order, all, refusing: ["b"])
        #expect(first.calls == [all, ["a"], ["b"], ["c"]] && first.failure == failure)
        let second = run(&order, all, refusing: ["b"])
        #expect(second.calls == [["a", "c"], ["b"]] && second.failure == failure)
        let third = run(&order, all, refusing: [])
        #expect(third.calls == [["a", "c"], ["b"]] && third.failure == nil)
        #expect(run(&order, all, refusing: []).calls == [all])
    }

    @Test func aFailureThatDoesNotComeBackIsNone() {
        var order = CommitOrder()
        var count = 0
        #expect(throws: Never.self) {
            try order.run(all, unless: { false }) { _ throws(KafkaError) in
                count += 1
                if count == 1 { throw failure }
            }
        }
        #expect(count == 4)
        #expect(order.apart.isEmpty)
    }

    @Test func oneGroupAloneIsTriedOnce() {
        var order = CommitOrder()
        let result = run(&order, ["a"], refusing: ["a"])
        #expect(result.calls == [["a"]] && result.failure == failure)
        #expect(run(&order, ["b"], refusing: []).calls == [["b"]])
        #expect(order.apart == ["a"])
    }

    @Test func whatThereIsNoTimeForCountsAsFailed() {
        var order = CommitOrder()
        let result = run(&order, all, refusing: Set(all), most: 2)
        #expect(result.calls == [all, ["a"]] && result.failure == failure)
        #expect(order.apart == Set(all))
    }
}
