import Delivery
import GroupPositions
import Kafka
import PushModel
import Settings
import TestSupport
import Testing

@testable import Console
@testable import Groups
@testable import KafkaCare

@Suite struct DoctorGroupTests {
    private static let tool = KafkaTool(brokers: "b:9092")

    private static func position(
        _ number: Int32 = 0, low: Int64 = 0, high: Int64 = 100, committed: Int64? = 100, metadata: String = ""
    ) -> GroupPosition {
        GroupPosition(
            TopicPartition(topic: "t", partition: number), low: low, high: high, committed: committed, metadata: metadata)
    }

    /// The beginnings of partitions of which nobody has to decide without a position.
    private static func starts(of positions: [GroupPosition], _ sample: StartSample = StartSample()) -> GroupStarts {
        var sample = sample
        sample.since = positions.map(\.low)
        return sample.groupStarts(of: positions)
    }

    private static func facts(
        _ positions: [GroupPosition], state: GroupDescription.State = .stable, members: [Int] = [1],
        beside: [TopicPartition] = []
    ) -> GroupFacts {
        let list = members.enumerated().map { index, count in
            GroupMember(
                name: "w\(index)", host: "h",
                partitions: (0..<Int32(count)).map { TopicPartition(topic: "t", partition: $0) } + (index == 0 ? beside : []))
        }
        return GroupFacts(
            id: "pushfan", positions: .success(positions), description: .success(.init(state: state, members: list)),
            starts: .success(starts(of: positions)))
    }

    @Test func aWorkingGroupIsOneLine() {
        let findings = GroupFindings.of(Self.facts([Self.position(committed: 90)]), tool: Self.tool)
        #expect(findings == [.ok("group", of: "pushfan", text: "1 member, 10 requests wait")])
    }

    @Test(arguments: [
        (
            GroupPosition(TopicPartition(topic: "t", partition: 0), low: 50, high: 60, committed: 20),
            "30 requests at most were removed, by retention or by hand"
        ),
        (.init(TopicPartition(topic: "t", partition: 0), low: 0, high: 5, committed: 20), "beyond the log end"),
        (
            .init(TopicPartition(topic: "t", partition: 0), low: 0, high: 50, committed: 20, metadata: "9x"),
            "another program that commits with this group id"
        ),
    ])
    func aPositionThatCannotBeWorkedFromIsFound(position: GroupPosition, text: String) {
        let findings = GroupFindings.of(Self.facts([position]), tool: Self.tool)
        #expect(findings.count == 1)
        #expect(findings.first?.text.contains(text) == true)
        #expect(findings.first?.remedy != nil)
    }

    /// Workers leave such partitions of held and of large requests, too, and send the operator here.
    @Test func aPositionBesideThatCannotBeReadIsFound() {
        var facts = Self.facts([Self.position(committed: 90)])
        let parents = TopicPartition(topic: "p", partition: 3)
        facts.unknownBeside = [(parents, UnknownMetadata("v2:x", isOfParents: true))]
        let failed = GroupFindings.of(facts, tool: Self.tool).filter { $0.state == .failed }
        #expect(failed.map(\.text).allSatisfy { $0.hasPrefix("the position in p[3] has metadata “v2:x”") } && failed.count == 1)
        #expect(failed.first?.remedy?.contains("--at finished --replace p:3`") == true)
    }

    private static let beyondEnd: [(Bool, StartRule, Finding.State, String)] = [
        (true, .safe, .failed, "is gone from"), (true, .beginning, .failed, "is gone from"),
        (true, .end, .failed, "is gone from"), (false, .safe, .failed, "nothing is read there, as"),
        (false, .beginning, .warning, "all that is there is sent"), (false, .end, .warning, "is not sent"),
        (false, .moment(5), .warning, "from the moment of kafka.start on"),
    ]

    /// The state of a group that has read record 29, of whose mark its position says it or not.
    private static func metadata(isKnown: Bool, isOfParents: Bool = false) -> String {
        let marks = isKnown ? ReadMarks(RecordMark(offset: 29, time: 1000, key: nil, value: nil)) : nil
        if isOfParents { return OpenParents(start: 30).commit(marks: marks).metadata }
        var finished = FinishedOffsets()
        finished.marks = marks
        return finished.encoded()
    }

    /// As `LogTail` decides: by the last record that was read, or where that is unknown by `kafka.start`.
    @Test(arguments: beyondEnd)
    func ofAPartitionThatEndsBeforeThePositionItIsSaidWhatWorkersDo(
        isKnown: Bool, start: StartRule, state: Finding.State, text: String
    ) {
        let positions = [Self.position(high: 20, committed: 30, metadata: Self.metadata(isKnown: isKnown))]
        var facts = Self.facts(positions)
        facts.rule = start
        for kind in [.requests, .delayed] as [AssignmentPlan.Kind] {
            let sample = StartSample(kind: kind, rule: start, last: isKnown ? .absent : nil, first: isKnown ? .absent : nil)
            facts.starts = .success(Self.starts(of: positions, sample))
            let findings = GroupFindings.of(facts, tool: Self.tool).filter { $0.state != .ok }
            #expect(findings.map(\.state) == [state])
            #expect(findings.first?.text.contains(text) == true, "\(findings)")
            let command = "pushfan group start --at finished --replace t:0"
            #expect(findings.first?.remedy?.contains(command) == (state == .failed))
        }
    }

    /// A partition of requests and one of a delay lane, whether they end before their positions or have grown past them again.
    @Test(arguments: [20, 90] as [Int64])
    func whereTheLastRecordThatWasReadIsGoneTheCommandIsNamed(high: Int64) {
        let positions = [Self.position(high: high, committed: 30, metadata: Self.metadata(isKnown: true))]
        var facts = Self.facts(positions)
        for kind in [.requests, .delayed] as [AssignmentPlan.Kind] {
            facts.starts = .success(Self.starts(of: positions, StartSample(kind: kind, last: .absent, first: .absent)))
            let failed = GroupFindings.of(facts, tool: Self.tool).filter { $0.state == .failed }
            #expect(failed.count == 1)
            #expect(failed.first?.text.contains("is gone from t[0]") == true)
            #expect(failed.first?.remedy?.contains("pushfan group start --at finished --replace t:0") == true)
        }
        facts.starts = .success(Self.starts(of: positions, StartSample(last: .same)))
        #expect(GroupFindings.of(facts, tool: Self.tool).allSatisfy { $0.state != .failed }, "nothing is lost")
    }

    /// A partition of large requests that ends before its position, which says what was read or does not.
    @Test(arguments: [true, false])
    func whereLargeRequestsHaveLostTheirEndTheCommandIsNamed(isKnown: Bool) {
        var facts = Self.facts([Self.position(1)], beside: [TopicPartition(topic: "t", partition: 1)])
        let parents = Self.position(high: 20, committed: 30, metadata: Self.metadata(isKnown: isKnown, isOfParents: true))
        let finding: LogTail.Finding? = isKnown ? .absent : nil
        facts.starts = .success(Self.starts(of: [parents], StartSample(kind: .parents, last: finding, first: finding)))
        let failed = GroupFindings.of(facts, tool: Self.tool).filter { $0.state == .failed }
        #expect(failed.count == 1, "\(failed)")
        #expect(failed.first?.remedy?.contains("pushfan group start --at finished --replace t:0") == true)
    }

    @Test func beginningsThatCannotBeLearntAreNoFindingAboutPartitions() {
        var facts = Self.facts([Self.position(committed: 90)])
        facts.starts = .failure(QueryFailure(.unreachable, text: "no broker"))
        let findings = GroupFindings.of(facts, tool: Self.tool).filter { $0.state != .ok }
        #expect(findings.map(\.state) == [.unasked])
    }

    @Test func theRightToTransactionsIsAskedForUnderTheWorkersNames() throws {
        func settings(_ environment: [String: String]) throws -> Settings {
            let own = ["PUSHFAN_KAFKA_GROUP_ID": "g", "PUSHFAN_WORKER_ID": "w"]
            return try Settings.load(environment: own.merging(environment) { _, new in new })
        }
        let one = try settings(["PUSHFAN_WORKER_LOOPS": "1"])
        #expect(one.memberNames == ["w"] && one.unusedTransactionalID == "g:w:0")
        let several = try settings(["PUSHFAN_WORKER_LOOPS": "2"])
        #expect(several.memberNames == ["w:1", "w:2"])
        #expect(several.unusedTransactionalID == "g:w:0")
        let none = try settings(["PUSHFAN_KAFKA_DELIVERY_GUARANTEE": "at_least_once"])
        #expect(none.unusedTransactionalID == nil)
    }

    @Test func aMissingRightToTransactionsIsToldUnlessTheWorkerRuns() {
        func findings(_ answer: Result<Void, QueryFailure>, isRunning: Bool = false) -> [Finding] {
            TransactionFindings.of(TransactionFacts(prefix: "g:", answer: answer, isRunning: isRunning), tool: Self.tool)
        }
        #expect(findings(.success(())).isEmpty)
        let missing = findings(.failure(QueryFailure(.rights, text: "x")))
        #expect(missing.map(\.cause) == [.notAllowed])
        let remedy = "--operation Write --transactional-id g: --resource-pattern-type prefixed"
        #expect(missing.first?.remedy?.hasSuffix(remedy) == true, "\(missing)")
        #expect(findings(.failure(QueryFailure(.rights, text: "x")), isRunning: true).isEmpty)
        #expect(findings(.failure(QueryFailure(.unreachable, text: "x"))).map(\.state) == [.unasked])
    }

    @Test func whatIsDelayedIsToldApartAndEachTopicIsSharedOutByItself() {
        let delayed = GroupPosition(TopicPartition(topic: "delay", partition: 0), low: 0, high: 9, committed: 6)
        var facts = Self.facts([Self.position(committed: 90), delayed], beside: [delayed.partition])
        facts.delays = ["delay"]
        #expect(
            GroupFindings.of(facts, tool: Self.tool) == [
                .ok("group", of: "pushfan", text: "1 member, 10 requests wait, at most 3 are delayed")
            ])
        facts = Self.facts([Self.position(), delayed], state: .empty, members: [])
        facts.delays = ["delay"]
        #expect(GroupFindings.of(facts, tool: Self.tool).map(\.state) == [.failed], "nobody will send them when they are due")
        let idle = GroupFindings.of(
            Self.facts([Self.position(), delayed], members: [2, 0], beside: [delayed.partition]), tool: Self.tool)
        #expect(idle.map(\.state) == [.warning])
    }

    @Test func requestsAreCountedByReadingAndNotByOffsets() {
        let delayed = GroupPosition(TopicPartition(topic: "delay", partition: 0), low: 0, high: 9, committed: 6)
        var facts = Self.facts([Self.position(committed: 99), delayed], beside: [delayed.partition])
        facts.delays = ["delay"]
        func text(_ requests: Int64, delayed: Int64, unread: Int64) -> [String] {
            facts.counts = [WaitingCount(requests: requests, unread: unread), WaitingCount(requests: delayed)]
            return GroupFindings.of(facts, tool: Self.tool).map(\.text)
        }
        #expect(text(0, delayed: 0, unread: 0) == ["1 member, 0 requests wait"], "the end of a transaction is no request")
        #expect(text(1, delayed: 2, unread: 0) == ["1 member, 1 request waits, 2 are delayed"])
        #expect(text(1, delayed: 2, unread: 7) == ["1 member, at most 8 requests wait, at most 2 are delayed"])
    }

    @Test(arguments: [(4999, nil), (5000, .warning), (900_001, .failed)] as [(Int64, Finding.State?)])
    func anOpenTransactionIsNamedWithTheCommandThatFindsItsProducer(age: Int64, state: Finding.State?) {
        var facts = Self.facts([Self.position(high: 105)])
        facts.now = Timestamp(milliseconds: 1_000_000)
        let since = Timestamp(milliseconds: 1_000_000 - age)
        let partition = TopicPartition(topic: "t", partition: 0)
        facts.counts = [
            WaitingCount(
                requests: 5, oldest: since,
                transaction: OpenTransaction(partition: partition, offset: 100, recordCount: 5, since: since))
        ]
        let findings = GroupFindings.of(facts, tool: Self.tool)
        #expect(findings.first?.text == "1 member, 5 requests wait")
        #expect(findings.dropFirst().map(\.state) == (state.map { [$0] } ?? []))
        #expect(
            findings.dropFirst().allSatisfy {
                $0.text == "t[0]: 5 records behind an open transaction since \(since.text), from offset 100 on"
                    && $0.remedy == "kafka-transactions.sh --bootstrap-server b:9092 describe-producers --topic t --partition 0"
            })
    }

    @Test func aPartitionThatNobodyReadsIsToldWhileTheGroupIsStable() {
        let positions = [Self.position(), Self.position(1), Self.position(2)]
        let findings = GroupFindings.of(Self.facts(positions), tool: Self.tool)
        #expect(findings.map(\.state) == [.failed])
        #expect(findings.first?.text.contains("no consumer for t[1] and 1 more") == true, "\(findings)")
        #expect(GroupFindings.of(Self.facts(positions, state: .rebalancing), tool: Self.tool).map(\.state) == [.warning])
        #expect(GroupFindings.of(Self.facts(positions, members: [3]), tool: Self.tool).map(\.state) == [.ok])
    }

    @Test func aGroupWithoutWorkersFailsWhenSomethingWaits() {
        let waiting = GroupFindings.of(Self.facts([Self.position(committed: nil)], state: .empty, members: []), tool: Self.tool)
        #expect(waiting.map(\.state) == [.failed])
        #expect(waiting.first?.remedy == "pushfan worker")
        #expect(
            GroupFindings.of(Self.facts([Self.position()], state: .empty, members: []), tool: Self.tool).map(\.state) == [
                .warning
            ])
        #expect(GroupFindings.of(Self.facts([Self.position()], state: .rebalancing), tool: Self.tool).map(\.state) == [.warning])
        #expect(
            GroupFindings.of(Self.facts([Self.position()], members: [1, 0, 0]), tool: Self.tool).first?.text
                .hasPrefix("of 3 members 2 stand idle: 1 partition is all that a topic has") == true)
    }

    @Test(arguments: [
        (QueryFailure.Kind.rights, Finding.State.failed, "--operation Read --group pushfan"),
        (.unreachable, .failed, "kafka-transactions.sh"), (.missing, .unasked, ""), (.other, .unasked, ""),
    ])
    func positionsThatCannotBeReadSayWhy(kind: QueryFailure.Kind, state: Finding.State, remedy: String) {
        var facts = Self.facts([])
        facts.positions = .failure(QueryFailure(kind, text: "x"))
        let findings = GroupFindings.of(facts, tool: Self.tool).filter { $0.state != .ok }
        #expect(findings.map(\.state) == [state])
        #expect(remedy.isEmpty || findings.first?.remedy?.contains(remedy) == true)
    }

    @Test func aGroupWithoutPositionsIsNotSaidToHaveNoRequests() {
        var facts = Self.facts([])
        facts.positions = .failure(QueryFailure(.missing, text: "the requests topic is not there"))
        #expect(
            GroupFindings.of(facts, tool: Self.tool)
                == [.unasked("group", of: "pushfan", text: "it has no positions to read: the requests topic is not there")])
        facts.description = .success(.init(state: .absent, members: []))
        #expect(GroupFindings.of(facts, tool: Self.tool).map(\.state) == [.unasked, .warning])
        #expect(
            GroupFindings.of(facts, tool: Self.tool).dropFirst().first?.text == "no worker is in it, or this user may not see it")
    }
}
