import PushModel
import Testing

@testable import Groups

@Suite struct WorkerPageTests {
    @Test func whatIsNotInAPageIsNil() throws {
        let page = try #require(
            WorkerPage(Array(#"{"loops":[{"limit":"64","at":7,"partitions":[{"oldest":{}},3]},null]}"#.utf8)))
        try #require(page.loops.count == 2)
        #expect(page.loops[0].total.limit == nil && page.loops[0].at == nil)
        #expect(
            page.loops[0].partitions == [
                .init(oldest: .init()), .init(),
            ])
    }

    @Test(arguments: ["", "[]", "null", "{}", #"{"loops":3}"#, #"{"loops":["#])
    func whatIsNoPageIsRefused(json: String) {
        #expect(WorkerPage(Array(json.utf8)) == nil)
    }

    @Test func eachHubOfALoopIsReadByItself() {
        let page = """
            {"schema":1,"hub":"one","loops":[{"worker":"w1","mode":"running","hubs":[\
            {"hub":"one","circuit":"closed","limit":64,"in_flight":3,"waiting_for_turn":2,"waiting_for_timer":5,"throttled_ms":0},\
            {"hub":"two","region":"westeurope","circuit":"open","limit":8,"in_flight":0,"waiting_for_turn":9,"waiting_for_timer":0,\
            "rate_per_second":12.5,"throttled_ms":1500},{"hub":"old","retired":true,"circuit":"closed"}]}]}
            """
        let hubs = WorkerPage(Array(page.utf8))?.loops.first?.hubs ?? []
        #expect(hubs.map(\.name) == ["one", "two", "old"] && hubs.map(\.isRetired) == [false, false, true])
        #expect(hubs.map(\.ratePerSecond) == [nil, "12.5", nil] && hubs.map(\.waitingForTurn) == [2, 9, nil])
    }

    /// Of parts that no worker writes so short, no more are read than a page of so many bytes may have. The rest is counted.
    @Test(arguments: ["hubs", "partitions"]) func aForgedReportIsReadInPart(name: String) throws {
        let parts = [String](repeating: "{}", count: 2500).joined(separator: ",")
        let loop = try #require(WorkerPage(Array(#"{"loops":[{"\#(name)":[\#(parts)]}]}"#.utf8))?.loops.first)
        let (read, omitted) =
            name == "hubs" ? (loop.hubs.count, loop.omittedHubs) : (loop.partitions.count, loop.omittedPartitions)
        #expect((256...600).contains(read) && read + omitted == 2500)
    }

    @Test func ofForgedLoopsAFewAreRead() throws {
        let parts = [String](repeating: "{}", count: 2500).joined(separator: ",")
        let page = try #require(WorkerPage(Array(#"{"loops":[\#(parts)]}"#.utf8)))
        #expect((32...80).contains(page.loops.count) && page.loops.count + page.omittedLoops == 2500)
    }

    @Test func whatWaitsForHubsThatAreNotThereIsReadByTheirNames() {
        let page =
            #"{"loops":[{"unknown_hubs":[{"hub":"shpo","waiting":5},{"hub":"b","waiting":-1},{"waiting":2},7]},{"unknown_hubs":3}]}"#
        #expect(WorkerPage(Array(page.utf8))?.loops.map(\.unknownHubs) == [["shpo": 5, "b": 0], [:]])
    }

    @Test func countsOfLoopsAndOfThoseWithoutRoomAreAddedUp() throws {
        let page = """
            {"loops":[{"worker":"w-1","finished":{"sent":5,"failed":1,"odd":-3},"calls":7,"partitions_omitted":4,"troubles_omitted":2},\
            {"worker":"w-2","finished":{"sent":2},"calls":"x"},{"worker":"old"}],\
            "omitted":{"loops":3,"finished":{"sent":10,"expired":1},"calls":20,"troubles_omitted":1}}
            """
        let read = try #require(WorkerPage(Array(page.utf8)))
        #expect(read.loops.map(\.finished) == [["sent": 5, "failed": 1], ["sent": 2], [:]])
        #expect(read.loops.map(\.calls) == [7, 0, 0] && read.loops.map(\.omittedPartitions) == [4, 0, 0])
        #expect(read.omittedLoops == 3 && read.omittedProblems == 3 && read.calls == 27)
        #expect(read.finished == ["sent": 17, "failed": 1, "expired": 1])
    }

    @Test(arguments: [
        (#"{"45":12,"64":3}"#, #"{"45":12,"64":3}"#), ("{}", "{}"), ("[45,12]", "{}"), ("null", "{}"), ("7", "{}"),
        (#"{"45":-1,"46":5,"":1,"x":2,"-45":3,"99999999999999999999":4,"45.0":5,"1":"6","2":1.5,"3":1e400}"#, "{}"),
        (
            #"{"64":9223372036854775807,"64":9223372036854775807,"1":99999999999999999999}"#,
            #"{"64":9223372036854775807}"#
        ),
    ])
    func timesOfAStrangerAreBounded(times: String, read: String) throws {
        let page = try #require(WorkerPage(Array(#"{"total_ms":\#(times),"loops":[]}"#.utf8)))
        #expect(String(decoding: page.latency.json, as: UTF8.self) == read)
    }

    @Test func theVersionAndTheOldestRequestAreRead() throws {
        let page = """
            {"version":"1.2.3","loops":[{"partitions":[{"topic":"t","partition":2,"oldest":{"offset":5,\
            "published_at":"1970-01-01T00:00:01.000Z","attempt":3,"waits_for":"hub"}}]}]}
            """
        let read = try #require(WorkerPage(Array(page.utf8)))
        #expect(read.version == "1.2.3")
        let oldest = try #require(read.loops.first?.partitions.first?.oldest)
        #expect(oldest == .init(offset: 5, publishedAt: Timestamp(milliseconds: 1000), attempt: 3, waitsFor: "hub"))
    }
}
