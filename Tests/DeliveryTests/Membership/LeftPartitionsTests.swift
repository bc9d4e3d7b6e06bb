import Delivery
import Testing

struct LeftPartitionsTests {
    @Test func noneIsNoReason() {
        #expect(LeftPartitions([]) == nil)
    }

    @Test(
        arguments: [
            (.newerPosition, "a newer version wrote the group's position in t[0] (and 1 more)"),
            (.foreignPosition, "another program wrote the group's position in t[0] (and 1 more)"),
            (.newerRecord(at: 17), "a newer version wrote offset 17 of t[0] (and 1 more)"),
        ] as [(LeaveCause, String)])
    func theFirstIsExplainedAndTheOthersAreCounted(cause: LeaveCause, text: String) throws {
        let left = try #require(LeftPartitions([(name: "t[0]", cause: cause), (name: "t[1]", cause: .newerPosition)]))
        #expect(left.count == 2)
        #expect(left.reason.hasPrefix("\(text): this worker leaves it"))
    }

    @Test func oneThatWaitsForItsLeaderSaysSo() throws {
        let left = try #require(LeftPartitions([(name: "t[0]", cause: .leaderAway)]))
        #expect(left.reason.hasPrefix("the group has no position in t[0], and no leader answers"))
        #expect(!left.isVersion && LeftPartitions([(name: "t[0]", cause: .newerPosition)])?.isVersion == true)
    }

    @Test func oneWhoseRecordsAreReadSaysSo() throws {
        let left = try #require(LeftPartitions([(name: "t[0]", cause: .unanswered)]))
        #expect(left.reason == "where t[0] begins depends on records that are still being read: it waits for them")
        #expect(!left.isVersion && left.cause == .unanswered)
    }

    @Test func oneAloneIsNamedAlone() {
        #expect(LeftPartitions([(name: "t[0]", cause: .newerPosition)])?.reason.contains("more") == false)
    }
}
