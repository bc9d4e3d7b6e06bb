import Delivery
import Kafka
import PushModel
import Replay
import ResultQuery
import ReplayStage
import Testing

@testable import JobSupport
@testable import Replays

/// Dead letters are listed page by page, and given back by their places.
@Suite struct DeadLetterPageTests {
    /// Writes five letters: offset 1 of partition 1 is the newest, and offset 0 of partition 0 the oldest.
    private static func stage() throws -> ReplayBroker {
        let broker = try ReplayBroker()
        for (partition, age) in [(0, 50), (1, 40), (0, 30), (0, 20), (1, 10)] as [(Int32, Int64)] {
            try broker.writeLetter(#"{"age":\#(age)}"#, partition: partition, at: ReplayBroker.now - age)
        }
        return broker
    }

    private static func list(_ broker: ReplayBroker, limit: Int, codes: [String] = []) throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
            let page = try broker.context().deadLetters(ResultFilter(), codes: codes, terms: .init(limit: limit), after: cursor)
            pages.append(page.rows.map { "\($0.record.place.partition):\($0.record.place.offset)" })
            cursor = page.next
        } while cursor != nil && pages.count < 9
        return pages
    }

    @Test(arguments: [
        (2, [["1:1", "0:2"], ["0:1", "1:0"], ["0:0"]]), (5, [["1:1", "0:2", "0:1", "1:0", "0:0"]]),
        (0, [["1:1"], ["0:2"], ["0:1"], ["1:0"], ["0:0"]]),
    ])
    func thePagesHaveEachLetterOnceTheNewestFirst(limit: Int, pages: [[String]]) throws {
        #expect(try Self.list(Self.stage(), limit: limit) == pages)
    }

    @Test func aLetterThatComesMeanwhileMovesNoPage() throws {
        let broker = try Self.stage()
        let first = try broker.context().deadLetters(ResultFilter(), codes: [], terms: .init(limit: 2), after: nil)
        try broker.writeLetter("{", partition: 1)
        let second = try broker.context().deadLetters(ResultFilter(), codes: [], terms: .init(limit: 2), after: first.next)
        #expect(second.rows.map(\.record.place) == [broker.letter(0, 1), broker.letter(1, 0)])
        #expect(first.searched == 5 && second.searched == 6)
    }

    @Test func onlyTheReasonsAndTimesThatAreWantedAreListed() throws {
        let broker = try Self.stage()
        try broker.writeLetter("[]", reason: "not_an_object")
        #expect(try Self.list(broker, limit: 9, codes: ["not_an_object"]) == [["0:3"]])
        var times = ResultFilter()
        times.add(until: ReplayBroker.now - 30)
        let page = try broker.context().deadLetters(times, codes: [], terms: .init(limit: 9), after: nil)
        #expect(page.rows.map(\.record.place) == [broker.letter(1, 0), broker.letter(0, 0)])
    }

    @Test func noMoreThanThePageIsKept() throws {
        let broker = try Self.stage()
        let scan = TopicScan(broker.context(), topic: broker.topics.deadLetters)
        let reader = try scan.open(.beginning, .end)
        defer { reader.close() }
        var search = DeadLetterSearch(ResultFilter(), codes: [], in: broker.topics, terms: .init(limit: 1), after: nil)
        var most = 0
        try scan.read(reader) { record in
            search.take(record)
            most = max(most, search.newestFirst.count)
        }
        #expect(most == 2 && search.searchedCount == 5)
        #expect(search.newestFirst.map(\.order.time) == [ReplayBroker.now - 10, ReplayBroker.now - 20])
    }

    private static func page(
        _ broker: ReplayBroker, _ byteLimit: Int, withValues: Bool = true, after cursor: String? = nil
    ) throws -> DeadLetterPage {
        try broker.context().deadLetters(
            ResultFilter(), codes: [], terms: .init(limit: 9, byteLimit: byteLimit, withValues: withValues), after: cursor)
    }

    /// Three letters of 10,000 bytes each, of which one alone is more than the page may have.
    @Test(arguments: [
        (1, true, [["0:2"], ["0:1"], ["0:0"]]), (25_000, true, [["0:2", "0:1"], ["0:0"]]),
        (99_000, true, [["0:2", "0:1", "0:0"]]),
        (5000, false, [["0:2", "0:1", "0:0"]]),
    ])
    func aPageEndsWhereItsBytesDoAndTheNextOneGoesOn(byteLimit: Int, withValues: Bool, pages: [[String]]) throws {
        let broker = try ReplayBroker()
        for age in [30, 20, 10] as [Int64] {
            try broker.writeLetter(String(repeating: "a", count: 10_000), partition: 0, at: ReplayBroker.now - age)
        }
        var found: [[String]] = []
        var cursor: String?
        repeat {
            let page = try Self.page(broker, byteLimit, withValues: withValues, after: cursor)
            found.append(page.rows.map { "\($0.record.place.partition):\($0.record.place.offset)" })
            #expect(page.rows.allSatisfy { $0.byteCount == 10_000 && $0.value?.count == (withValues ? 10_000 : nil) })
            cursor = page.next
        } while cursor != nil && found.count < 9
        #expect(found == pages)
    }

    /// A control character has six bytes in JSON.
    @Test func bytesCountAsTheyAreInThePage() throws {
        let broker = try ReplayBroker()
        for age in [20, 10] as [Int64] {
            try broker.writeLetter(String(repeating: "\u{1}", count: 10_000), partition: 0, at: ReplayBroker.now - age)
        }
        let page = try Self.page(broker, 70_000)
        #expect(page.rows.count == 1 && page.rows[0].json.count <= 70_000 && page.next != nil)
    }

    @Test func noMoreBytesThanThePageAreKept() throws {
        let broker = try ReplayBroker()
        for age in (1...9).reversed() {
            try broker.writeLetter(String(repeating: "a", count: 10_000), partition: 0, at: ReplayBroker.now - Int64(age))
        }
        let scan = TopicScan(broker.context(), topic: broker.topics.deadLetters)
        let reader = try scan.open(.beginning, .end)
        defer { reader.close() }
        var search = DeadLetterSearch(
            ResultFilter(), codes: [], in: broker.topics, terms: .init(limit: 9, byteLimit: 25_000, withValues: true), after: nil)
        var most = 0
        try scan.read(reader) { record in
            search.take(record)
            most = max(most, search.newestFirst.count)
        }
        #expect(most == 3 && search.searchedCount == 9)
    }

    @Test(arguments: ["", "1.2", "1.2.3.4", "a.0.0", "-1.0.0", "1.-1.0", "1.0.-1", "9223372036854775807.0.0", "1.99999999999.0"])
    func aDamagedCursorIsRefused(text: String) throws {
        do {
            _ = try DeadLetterOrder(cursor: text)
            Issue.record("it was taken")
        } catch {
            guard case .cursor = error else { throw error }
        }
    }

    @Test func aRowSaysWhetherItsLetterCanGoBack() throws {
        let broker = try ReplayBroker()
        try broker.writeLetter("{}")
        try broker.writeLetter("{", at: ReplayBroker.now + 1, isCut: true)
        try broker.write("from nowhere", to: broker.topics.deadLetters, at: ReplayBroker.now + 2)
        try broker.writeLetter("{", at: ReplayBroker.now + 3)
        try broker.writeLetter("{", at: ReplayBroker.now + 4)
        var batch = JobBatch(jobID: "job", first: 0)
        batch.addReplayed(.all, of: Original(at: broker.letter(0, 3)))
        try broker.write(String(decoding: batch.json, as: UTF8.self), to: broker.topics.replays)
        let page = try broker.context().deadLetters(ResultFilter(), codes: [], terms: .init(limit: 9), after: nil)
        #expect(page.rows.map(\.leftover) == [.broken, .replayed, .invalid, .cut, nil])
        let row = try #require(page.rows.last)
        #expect(
            String(decoding: row.json, as: UTF8.self)
                == #"{"id":"push.deadletter.v1:0:0@2026-11-21T12:00:00.000Z","at":"2026-11-21T12:00:00.000Z","topic":"push.requests.v1","#
                + #""code":"unexpected_end","message":"The text ends.","bytes":2,"can_go_back":true}"#)
    }

    @Test(
        arguments: [
            (Array("{\"\u{e9}".utf8), #""bytes":4,"can_go_back":false,"left":"cut","value":"{\"é"}"#),
            ([0xFF, 0x7B], #""bytes":2,"can_go_back":false,"left":"cut","value_base64":"/3s="}"#),
        ] as [([UInt8], String)])
    func aValueThatIsNoTextIsShownInBase64(value: [UInt8], end: String) {
        let row = DeadLetterPage.Row(
            record: Original(at: RecordPlace(topic: "d", partition: 0, offset: 7)), topic: nil, code: nil, message: nil,
            leftover: .cut, byteCount: value.count, value: value)
        #expect(String(decoding: row.json, as: UTF8.self) == #"{"id":"d:0:7",\#(end)"#)
    }

    @Test func onlyTheLettersThatAreNamedArePlanned() throws {
        let broker = try Self.stage()
        let other = RecordPlace(topic: broker.topics.requests, partition: 0, offset: 0)
        try broker.write("{", to: other.topic, headers: [("pushfan-dlq-topic", "anywhere")])
        let places: Set = [broker.letter(1, 1), broker.letter(0, 1), broker.letter(0, 99), other]
        let counts = try broker.planLetters(Set(places.map { Original(at: $0) }), broker.context()).counts
        #expect(counts.matched == 4 && counts.left == [.gone: 2] && counts.safe == 2)
        var plan = try ReplayPlanReader(broker.path)
        var planned: [RecordPlace] = []
        while let item = try plan.nextItem() { planned.append(item.place) }
        #expect(planned == [broker.letter(0, 1), broker.letter(1, 1)])
    }

    /// Values of a letter, the topic that it came from, and the reason for which it is not given back.
    @Test(
        arguments: [
            ("{", "push.requests.v1", .broken), ("[]", "push.requests-high.v1", .broken),
            ("{}", "push.requests.v1", nil), (#"{"audience":7}"#, "push.requests-bulk.v1", nil),
            // A worker reads these otherwise than requests.
            ("{", "push.delay-1m.v1", nil), ("{", "of.others", nil),
        ] as [(String, String, Leftover?)])
    func whatWouldBeADeadLetterAgainIsLeft(value: String, topic: String, reason: Leftover?) throws {
        let broker = try ReplayBroker()
        try broker.write(value, to: broker.topics.deadLetters, headers: [("pushfan-dlq-topic", topic)])
        let header = try broker.planLetters([], broker.context())
        #expect(header.counts.left == (reason.map { [$0: 1] } ?? [:]) && header.counts.requests == (reason == nil ? 1 : 0))
        let page = try broker.context().deadLetters(ResultFilter(), codes: [], terms: .init(limit: 9), after: nil)
        #expect(page.rows.map(\.leftover) == [reason])
    }

    @Test func aRowNamesThePlaceThatItsLetterCameFrom() throws {
        let broker = try ReplayBroker()
        let headers: [(name: String, value: String)] = [
            ("pushfan-dlq-topic", "a"), ("pushfan-dlq-partition", "3"), ("pushfan-dlq-offset", "17"),
        ]
        try broker.write("{", to: broker.topics.deadLetters, headers: headers)
        try broker.write("{", to: broker.topics.deadLetters, headers: Array(headers.dropLast()), at: ReplayBroker.now - 1)
        let page = try broker.context().deadLetters(ResultFilter(), codes: [], terms: .init(limit: 9), after: nil)
        #expect(page.rows.map(\.source) == [RecordPlace(topic: "a", partition: 3, offset: 17), nil])
        #expect(String(decoding: page.rows[0].json, as: UTF8.self).contains(#""topic":"a","from":"a:3:17","#))
    }

    /// The age of the letter that a person saw at the place, and whether the one that stands there is given back.
    @Test(arguments: [(30, true), (31, false)] as [(Int64, Bool)])
    func anotherLetterAtThePlaceIsNotGivenBack(age: Int64, isThere: Bool) throws {
        let broker = try Self.stage()
        let seen = Original(at: broker.letter(0, 1), publishedAt: Timestamp(milliseconds: ReplayBroker.now - age))
        let counts = try broker.planLetters([seen], broker.context()).counts
        #expect(counts.requests == (isThere ? 1 : 0) && counts.left == (isThere ? [:] : [.gone: 1]))
        // Named twice, it goes back once.
        let twice = try broker.planLetters([seen, Original(at: broker.letter(0, 1))], broker.context()).counts
        #expect(twice.requests == 1)
    }

    @Test func aLetterIsGivenBackOnceThoughAnotherStoodAtItsPlace() throws {
        let broker = try Self.stage()
        let times = [ReplayBroker.now - 50, ReplayBroker.now - 99].map { Timestamp(milliseconds: $0) }
        for (number, time) in times.enumerated() {
            var batch = JobBatch(jobID: "job", first: number)
            batch.addReplayed(.all, of: Original(at: broker.letter(0, number == 0 ? 0 : 1), publishedAt: time))
            try broker.write(String(decoding: batch.json, as: UTF8.self), to: broker.topics.replays, key: batch.key)
        }
        let page = try broker.context().deadLetters(ResultFilter(), codes: [], terms: .init(limit: 9), after: nil)
        let left = page.rows.map { ($0.record.place, $0.leftover) }
        #expect(left.first { $0.0 == broker.letter(0, 0) }?.1 == .replayed)
        #expect(left.filter { $0.1 == .replayed }.count == 1)
    }

    @Test func aRequestInPlaceOfALetterStandsInThePlanOnOneLine() throws {
        let broker = try Self.stage()
        let value = "{\"audience\":{\"users\":\r\n[\"a\"]},\n\"message\":{\"title\":\"a\\nb\"}}\n"
        let header = try broker.planLetters([Original(at: broker.letter(0, 0))], replacement: value, broker.context())
        #expect(header.counts.requests == 1)
        let read = try #require(try ReplayPlanReader(broker.path).header.replacement)
        #expect(
            String(decoding: read, as: UTF8.self) == value.replacing("\r\n", with: "  ").dropLast().replacing("\n", with: " "))
        let mended = try #require(DeadLetter.edited(read, [], topic: "t"))
        #expect(String(decoding: mended, as: UTF8.self).contains(#""title":"a\nb""#))
    }

    /// Values of a letter, and whether they say that it is of the source in the request that takes their place.
    @Test(arguments: [
        (#"{"source":"/shop","#, true), (#"{"source":"/shop"}"#, true), (#"{"source":"/bank","labels":{"a":"/shop"}}"#, false),
        ("{/shop", false),
    ])
    func aRequestInPlaceOfALetterNamesItsSourceAlone(value: String, isIts: Bool) throws {
        let broker = try ReplayBroker()
        try broker.writeLetter(value, partition: 0, at: ReplayBroker.now - 5)
        let replacement = #"{"source":"/shop","audience":{"users":["a"]},"message":{"title":"x"}}"#
        do {
            let header = try broker.planLetters(
                [Original(at: broker.letter(0, 0))], replacement: replacement, claiming: "/shop", broker.context())
            #expect(isIts && header.counts.requests == 1)
        } catch JobFailure.room(let failure as ReplayFailure) {
            guard case .replacement(.foreignSource) = failure else { throw failure }
            #expect(!isIts)
        }
    }

    @Test(
        arguments: [
            ([], "{}", .notOnePlace), ([0, 1], "{}", .notOnePlace), ([0], "{", .invalidRequest), ([0], "[]", .invalidRequest),
            ([0], #"{"audience":{}}"#, .invalidRequest),
        ] as [([Int64], String, ReplacementFault)])
    func aValueThatCannotStandForOneLetterIsRefused(offsets: [Int64], value: String, fault: ReplacementFault) throws {
        let broker = try Self.stage()
        let places = Set(offsets.map { Original(at: broker.letter(0, $0)) })
        do {
            _ = try broker.planLetters(places, replacement: value, broker.context())
            Issue.record("it was taken")
        } catch JobFailure.room(let failure as ReplayFailure) {
            guard case .replacement(let found) = failure else { throw failure }
            #expect(found == fault)
        }
    }
}
