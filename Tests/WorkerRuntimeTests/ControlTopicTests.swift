import Basics
import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// When requests may begin, by what was read of the control topic, and what it cancels.
@Suite struct ControlTopicTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let topics = Topics()

    /// Takes a record that cancels `id`, or one without key and value.
    @discardableResult
    private static func take(
        _ id: String?, value: String? = "{}", at offset: Int64, age: Int64 = 0, into topic: inout ControlTopic
    ) -> Bool {
        let (key, value) = (id.map { CancelRecord(requestID: $0).key }, value.map { Array($0.utf8) })
        let moment = now.adding(milliseconds: -age)
        return topic.take(key: key?.span, value: value?.span, at: offset, moment: moment, now: now)
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
        #expect(news == [true, false, false, false, false, false])
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
        topic.lose(now: 0)
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

    @Test(arguments: [(ControlEnd.unknown, "no leader of the control topic"), (.at(5), "cannot be read")])
    func whatStandsStillForLongIsSaidAndHoldsNothingUp(_ end: ControlEnd, _ words: String) throws {
        var topic = ControlTopic()
        topic.begin(slot: 0, end: end, now: 0)
        var problem: String?
        for second in 1...11 {
            #expect(!topic.allowsRequests && problem == nil)
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            problem = topic.advance(now: now, isBrokerDoubtful: false, topic: "control")
        }
        #expect(topic.allowsRequests)
        #expect(try #require(problem).contains(words))
    }
}
