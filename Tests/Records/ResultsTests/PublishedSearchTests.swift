import Publishing
import PushModel
import Replay
import ResultQuery
import Testing

@testable import Results

/// The decisions of a search by publication that need no broker.
@Suite struct PublishedSearchTests {
    /// Moments end with the year 9999, and a cursor may have been forged.
    @Test(
        arguments: [
            (nil, nil, 253_402_300_799_998), (5, nil, 4), (nil, 5, 4), (nil, Int64.min, Int64.min), (7, Int64.max, 6),
            (Int64.max, 0, -1),
        ] as [(Int64?, Int64?, Int64)])
    func noPlaceOfACursorIsTooFarAway(until: Int64?, time: Int64?, last: Int64) {
        var filter = ResultFilter()
        if let until { filter.add(until: until) }
        #expect(PublishedSearch.last(of: filter, after: time.map { SearchCursor(time: $0, place: nil) }) == last)
    }

    private static func request(
        _ id: String, offset: Int64, at time: Int64, publishedAt: Int64? = nil, whole: String? = nil
    ) -> IndexedRequest {
        var facts = RequestFacts(id: id, audience: AudienceSummary(.users, count: 1, names: ["alice"]))
        facts.whole = whole
        return IndexedRequest(
            place: RecordPlace(topic: "t", partition: 0, offset: offset), publishedAt: publishedAt ?? time, time: time,
            facts: facts)
    }

    private static func rows(_ requests: [IndexedRequest], reached: Int64?) -> IndexedRows {
        var rows = IndexedRows(reach: 0, since: 0)
        (rows.published.requests, rows.published.reached) = (requests, reached)
        return rows
    }

    /// The clock of one who publishes is an hour ahead, so that its moments are behind no place of the list.
    @Test func aListMovesOnWhereClocksAreAhead() {
        let requests = (0..<3).map { Self.request("\($0)", offset: $0, at: 100 - $0, publishedAt: 3_600_100 - $0) }
        let batch = Self.rows(requests, reached: 98).batch(after: SearchCursor(time: 101, place: nil), for: ResultFilter())
        #expect(batch.candidates.map(\.id) == ["0", "1", "2"] && batch.end == SearchCursor(time: 98, place: nil))
        #expect(batch.candidates.map(\.cursor.time) == [100, 99, 98] && batch.hasMore)
        #expect(batch.candidates.allSatisfy { $0.publishedAt > 3_600_000 })
    }

    @Test func moreThanThereIsRoomForIsNotPassedOver() {
        let most = Int64(CandidateGathering.maximumCapacity)
        let requests = (0..<most + 5).map { Self.request("r", offset: most + 5 - $0, at: 7) }
        let batch = Self.rows(requests, reached: nil).batch(after: nil, for: ResultFilter())
        #expect(batch.candidates.count == Int(most) && batch.end == batch.candidates.last?.cursor && batch.hasMore)
    }

    /// The first part stands for a whole, and else those alone that name who is sought.
    @Test(arguments: [([], ["w.0", "own"]), ([2], ["w.0", "w.2", "own"])] as [([Int64], [String])])
    func aWholeIsListedOnceForAWordThatEachPartHas(persons: [Int64], ids: [String]) {
        var filter = ResultFilter()
        filter.add(Sought(.anything, values: [.init("news")]))
        let parts = (0..<4).map { Self.request("w.\($0)", offset: $0, at: 50 - $0, whole: "w") }
        var rows = Self.rows(parts + [Self.request("own", offset: 9, at: 10)], reached: nil)
        rows.persons = Set(persons.map { RecordPlace(topic: "t", partition: 0, offset: $0) })
        let found = rows.batch(after: nil, for: filter).candidates
        #expect(found.map(\.id) == ids && found.map { $0.whole?.id } == ids.map { $0 == "own" ? nil : "w" })
        #expect(found.filter(\.isNamedAsPerson).map(\.origin.offset) == persons)
    }

    /// A word may stand for a person, and what names one by its kind does.
    @Test func personsAreToldByTheKindsOfWhatIsSought() {
        var filter = ResultFilter()
        filter.add(Sought(.title, values: [.init("lunch")]))
        #expect(filter.ofPersons == [])
        filter.add(Sought(.anything, values: [.init("alice")]))
        filter.add(Sought(.anything, isNegated: true, values: [.init("bob")]))
        #expect(filter.ofPersons?.map { $0.sought.last?.subject } == [.user, .device])
        #expect(filter.ofPersons?.allSatisfy { $0.sought.dropLast() == filter.sought[...] } ?? false)
        filter.add(Sought(.user, values: [.init("carol")]))
        #expect(filter.ofPersons == nil)
    }

    /// Of a filter that results decide, each further scan has more candidates, and no scan more than there is room for.
    @Test(arguments: [("", [50, 50, 50]), ("tenant:a", [50, 50, 50]), ("hub:north", [200, 800, 3200, 10_000, 10_000])])
    func aScanInVainIsFollowedByALargerOne(text: String, capacities: [Int]) throws {
        let filter = try ResultFilter(text, now: 0)
        #expect(
            capacities.indices.map { PublishedSearch.capacity(for: filter, missing: 50, scans: $0) } == capacities)
    }

    /// A request alone decides of few whether they are wanted. Of others not more is read than there is room for.
    @Test(arguments: [
        ("", 800), ("hub:north", 800), ("-state:sent", 800), ("-tenant:a", 800), ("tenant:a", 20_000), ("label.a:b", 20_000),
        ("hub:north source:b", 20_000),
    ])
    func theFirstPieceIsLargeWhereFewMatch(text: String, limit: Int64) throws {
        #expect(LaneScan.firstLimit(for: try ResultFilter(text, now: 0), capacity: 200) == limit)
    }

    /// A first piece that takes too long is followed by smaller ones, of which the last is read whatever it takes.
    @Test func aSlowFirstPieceIsReadAsSmallerOnes() {
        var (limit, limits) = (Int64(20_000), [Int64]())
        var last: Duration?
        repeat {
            let next = LaneScan.attempt(after: limit)
            (limit, last) = (next.limit, next.patience)
            limits.append(limit)
        } while last != nil && limits.count < 20
        #expect(limits == [5000, 1250, 312, 78] && LaneScan.attempt(after: 1).limit == 1)
    }
}
