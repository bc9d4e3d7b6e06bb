import Basics
import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// When requests may begin, by what was read of the control topic, and what it orders and cancels.
@Suite struct ControlTopicTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let topics = Topics()

    /// Takes a record that cancels `id`, or one without key and value.
    @discardableResult
    private static func take(
        _ id: String?, value: String? = "{}", at offset: Int64, age: Int64 = 0, into topic: inout ControlTopic
    ) -> ControlTopic.News {
        let (key, value) = (id.map { CancelRecord(requestID: $0).key }, value.map { Array($0.utf8) })
        let moment = now.adding(milliseconds: -age)
        return topic.take(key: key?.span, value: value?.span, at: offset, moment: moment, wall: now, now: 0)
    }

    /// Takes an order's record, read when the machine's time is `wall`.
    @discardableResult
    private static func take(
        _ order: OrderRecord, key: [UInt8]? = nil, at offset: Int64, wall: Timestamp = now, into topic: inout ControlTopic
    ) -> ControlTopic.News {
        let (key, value) = (key ?? order.key, order.value)
        return topic.take(key: key.span, value: value.span, at: offset, moment: order.since, wall: wall, now: 0)
    }

    /// A hold of a hub that begins now.
    private static func hold(_ id: String = "h-abcdefgh", milliseconds: Int64 = 3_600_000) throws -> OrderRecord {
        var scope = OrderScope()
        scope.hub = "demo"
        let until = now.adding(milliseconds: milliseconds)
        let order = OrderRecord(
            id: id, kind: .hold, scope: scope, reason: "silence", author: "ops", since: now, until: until)
        try order.check()
        return order
    }

    private static func moment(_ second: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000) }

    /// Lets seconds pass, by both clocks.
    private static func pass(_ seconds: ClosedRange<Int>, _ topic: inout ControlTopic) {
        for second in seconds {
            _ = topic.advance(
                wall: now.adding(milliseconds: Int64(second) * 1000), now: moment(second), isBrokerDoubtful: false)
        }
    }

    @Test func requestsWaitUntilAllIsReadThatStoodThere() {
        var topic = ControlTopic()
        #expect(topic.allowsRequests && !topic.mayHaveRecords)
        topic.begin(slot: 4, end: .at(3), now: 0)
        #expect(topic.slot == 4 && topic.mayHaveRecords && !topic.allowsRequests)
        for offset in 0..<3 {
            #expect(!topic.allowsRequests)
            Self.take("r\(offset)", at: Int64(offset), into: &topic)
        }
        #expect(topic.allowsRequests && topic.position == 3 && topic.cancellations.count == 3)
    }

    @Test func theEndThatTheReaderReportsCountsToo() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(9), now: 0)
        topic.reached(9)
        #expect(topic.allowsRequests && topic.position == 9)
    }

    @Test func positionAndCancellationsOutliveAnAssignment() throws {
        var topic = ControlTopic()
        #expect(topic.starts(in: Self.topics, end: .missing).isEmpty)
        #expect(topic.starts(in: Self.topics, end: .at(0)).map(\.start) == [.beginning])
        topic.begin(slot: 1, end: .at(1), now: 0)
        Self.take("r", at: 0, into: &topic)
        topic.stop()
        #expect(topic.slot == nil && !topic.mayHaveRecords && topic.allowsRequests)
        let starts = topic.starts(in: Self.topics, end: .unknown)
        #expect(starts.map(\.start) == [.offset(1)] && starts.map(\.partition.topic) == [Self.topics.control])
        topic.begin(slot: 2, end: .at(1), now: 0)
        #expect(topic.allowsRequests, "what stood there was read before")
        #expect(topic.cancellations.count == 1)
    }

    @Test func aTopicThatIsNotReadHasNoRecords() {
        var topic = ControlTopic()
        topic.noteArrivals()
        #expect(!topic.mayHaveRecords)
        topic.begin(slot: 0, end: .missing, now: 0)
        #expect(topic.slot == nil && !topic.mayHaveRecords && topic.allowsRequests)
        topic.begin(slot: 0, end: .unknown, now: 0)
        topic.wasEmpty()
        #expect(!topic.mayHaveRecords && !topic.allowsRequests)
        topic.noteArrivals()
        #expect(topic.mayHaveRecords)
    }

    @Test func onlyWhatCanConcernARequestIsNews() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(9), now: 0)
        let news = [
            Self.take("r", at: 0, into: &topic), Self.take("r", at: 1, age: 1, into: &topic),
            Self.take("", at: 2, into: &topic), Self.take("old", at: 3, age: Cancellations.lifetime, into: &topic),
            Self.take("deleted", value: nil, at: 4, into: &topic), Self.take(nil, value: nil, at: 5, into: &topic),
        ]
        #expect(news == [.cancellations, [], [], [], [], []])
        #expect(topic.position == 6 && topic.cancellations.count == 1, "each of them was read")
    }

    @Test func whatIsForgottenIsReportedOnce() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(0), now: 0)
        for offset in 0..<Cancellations.capacity + 2 { Self.take("r\(offset)", at: Int64(offset), into: &topic) }
        #expect(topic.removeExpired(now: Self.now) == 2)
        #expect(topic.removeExpired(now: Self.now) == 0)
        #expect(topic.removeExpired(now: Self.now.adding(milliseconds: Cancellations.lifetime)) == 0)
        #expect(topic.cancellations.isEmpty, "what expires is not forgotten before its time")
    }

    /// The seconds after which a look is due at a topic that is not there, and how long it is waited for the next.
    @Test func aTopicThatIsMissingOrNotAllowedIsLookedForAgainAndAgain() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .missing, now: 0)
        func looks(until end: Int) -> [Int] {
            (1...end).filter { topic.isDueForSearch(now: MonotonicTime(nanoseconds: Int64($0) * 1_000_000_000)) }
        }
        #expect(topic.isAbsent && looks(until: 120) == [5, 15, 35, 65, 95])
        topic.begin(slot: 3, end: .at(2), now: 0)
        #expect(!topic.isAbsent && looks(until: 120) == [], "it is read")
        Self.take("r", at: 0, into: &topic)
        topic.lose(isForbidden: false, now: 0)
        #expect(topic.isAbsent && topic.allowsRequests && topic.slot == nil && looks(until: 20) == [5, 15])
        #expect(topic.starts(in: Self.topics, end: .at(7)).map(\.start) == [.beginning], "it may be another by now")
        topic.stop()
        #expect(!topic.isAbsent, "no partition is assigned")
    }

    @Test func aTopicThatEndsBeforeWhatWasReadIsAnother() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(9), now: 0)
        topic.reached(9)
        #expect(topic.starts(in: Self.topics, end: .at(9)).map(\.start) == [.offset(9)])
        #expect(topic.starts(in: Self.topics, end: .at(1)).map(\.start) == [.beginning])
        topic.begin(slot: 0, end: .at(1), now: 0)
        #expect(!topic.allowsRequests)
        Self.take("r", at: 0, into: &topic)
        #expect(topic.allowsRequests)
    }

    /// The words for a topic of which reading stands still, and whether it was read to its end in an earlier assignment.
    @Test(
        arguments: [(ControlEnd.unknown, "no leader of the control topic control answers"), (.at(5), "cannot be read")],
        [false, true])
    func whatStandsStillHoldsUpOnlyWhoHasNeverReadIt(_ end: (end: ControlEnd, words: String), _ wasRead: Bool) throws {
        var topic = ControlTopic()
        if wasRead {
            topic.begin(slot: 0, end: .at(2), now: 0)
            topic.reached(2)
            Self.pass(0...0, &topic)
            topic.stop()
        }
        topic.begin(slot: 0, end: end.end, now: 0)
        for second in 1...11 {
            #expect(!topic.allowsRequests && topic.problem(topic: "control") == nil)
            Self.pass(second...second, &topic)
        }
        let problem = try #require(topic.problem(topic: "control"))
        #expect(topic.allowsRequests == wasRead && problem.holdsRequests == !wasRead)
        #expect(problem.text.contains(end.words))
        let moment = "requests go on, and orders and cancellations after \(Self.now.text) are not seen"
        #expect(problem.text.contains(wasRead ? moment : "no request begins before it was read to its end once"))
        Self.pass(12...3600, &topic)
        #expect(topic.allowsRequests == wasRead && topic.problem(topic: "control") == problem, "for as long as it takes")
        topic.reached(5)
        #expect(topic.allowsRequests && topic.problem(topic: "control") == nil)
    }

    @Test func whatMayNotBeReadHoldsEverythingUpAndIsLookedForUntilItMay() throws {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .forbidden, now: 0)
        #expect(topic.starts(in: Self.topics, end: .forbidden).isEmpty)
        let problem = try #require(topic.problem(topic: "control"))
        #expect(problem.holdsRequests && problem.text.contains("control may not be read; no request begins"))
        var looks: [Int] = []
        for second in 1...120 {
            #expect(!topic.allowsRequests && topic.isAbsent)
            Self.pass(second...second, &topic)
            guard topic.isDueForSearch(now: Self.moment(second)) else { continue }
            looks.append(second)
            // It may be seen, and reading it is refused.
            topic.begin(slot: 3, end: .at(0), now: Self.moment(second))
            #expect(!topic.allowsRequests && !topic.isAbsent && topic.problem(topic: "control") == problem)
            topic.lose(isForbidden: true, now: Self.moment(second))
            #expect(topic.problem(topic: "control") == problem, "it is said once")
        }
        #expect(looks == [5, 15, 35, 65, 95])
        topic.begin(slot: 3, end: .at(0), now: Self.moment(125))
        topic.reached(0)
        #expect(topic.allowsRequests && topic.problem(topic: "control") == nil)
        topic.lose(isForbidden: true, now: Self.moment(126))
        #expect(topic.allowsRequests && topic.problem(topic: "control")?.holdsRequests == false, "it was read once")
    }

    /// What may be seen and not be read says that it is empty.
    @Test func anEmptyTopicThatMayNotBeReadHoldsEverythingUp() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(0), now: 0)
        topic.lose(isForbidden: true, now: 0)
        #expect(!topic.allowsRequests)
    }

    @Test func aTopicThatIsMissingHoldsNoOrderAndIsNamed() {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .missing, now: 0)
        let problem = topic.problem(topic: "control")
        #expect(topic.allowsRequests && problem?.holdsRequests == false)
        #expect(
            problem?.text
                == "the control topic control is missing; requests go on, and orders and cancellations are not seen; it is looked for again"
        )
        topic.begin(slot: 0, end: .forbidden, now: 0)
        #expect(!topic.allowsRequests, "it is there, and may hold an order")
        topic.begin(slot: 0, end: .missing, now: 0)
        #expect(topic.allowsRequests)
        topic.begin(slot: 0, end: .at(3), now: 0)
        #expect(!topic.allowsRequests && topic.problem(topic: "control") == nil, "it is there, and is read first")
    }

    @Test func ordersStandUntilTheirEndWhateverBecomesOfTheTopic() throws {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(1), now: 0)
        #expect(Self.take(try Self.hold(), at: 0, into: &topic) == .orders)
        #expect(Self.take(try Self.hold(), at: 1, into: &topic) == [], "it is known")
        topic.lose(isForbidden: false, now: 0)
        topic.begin(slot: 0, end: .at(0), now: 0)
        topic.lose(isForbidden: true, now: 0)
        topic.stop()
        #expect(topic.orders.all.map(\.id) == ["h-abcdefgh"])
        let end = Self.now.adding(milliseconds: 3_600_000)
        Self.pass(1...3599, &topic)
        #expect(!topic.orders.isEmpty)
        #expect(topic.advance(wall: end, now: Self.moment(3600), isBrokerDoubtful: false).hasEnded)
        #expect(topic.orders.isEmpty)
    }

    @Test func aReleaseEndsAnOrderAndIsNews() throws {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(2), now: 0)
        var order = try Self.hold()
        Self.take(order, at: 0, into: &topic)
        order.release = .init(at: Self.now, author: "ops")
        #expect(Self.take(order, at: 1, into: &topic) == .orders)
        #expect(topic.orders.isEmpty)
    }

    /// An hour's jump of the machine's clock, both ways, while a hold of an hour stands.
    @Test(arguments: [3_600_000, -3_600_000] as [Int64]) func noJumpOfTheClockEndsAnOrderEarlyOrLate(_ error: Int64) throws {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(1), now: 0)
        Self.take(try Self.hold(), at: 0, into: &topic)
        Self.pass(0...60, &topic)
        var ends: [Int] = []
        var jumps: [Int64] = []
        for second in 61...7300 {
            let wall = Self.now.adding(milliseconds: Int64(second) * 1000 + error)
            let (hasEnded, jump) = topic.advance(wall: wall, now: Self.moment(second), isBrokerDoubtful: false)
            if hasEnded { ends.append(second) }
            if let jump { jumps.append(jump) }
            if second == 62 {
                #expect(topic.time(wall: wall, now: Self.moment(second)) == Self.now.adding(milliseconds: 62_000))
            }
        }
        #expect(ends == [3600] && jumps == [error])
    }

    @Test func anOrderThatCannotBeObeyedChangesNothingAndIsNamed() throws {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: .at(9), now: 0)
        var silent = try Self.hold()
        silent.reason = " "
        #expect(Self.take(silent, at: 3, into: &topic) == [])
        #expect(Self.take(try Self.hold(), key: Array("order/{".utf8), at: 4, into: &topic) == [])
        let key = try Self.hold().key
        #expect(topic.take(key: key.span, value: nil, at: 5, moment: Self.now, wall: Self.now, now: 0) == [], "a tombstone")
        #expect(topic.orders.isEmpty && topic.position == 6)
        #expect(topic.refusedOrders.takeCounts() == ["reason": 1, "unreadable": 1])
        #expect(topic.refusedOrders.takeCounts() == [:])
        #expect(topic.refusedOrders.takeLine(now: 0) == .init(count: 2, offset: 4, fault: "unreadable"))
        #expect(Self.take(try Self.hold(), at: 6, into: &topic) == .orders, "a control: those that are sound are obeyed")
    }

    @Test func refusedOrdersHaveALineInTenSeconds() {
        var refused = RefusedOrders()
        var lines: [[Int]] = []
        for second in 0..<25 {
            refused.note("scope", at: Int64(second))
            if let line = refused.takeLine(now: Self.moment(second)) { lines.append([second, line.count, Int(line.offset)]) }
        }
        #expect(lines == [[0, 1, 0], [10, 10, 10], [20, 10, 20]])
        _ = refused.takeLine(now: Self.moment(40))
        #expect(refused.takeLine(now: Self.moment(60)) == nil)
    }
}
