import Delivery
import Foundation
import GroupPositions
import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// Pages of requests on a real broker: the embedded one finds no offsets for times, and knows no group's positions.
@Suite(.needsKafka, .serialized)
struct RequestSearchTests {
    private static let minute: Int64 = 60_000

    private static func sought(_ subject: Sought.Subject, _ word: String) -> ResultFilter {
        var filter = ResultFilter()
        filter.add(Sought(subject, values: [.init(word)]))
        return filter
    }

    private static func states(_ words: String...) -> ResultFilter {
        var filter = ResultFilter()
        filter.require(.state, among: words)
        return filter
    }

    private static func rows(_ page: SearchPage) -> [String] { page.rows.map { "\($0.id) \($0.state)" } }

    @Test func requestsAreListedByPublicationWithWhatBecameOfThem() throws {
        let stage = try SearchStage()
        for (number, id) in ["a", "b", "c", "d"].enumerated() {
            try stage.publish(id, to: number % 2 == 0 ? .requests : .requestsHigh, at: Int64(number) * 1000 - Self.minute)
        }
        try stage.finish("a", "sent", offset: 0, at: 5000 - Self.minute)
        try stage.finish("b", "failed", lane: .requestsHigh, offset: 0, at: 6000 - Self.minute)
        try stage.commit(.requests, 1)
        try stage.commit(.requestsHigh, 1)
        let page = try stage.page(10)
        #expect(Self.rows(page) == ["d published", "c published", "b failed", "a sent"])
        #expect(page.next == nil && page.order == .published && page.searched.isComplete && page.searched.source == .scan)
        #expect(page.rows.map(\.facts?.audience.names) == Array(repeating: ["alice"], count: 4))
        #expect(page.rows[3].publishedAt == stage.now - Self.minute && page.rows[3].standing == nil)
        // Pages behind one another are the same list.
        let first = try stage.page(3)
        let second = try stage.page(3, after: first.next)
        #expect(Self.rows(first) + Self.rows(second) == Self.rows(page) && second.next == nil)
    }

    @Test(arguments: [(1, "unexpected_end", "not_known"), (0, "not_taken", "not_known"), (0, "unexpected_end", "dead_letter")])
    func aRecordThatCouldNotBeReadIsADeadLetter(offset: Int64, reason: String, code: String) throws {
        let stage = try SearchStage()
        try stage.publish("a", at: -3000)
        try stage.publish("b", at: -3000)
        try stage.giveUp(offset: offset, reason: reason)
        try stage.commit(.requests, 2)
        let context = JobContext(
            kafka: stage.kafka, topics: stage.topics, timeout: farDeadline, now: { [now = stage.now] in now })
        let terms = GroupTerms(kafka: stage.kafka, group: stage.group, topics: stage.topics, start: .safe)
        var search = WhereaboutsSearch(for: "a", in: terms, context: context)
        let report = try search.run()
        #expect(report.whereabouts.state == .done)
        #expect(Verdict.of(RequestStory(report), now: Timestamp(milliseconds: stage.now)).code == code)
    }

    @Test func namesAreFoundForCertainAndSendsToAllApart() throws {
        let stage = try SearchStage()
        try stage.publish("mine", at: -3000)
        try stage.publish("hers", audience: #"{"users":["bob"]}"#, at: -2000)
        try stage.publish("wide", audience: #"{"categories":["News"]}"#, at: -1000)
        let alice = try stage.page(10, Self.sought(.user, "ALICE"))
        #expect(Self.rows(alice) == ["mine published"] && alice.possible.map(\.id) == ["wide"] && !alice.hasMorePossible)
        #expect(alice.possible.allSatisfy { !$0.isNamed } && alice.rows.allSatisfy(\.isNamed))
        let nobody = try stage.page(10, Self.sought(.user, "carol"))
        #expect(nobody.rows.isEmpty && nobody.possible.map(\.id) == ["wide"])
        // It was found by its id, and nobody else may be meant.
        let word = try stage.page(10, Self.sought(.anything, "hers"))
        #expect(Self.rows(word) == ["hers published"] && word.possible.isEmpty)
        // Later pages have none.
        let later = try stage.page(10, Self.sought(.user, "alice"), after: .requests(SearchCursor(time: stage.now, place: nil)))
        #expect(Self.rows(later) == ["mine published"] && later.possible.isEmpty)
    }

    @Test func timesBoundThePublicationAndNotTheResult() throws {
        let stage = try SearchStage()
        for (number, id) in ["old", "wanted", "new"].enumerated() {
            try stage.publish(id, at: Int64(number - 3) * 10 * Self.minute)
            try stage.finish(id, "sent", offset: Int64(number), at: -1000)
        }
        try stage.commit(.requests, 3)
        var filter = ResultFilter()
        filter.add(since: stage.now - 25 * Self.minute)
        filter.add(until: stage.now - 15 * Self.minute)
        #expect(Self.rows(try stage.page(10, filter)) == ["wanted sent"])
    }

    @Test func oneIDOfSeveralRequestsHasTheResultOfEach() throws {
        let stage = try SearchStage()
        for time in [-3000, -2000] as [Int64] { try stage.publish("twice", at: time) }
        try stage.finish("twice", "sent", offset: 0, at: -1500)
        try stage.finish("twice", "duplicate", offset: 1, at: -1400)
        try stage.commit(.requests, 2)
        #expect(Self.rows(try stage.page(10)) == ["twice duplicate", "twice sent"])
    }

    @Test func requestsWithoutAResultAreWhereTheyWait() throws {
        let stage = try SearchStage()
        for (number, id) in ["delayed", "held", "large", "lost", "letter", "next"].enumerated() {
            try stage.publish(id, at: Int64(number) * 1000 - Self.minute)
        }
        try stage.wait("delayed", in: stage.topics.delays[0], offset: 0, publishedAt: -Self.minute, due: 90_000)
        try stage.wait("held", in: stage.topics.held, offset: 1, publishedAt: 1000 - Self.minute, due: nil)
        try stage.divide("large", chunks: 3, ended: 2, offset: 2, publishedAt: 2000 - Self.minute)
        try stage.giveUp(offset: 4)
        try stage.commit(.requests, 5)
        let page = try stage.page(10)
        #expect(
            Self.rows(page) == [
                "next published", "letter dead_letter", "lost done", "large in_parts", "held held", "delayed delayed",
            ])
        #expect(page.rows[5].standing?.due == stage.now + 90_000)
        #expect(page.rows[3].standing == .init(state: .inParts, parts: (count: 3, ended: 2)))
        // Each of these states is found without a look at what is finished.
        for (words, ids) in [
            (["published"], ["next"]), (["delayed", "held"], ["held", "delayed"]), (["in_parts"], ["large"]),
            (["published", "delayed", "held"], ["next", "held", "delayed"]), (["in_work"], []),
        ] {
            var filter = ResultFilter()
            filter.require(.state, among: words)
            let open = try stage.page(10, filter)
            #expect(open.rows.map(\.id) == ids && open.next == nil, "\(words)")
            #expect(open.searched.records <= 1, "\(words)")
        }
        #expect(Self.rows(try stage.page(10, Self.states("held", "sent"))) == ["held held"])
    }

    @Test func recordsThatNobodyUnderstandsAreFoundByTheirBytes() throws {
        let stage = try SearchStage()
        try stage.publish("fine", at: -2000)
        try stage.write(#"{"audience":{"users":["Alice""#, to: stage.topics.requests, at: -1000)
        try stage.giveUp(offset: 1, value: #"{"audience":{"users":["Alice""#, at: -500)
        try stage.commit(.requests, 2)
        let place = "\(stage.topics.requests):0:1"
        #expect(Self.rows(try stage.page(10, Self.sought(.anything, "alice"))) == ["\(place) dead_letter", "fine done"])
        let letters = try stage.page(10, Self.states("dead_letter"))
        #expect(Self.rows(letters) == ["\(stage.topics.deadLetters):0:0 dead_letter"] && letters.next == nil)
        // Whoever may not read titles would try their bytes out.
        #expect(Self.rows(try stage.page(10, Self.sought(.anything, "alice").withoutTitles)) == ["fine done"])
        // They are nobody's.
        var own = Self.states("dead_letter")
        own.require(.tenant, among: ["shop"])
        #expect(try stage.page(10, own).rows.isEmpty)
        var word = Self.sought(.anything, "alice")
        word.require(.tenant, among: ["shop"])
        #expect(try stage.page(10, word).rows.isEmpty)
    }

    @Test func aTenantSeesItsOwnAlone() throws {
        let stage = try SearchStage()
        try stage.publish("ours", tenant: "shop", at: -3000)
        try stage.publish("theirs", tenant: "bank", at: -2000)
        try stage.publish("wide", audience: #"{"broadcast":true}"#, tenant: "bank", at: -1000)
        var filter = Self.sought(.user, "alice")
        filter.require(.tenant, among: ["shop"])
        let page = try stage.page(10, filter)
        #expect(Self.rows(page) == ["ours published"] && page.possible.isEmpty)
        let hidden = try stage.page(10) { $0.id != "theirs" }
        #expect(hidden.rows.map(\.id) == ["wide", "ours"])
    }

    @Test func aListOfResultsHasTheFactsOfTheRecordsAndOneRowForManyParts() throws {
        let stage = try SearchStage()
        try stage.publish("a", at: -3000)
        try stage.finish("a", "failed", offset: 0, at: -2000)
        for chunk in 0..<3 {
            let key = "\(stage.topics.requests):0:7"
            let parent = #","parent":{"id":"big","key":"\#(key)","partition":0,"chunk":\#(chunk),"chunks":3}"#
            try stage.finish("big.\(chunk)", "failed", offset: Int64(50 + chunk), at: Int64(chunk) - 1000, members: parent)
        }
        let page = try stage.page(10, ResultFilter("state:failed", now: stage.now))
        #expect(page.order == .finished && page.rows.map(\.id) == ["big", "a"] && page.next == nil)
        #expect(page.rows[1].facts?.audience.names == ["alice"] && page.rows[1].state == "failed")
        #expect(page.rows[0].facts == nil && page.rows[0].standing?.state == .done)
        // A part that is asked for is shown.
        let part = try stage.page(10, ResultFilter("state:failed request:big.1", now: stage.now))
        #expect(Self.rows(part) == ["big.1 failed"])
    }

    @Test func aCancelledSearchEndsAndAMissingTopicIsNone() throws {
        let stage = try SearchStage()
        try stage.publish("a", at: -1000)
        let cancelled = stage.search().ending { true }
        #expect(throws: JobFailure.self) { _ = try cancelled.page(of: 5, matching: ResultFilter()) }
        // Only two of the lanes are there, and neither delay lanes nor large requests.
        let bare = try SearchStage(isBare: true)
        try bare.publish("a", at: -1000)
        #expect(Self.rows(try bare.page(5)) == ["a published"])
    }
}

/// The topics of a fleet, with one partition each.
private final class SearchStage {
    let topics: Topics
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    let group = "search-tests-\(UUID().uuidString)"
    private let producer: Producer

    enum Lane { case requests, requestsHigh }

    init(isBare: Bool = false) throws {
        topics = Topics(requests: "\(group).requests")
        let others = [topics.requestsBulk, topics.requestsOwn, topics.held, topics.parents, topics.deadLetters, topics.replays]
        let names = [topics.requests, topics.requestsHigh, topics.results] + (isBare ? [] : others + topics.delays)
        let admin = try TopicAdmin(kafka)
        _ = try admin.createTopics(
            names.map { NewTopic(name: $0, partitionCount: 1, replicationFactor: 1) }, timeout: farDeadline)
        try #require(
            try eventually { try admin.describe(topics: names, timeout: farDeadline).topics.allSatisfy { $0 != .missing } })
        producer = try Producer(kafka, transactionalID: nil)
    }

    private func name(_ lane: Lane) -> String { lane == .requests ? topics.requests : topics.requestsHigh }

    /// Writes a record, so many milliseconds from now.
    func write(
        _ value: String, to topic: String, key: String = "", headers: [(String, String)] = [], at time: Int64
    ) throws {
        var list = HeaderList()
        for (name, value) in headers { list.append(name, value: value) }
        try producer.produce(
            to: try producer.topic(named: topic), partition: 0, key: Array(key.utf8).span, value: Array(value.utf8).span,
            headers: list, timestamp: now + time)
        try producer.flush(timeout: farDeadline)
    }

    func request(_ id: String, audience: String = #"{"users":["alice"]}"#, tenant: String? = nil) -> String {
        let tenant = tenant.map { #""tenant":"\#($0)","# } ?? ""
        return #"{"schema_version":1,"id":"\#(id)",\#(tenant)"audience":\#(audience),"message":{"title":"Hello"}}"#
    }

    func publish(
        _ id: String, audience: String = #"{"users":["alice"]}"#, tenant: String? = nil, to lane: Lane = .requests, at time: Int64
    ) throws {
        try write(request(id, audience: audience, tenant: tenant), to: name(lane), at: time)
    }

    /// Writes the final result of the request at an offset.
    func finish(
        _ id: String, _ state: String, lane: Lane = .requests, offset: Int64, at time: Int64, members: String = ""
    ) throws {
        let origin = #"{"topic":"\#(name(lane))","partition":0,"offset":"\#(offset)"}"#
        let json = #"{"request_id":"\#(id)","kind":"final","state":"\#(state)","origin":\#(origin)\#(members)}"#
        try write(json, to: topics.results, key: id, at: time)
    }

    /// Writes the record of a request that waits.
    func wait(_ id: String, in topic: String, offset: Int64, publishedAt time: Int64, due: Int64?) throws {
        var headers = [
            ("pushfan-group", group), ("pushfan-origin-topic", topics.requests), ("pushfan-origin-partition", "0"),
            ("pushfan-origin-offset", "\(offset)"), ("pushfan-origin-timestamp-ms", "\(now + time)"),
        ]
        if let due { headers.append(("pushfan-not-before-ms", "\(now + due)")) }
        try write(request(id), to: topic, headers: headers, at: time + 100)
    }

    /// Writes the records of a large request.
    func divide(_ id: String, chunks: Int, ended: Int, offset: Int64, publishedAt time: Int64) throws {
        let origin = RecordOrigin(
            topic: topics.requests, partition: 0, offset: offset, timestamp: Timestamp(milliseconds: now + time))
        let key = ParentKey(of: origin, id: id.utf8Span.span).text
        let place = #"{"topic":"\#(topics.requests)","partition":0,"offset":"\#(offset)","timestamp_ms":\#(now + time)}"#
        try write(
            #"{"schema_version":1,"id":"\#(id)","chunks":\#(chunks),"calls":9,"origin":\#(place)}"#, to: topics.parents, key: key,
            at: time)
        for chunk in 0..<ended { try write(#"{"v":1,"state":"sent"}"#, to: topics.parents, key: "\(key)/\(chunk)", at: time) }
    }

    /// Writes a dead letter of the record at an offset.
    func giveUp(offset: Int64, reason: String = "unexpected_end", value: String = "{", at time: Int64 = -1000) throws {
        let headers = [
            ("pushfan-dlq-topic", topics.requests), ("pushfan-dlq-partition", "0"), ("pushfan-dlq-offset", "\(offset)"),
            ("pushfan-dlq-reason", reason),
        ]
        try write(value, to: topics.deadLetters, headers: headers, at: time)
    }

    /// Has the group finish the records of a lane before an offset.
    func commit(_ lane: Lane, _ offset: Int64) throws {
        let consumer = try Consumer(kafka, groupID: group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: farDeadline) }
        try consumer.group.commit([OffsetCommit(TopicPartition(topic: name(lane), partition: 0), offset: offset)])
    }

    func search() -> RequestSearch {
        let context = JobContext(kafka: kafka, topics: topics, timeout: farDeadline, now: { [now] in now })
        let terms = GroupTerms(kafka: kafka, group: group, topics: topics, start: .safe)
        return RequestSearch(context, terms: terms, answers: ResultAnswers(context))
    }

    func page(
        _ limit: Int, _ filter: ResultFilter = ResultFilter(), after next: SearchPage.Next? = nil,
        isVisible: @escaping @Sendable (SearchRow) -> Bool = { _ in true }
    ) throws -> SearchPage {
        try search().page(of: limit, matching: filter, after: next, patience: farDeadline, isVisible: isVisible)
    }
}
