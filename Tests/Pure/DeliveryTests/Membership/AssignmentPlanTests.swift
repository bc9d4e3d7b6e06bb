import Delivery
import PushModel
import TestSupport
import Testing

struct AssignmentPlanTests {
    typealias Plan = AssignmentPlan

    /// The plan of some partitions, as a worker makes it that looks for no duplicates unless `reach` says so.
    static func plan(
        _ assigned: [Plan.Assigned], window: Int = OffsetLedger.maximumWindow, heldWindow: Int = OffsetLedger.maximumWindow,
        reach: Int? = nil
    ) -> Plan {
        Plan(assigned, window: window, heldWindow: heldWindow, reach: reach)
    }

    /// The only partition of a plan.
    static func only(_ assigned: Plan.Assigned, reach: Int? = nil) throws -> Plan.Partition {
        let plan = Self.plan([assigned], reach: reach)
        #expect(plan.partitions.allSatisfy { $0.left == nil })
        #expect(plan.partitions.count == 1)
        return try #require(plan.partitions.first)
    }

    /// A position with the metadata that a commit would give it.
    static func position(
        _ offset: Int64, finished: [Int] = [], last: Int64? = nil, begun: Int64? = nil
    ) -> LedgerCommit {
        var offsets = FinishedOffsets()
        for distance in finished { offsets.insert(distance) }
        offsets.marks = last.map { ReadMarks(RecordMark(offset: $0, time: 1_000, key: nil, value: nil)) }
        offsets.begun = begun
        return LedgerCommit(offset: offset, metadata: offsets.encoded())
    }

    /// What was decided of a partition, from what is retained of it and the first offset that is young enough.
    private static func ruling(
        _ rule: StartRule, position: LedgerCommit?, low: Int64, end: Int64, since: Int64?, first: LogTail.Finding = .absent
    ) -> Plan.Ruling? {
        guard let position else {
            return Plan.Ruling(rule.decision(low: low, high: end, since: since), because: .noPosition, end: end)
        }
        let marks = (try? FinishedOffsets(decoding: position.metadata))?.marks
        let tail = LogTail(position: position.offset, marks: marks, low: low, high: end, last: .absent, first: first)
        return tail.ruling(rule, since: since)
    }

    @Test func partitionsStandByKindAndThenAsTheyWereAssigned() {
        let kinds: [Plan.Kind] = [.held, .requests, .parents, .delayed, .requests, .held, .delayed, .requests]
        let plan = Self.plan(kinds.map { Plan.Assigned($0) })
        #expect(plan.partitions.map(\.index) == [1, 4, 7, 3, 6, 2, 0, 5])
        #expect(plan.requests == 0..<3)
        #expect(plan.delayed == 3..<5)
        #expect(plan.parents == 5..<6)
        #expect(plan.held == 6..<8)
        #expect(plan.controlSlot == 5, "behind the five partitions of its reader")
        #expect(plan.partitions.map { $0.parents != nil } == [false, false, false, false, false, true, false, false])
    }

    @Test(arguments: Plan.Kind.allCases)
    func kindsThatAreMissingHaveEmptyRangesThatLieInOrder(kind: Plan.Kind) {
        let plan = Self.plan([Plan.Assigned(kind), Plan.Assigned(kind)])
        let ranges = [plan.requests, plan.delayed, plan.parents, plan.held]
        let counts = Plan.Kind.allCases.map { $0 == kind ? 2 : 0 }
        #expect(ranges.map(\.count) == counts)
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(plan.controlSlot == (kind == .requests ? 0 : 2))
    }

    @Test func anEmptyAssignmentIsAPlanToo() {
        let plan = Self.plan([])
        #expect(plan.partitions.isEmpty && plan.messages.isEmpty && plan.refusal == nil)
        #expect(plan.requests == 0..<0 && plan.held == 0..<0)
        #expect(plan.controlSlot == 0)
        #expect(!plan.isOpening && !plan.movesPositions)
    }

    @Test(arguments: [Plan.Kind.delayed, .held])
    func whatWaitsAndMayHaveBeenSentIsLeftAndHoldsUpNoOther(kind: Plan.Kind) {
        let decision = StartRule.safe.decision(low: 2, high: 9, since: 2, by: .workers(mayBeFinished: true))
        let plan = Self.plan([
            Plan.Assigned(kind, ruling: Plan.Ruling(decision, because: .noPosition, end: 9, waiting: 7)),
            Plan.Assigned(.requests, committed: Self.position(3), end: 3),
        ])
        #expect(plan.refusal?.slots == [1] && plan.refusal?.counts == [7] && plan.refusal?.cause == .noPosition)
        #expect(plan.partitions[1].start == .end && plan.partitions[1].ledger == nil)
        #expect(plan.partitions[0].start == .offset(3) && !plan.movesPositions)
    }

    @Test(arguments: [Plan.Kind.requests, .delayed, .held])
    func withoutAPositionAndWithoutADecisionAPartitionBeginsWithAllThatIsRetained(kind: Plan.Kind) throws {
        let partition = try Self.only(Plan.Assigned(kind))
        #expect(partition.start == .beginning)
        #expect(partition.ledger == nil, "the first record says where it begins")
        #expect(partition.firstOffset == 0 && partition.begun.end == 0)
        #expect(!partition.isClosed && !partition.isDirty && partition.refusal == nil && partition.marks == nil)
    }

    /// What is retained, the first offset that is young enough, and where the partition begins; nil where it does not.
    @Test(
        arguments: [
            (.safe, 0, 0, nil, 0), (.safe, 40, 40, nil, 40), (.safe, 5, 9, 5, 5), (.safe, 0, 9, 1, 0), (.safe, 0, 9, 2, nil),
            (.safe, 0, 9, nil, nil), (.beginning, 3, 9, nil, 3), (.end, 3, 9, 3, 9), (.moment(7), 3, 9, 5, 5),
            (.moment(7), 3, 9, nil, 9),
        ] as [(StartRule, Int64, Int64, Int64?, Int64?)])
    func withoutAPositionTheStartRuleDecides(
        rule: StartRule, low: Int64, end: Int64, since: Int64?, begin: Int64?
    ) throws {
        let ruling = Self.ruling(rule, position: nil, low: low, end: end, since: since)
        let plan = Self.plan([Plan.Assigned(.requests, end: end, ruling: ruling)])
        let partition = try #require(plan.partitions.first)
        let start = begin.map { Plan.Start.offset($0) } ?? Plan.Start.end
        #expect(plan.messages.isEmpty, "nothing is missing")
        #expect(partition.start == start)
        #expect(partition.ledger?.lowWaterMark == begin)
        #expect(partition.firstOffset == begin ?? 0)
        #expect(partition.isDirty == (begin != nil), "where it begins is committed")
        #expect(plan.movesPositions == (begin != nil))
        let refusal: StartRule.Cause? = begin == nil ? .noPosition : nil
        #expect(partition.refusal == refusal)
        #expect((plan.refusal?.slots ?? []) == (begin == nil ? [0] : []))
        #expect(partition.begun.end == 0)
        #expect(partition.isClosed == (begin != nil), "nothing is begun before its position is there")
        #expect(plan.isOpening == (begin != nil))
    }

    /// The only record that was read, the first offset that is young enough, and where the partition begins; nil where it does not.
    @Test(
        arguments: [
            (.safe, 50, nil, nil, .lostRecord), (.beginning, 50, 3, nil, .lostRecord), (.safe, 0, nil, 0, .recreated),
            (.end, 0, 0, 0, .recreated), (.safe, nil, 0, nil, .unknownEnd), (.beginning, nil, nil, 0, .unknownEnd),
            (.end, nil, nil, 5, .unknownEnd), (.moment(9), nil, 4, 4, .unknownEnd),
        ] as [(StartRule, Int64?, Int64?, Int64?, StartRule.Cause)])
    func aPartitionThatEndsBeforeItsPositionBeginsAsDecidedAndSaysSo(
        rule: StartRule, last: Int64?, since: Int64?, begin: Int64?, cause: StartRule.Cause
    ) throws {
        let position = Self.position(100, finished: [2], last: last, begun: 7)
        let ruling = Self.ruling(rule, position: position, low: 0, end: 5, since: since, first: .other)
        let plan = Self.plan([Plan.Assigned(.requests, committed: position, end: 5, ruling: ruling)], reach: 10)
        let partition = try #require(plan.partitions.first)
        let start = begin.map { Plan.Start.offset($0) } ?? Plan.Start.end
        let commit = begin.map { LedgerCommit(offset: $0, metadata: "") }
        #expect(plan.messages == [Plan.Message.endsBeforePosition(index: 0, position: 100, end: 5, cause: cause)])
        #expect(partition.start == start)
        #expect(partition.ledger?.commit() == commit, "nothing is finished there")
        #expect(partition.firstOffset == begin ?? 100)
        #expect(partition.recent?.end == begin ?? 90, "nothing before it is looked at")
        #expect(partition.isDirty == (begin != nil))
        #expect(partition.refusal == (begin == nil ? cause : nil))
        #expect(partition.begun.end == 0 && partition.marks == nil)
        #expect(partition.isClosed == (begin != nil), "nothing is begun before its position is there")
        #expect(plan.isOpening == (begin != nil))
    }

    @Test func metadataThatCannotBeReadDoesNotMatterWhereThePositionDoesNot() throws {
        let position = LedgerCommit(offset: 100, metadata: "3::not base64")
        let ruling = Self.ruling(.end, position: position, low: 0, end: 5, since: nil)
        let partition = try Self.only(Plan.Assigned(.requests, committed: position, end: 5, ruling: ruling))
        #expect(partition.start == .offset(5))
    }

    @Test func noRuleDecidesWhereANewerVersionHasAPosition() throws {
        let position = LedgerCommit(offset: 100, metadata: "9AAAA")
        let ruling = Self.ruling(.end, position: position, low: 0, end: 5, since: nil)
        let plan = Self.plan([Plan.Assigned(.requests, committed: position, end: 5, ruling: ruling)])
        let partition = try #require(plan.partitions.first)
        #expect(
            partition.left == .unknownPosition(UnknownMetadata("9AAAA")) && partition.start == .end && partition.ledger == nil)
        #expect(plan.messages.isEmpty && !plan.movesPositions && plan.refusal == nil)
    }

    @Test(arguments: [Plan.Kind.requests, .delayed, .held])
    func aPartitionBeginsAtItsPositionWithWhatIsFinishedAboveIt(kind: Plan.Kind) throws {
        let position = Self.position(40, finished: [2, 3, 17], last: 57)
        let partition = try Self.only(Plan.Assigned(kind, committed: position, end: 90))
        #expect(partition.start == .offset(40))
        #expect(partition.ledger?.commit(marks: partition.marks) == position)
        #expect(partition.firstOffset == 40 && partition.marks?.last.offset == 57)
        #expect(!partition.isDirty && partition.refusal == nil && partition.parents == nil)
    }

    /// The last record that was read, what is finished behind the position, and where reading begins. Between the two there was no record.
    @Test(
        arguments: [
            (37, [], 38), (39, [], 40), (40, [], 40), (57, [], 40), (57, [3, 17], 40), (nil, [], 40), (.max, [], 40),
        ] as [(Int64?, [Int], Int64)])
    func whatIsBetweenTheLastRecordThatWasReadAndThePositionIsRead(last: Int64?, finished: [Int], begin: Int64) throws {
        for kind in [Plan.Kind.requests, .delayed, .held] {
            let assigned = Plan.Assigned(kind, committed: Self.position(40, finished: finished, last: last), end: 90)
            let partition = try Self.only(assigned, reach: 30)
            #expect(partition.start == .offset(kind == .requests ? min(10, begin) : begin))
            #expect(partition.ledger?.lowWaterMark == begin && partition.firstOffset == begin)
            #expect(!partition.isDirty && partition.refusal == nil)
        }
    }

    @Test(arguments: [([nil, nil], false), ([nil, 0], true), ([3, 0], true)] as [([Int64?], Bool)])
    func oneClosedPositionMustBeOpenedBeforeAnythingIsBegun(begun: [Int64?], isOpening: Bool) {
        let plan = Self.plan(begun.map { Plan.Assigned(.delayed, committed: Self.position(7, begun: $0)) })
        #expect(plan.isOpening == isOpening)
        #expect(!plan.movesPositions)
    }

    /// The reach, the position, and where reading begins.
    @Test(
        arguments: [(nil, 100, 100), (30, 100, 70), (100, 100, 0), (4_000, 100, 0), (30, 0, 0)] as [(Int?, Int64, Int64)])
    func requestsBeforeThePositionAreReadAgainAsFarAsDuplicatesAreLookedFor(
        reach: Int?, offset: Int64, start: Int64
    ) throws {
        let partition = try Self.only(Plan.Assigned(.requests, committed: Self.position(offset)), reach: reach)
        #expect(partition.start == .offset(start))
        #expect(partition.recent?.end == reach.map { _ in start })
        #expect(partition.ledger?.lowWaterMark == offset)
        #expect(partition.firstOffset == offset)
    }

    @Test(arguments: [Plan.Kind.delayed, .parents, .held])
    func noDuplicatesAreLookedForInWhatWorkersWrote(kind: Plan.Kind) throws {
        let partition = try Self.only(Plan.Assigned(kind, committed: LedgerCommit(offset: 100, metadata: "")), reach: 30)
        #expect(partition.start == .offset(100))
        #expect(partition.recent == nil)
    }

    @Test(arguments: [(.requests, 64), (.delayed, 64), (.held, 256)] as [(AssignmentPlan.Kind, Int)])
    func heldRequestsHaveAWindowOfTheirOwn(kind: AssignmentPlan.Kind, window: Int) {
        let assigned = Plan.Assigned(kind, committed: Self.position(8))
        let plan = Self.plan([assigned], window: 64, heldWindow: 256)
        #expect(plan.partitions.first?.ledger?.window == window)
    }

    @Test(arguments: ["9AAAA", "3::not base64", "3", "x", "{\"consumer\":\"other\"}", "\u{0}"])
    func aPositionThatCannotBeReadIsLeftAndTheOthersBegin(metadata: String) throws {
        for kind in [Plan.Kind.requests, .delayed, .held] {
            let good = Plan.Assigned(kind, committed: Self.position(3))
            let bad = Plan.Assigned(kind, committed: LedgerCommit(offset: 3, metadata: metadata))
            let plan = Self.plan([good, bad, good])
            let starts: [Plan.Start] = [.offset(3), .end, .offset(3)]
            #expect(plan.partitions.map(\.start) == starts)
            let left: [LeaveCause?] = [nil, .unknownPosition(UnknownMetadata(metadata)), nil]
            #expect(plan.partitions.map(\.left) == left)
            let partition = plan.partitions[1]
            #expect(partition.ledger == nil && !partition.isDirty && !partition.isClosed && partition.firstOffset == 3)
            #expect(plan.messages.isEmpty && !plan.movesPositions && !plan.isOpening)
        }
    }

    @Test func aPartitionOfWhichNothingIsKnownWaitsAndTheOthersBegin() {
        let plan = Self.plan([
            Plan.Assigned(.requests, committed: Self.position(3)),
            Plan.Assigned(.requests, ruling: Plan.Ruling(.undecided, because: .noPosition, end: 0)),
            Plan.Assigned(.requests, ruling: Plan.Ruling(.offset(4), because: .noPosition, end: 9)),
        ])
        let starts: [Plan.Start] = [.offset(3), .end, .offset(4)]
        #expect(plan.partitions.map(\.start) == starts)
        let left: [LeaveCause?] = [nil, .leaderAway, nil]
        #expect(plan.partitions.map(\.left) == left)
        #expect(plan.partitions[1].ledger == nil && !plan.partitions[1].isDirty, "nothing is committed of it")
        #expect(plan.awaitsLeader && plan.refusal == nil && plan.messages.isEmpty)
        #expect(!Self.plan([Plan.Assigned(.requests)]).awaitsLeader)
    }

    /// Where its reading starts is where it most likely begins.
    @Test(
        arguments: [
            (.requests, position(100, finished: [2], last: 99, begun: 0), nil, .offset(90)),
            (.held, position(100), nil, .offset(100)),
            (.delayed, nil, .offset(4), .offset(4)), (.delayed, position(7), nil, .offset(7)),
        ] as [(Plan.Kind, LedgerCommit?, StartRule.Decision?, Plan.Start)])
    func aPartitionWhoseRecordsAreStillReadCommitsNothingAndHoldsUpNoOther(
        kind: Plan.Kind, position: LedgerCommit?, decision: StartRule.Decision?, start: Plan.Start
    ) {
        let ruling = decision.map { Plan.Ruling($0, because: .noPosition, end: 9) }
        let plan = Self.plan(
            [
                Plan.Assigned(kind, committed: position, end: 200, ruling: ruling, isUnanswered: true),
                Plan.Assigned(kind, committed: Self.position(3)),
            ], reach: 10)
        let (waiting, other) = (plan.partitions[0], plan.partitions[1])
        #expect(waiting.left == .unanswered && waiting.start == start && waiting.refusal == nil)
        #expect(waiting.ledger == nil && !waiting.isDirty && !waiting.isClosed)
        #expect(other.left == nil && other.ledger?.lowWaterMark == 3)
        #expect(!plan.isOpening && !plan.movesPositions && !plan.awaitsLeader && plan.messages.isEmpty)
    }

    @Test func whatIsSaidFollowsTheSlots() {
        let lost = Plan.Ruling(.offset(4), because: .lostEnd, end: 4)
        let plan = Self.plan([
            Plan.Assigned(.held, committed: LedgerCommit(offset: 0, metadata: "9")),
            Plan.Assigned(.requests, committed: Self.position(9), ruling: lost), Plan.Assigned(.requests, ruling: lost),
            Plan.Assigned(.requests, committed: Self.position(7), ruling: Plan.Ruling(.refused, because: .unknownEnd, end: 5)),
            Plan.Assigned(.delayed, committed: LedgerCommit(offset: 0, metadata: "x")),
        ])
        let messages: [Plan.Message] = [
            .endsBeforePosition(index: 1, position: 9, end: 4, cause: .lostEnd),
            .endsBeforePosition(index: 3, position: 7, end: 5, cause: .unknownEnd),
        ]
        #expect(plan.messages == messages)
        #expect(plan.partitions.map(\.index) == [1, 2, 3, 4, 0])
        let left: [LeaveCause?] = [
            nil, nil, nil, .unknownPosition(UnknownMetadata("x")), .unknownPosition(UnknownMetadata("9")),
        ]
        #expect(plan.partitions.map(\.left) == left)
    }

    @Test func whatIsNotReadIsNamedWithTheCauseOfTheFirst() {
        let none = Plan.Ruling(.refused, because: .noPosition, end: 9, waiting: 5)
        let unknown = Plan.Ruling(.refused, because: .unknownEnd, end: 9, waiting: 7)
        let read = Plan.Assigned(.requests, committed: Self.position(3))
        let plan = Self.plan([
            Plan.Assigned(.delayed), Plan.Assigned(.requests, committed: Self.position(12), ruling: unknown), read,
            Plan.Assigned(.requests, ruling: none),
        ])
        #expect(plan.refusal?.slots == [0, 2] && plan.refusal?.counts == [7, 5] && plan.refusal?.cause == .unknownEnd)
        #expect(plan.partitions.allSatisfy { $0.left == nil }, "what an operator decides is left to no other version")
        let starts: [Plan.Start] = [.end, .offset(3), .end, .beginning]
        #expect(plan.partitions.map(\.start) == starts)
        #expect(!plan.movesPositions, "nothing is committed of what was not decided")
        #expect(Self.plan([read]).refusal == nil)
    }
}
