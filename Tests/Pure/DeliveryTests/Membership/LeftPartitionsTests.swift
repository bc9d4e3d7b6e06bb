import Delivery
import Testing

struct LeftPartitionsTests {
    @Test func noneIsNoReason() {
        #expect(LeftPartitions([]) == nil)
    }

    @Test(
        arguments: [
            (
                .unknownPosition(UnknownMetadata("9AAAA")),
                "the group's position in t[0] (and 1 more) has metadata “9AAAA” (5 bytes), written by a newer pushfan (form 9) or by"
                    + " another program that commits with this group id"
            ),
            (
                .unknownPosition(UnknownMetadata("{")),
                "the group's position in t[0] (and 1 more) has metadata “{” (1 byte), which is not pushfan's: another program commits"
                    + " with this group id"
            ),
            (.newerRecord(at: 17), "a newer version wrote offset 17 of t[0] (and 1 more)"),
        ] as [(LeaveCause, String)])
    func theFirstIsExplainedAndTheOthersAreCounted(cause: LeaveCause, text: String) throws {
        let left = try #require(
            LeftPartitions([(name: "t[0]", cause: cause), (name: "t[1]", cause: .unknownPosition(UnknownMetadata("9")))]))
        #expect(left.count == 2)
        #expect(left.reason.hasPrefix("\(text): this worker leaves it"))
    }

    @Test func oneThatWaitsForItsLeaderSaysSo() throws {
        let left = try #require(LeftPartitions([(name: "t[0]", cause: .leaderAway)]))
        #expect(left.reason.hasPrefix("the group has no position in t[0], and no leader answers"))
        #expect(
            !left.needsOperator
                && LeftPartitions([(name: "t[0]", cause: .unknownPosition(UnknownMetadata("9")))])?.needsOperator == true)
    }

    @Test func oneWhoseRecordsAreReadSaysSo() throws {
        let left = try #require(LeftPartitions([(name: "t[0]", cause: .unanswered)]))
        #expect(left.reason == "where t[0] begins depends on records that are still being read: it waits for them")
        #expect(!left.needsOperator && left.cause == .unanswered)
    }

    @Test func oneWhoseLogIsInDoubtSaysSo() throws {
        let left = try #require(LeftPartitions([(name: "t[0]", cause: .doubted)]))
        #expect(left.reason.hasPrefix("t[0] was not there, or ends before what was read of it") && !left.needsOperator)
    }

    @Test func oneAloneIsNamedAlone() {
        #expect(LeftPartitions([(name: "t[0]", cause: .unknownPosition(UnknownMetadata("9")))])?.reason.contains("more") == false)
    }
}
