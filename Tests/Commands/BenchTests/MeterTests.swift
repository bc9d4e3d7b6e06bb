import Testing

@testable import Bench

@Suite struct MeterTests {
    @Test func withoutTheShimTheWorkIsDoneAndNotCounted() {
        var rounds = 0
        let count = AllocationCounter.count { rounds += 1 }
        #expect(count == nil)
        #expect(rounds == 1)
    }

    @Test func theFixedRunTakesEveryRequestToItsResult() throws {
        let run = try FixedRun.run(100)
        #expect(run.requests == 100)
        #expect(run.allocationsPerRequest == nil, "only the shim counts")
    }

    @Test func aPageGivesTheSumOfASeries() {
        let page = MetricsPage(
            """
            # TYPE pushfan_requests_finished_total counter
            pushfan_requests_finished_total{hub="a",outcome="success"} 7
            pushfan_requests_finished_total{hub="a",outcome="permanent"} 2
            pushfan_requests_finished_total_other 100
            pushfan_results_published_total 9
            """)
        #expect(page.sum("pushfan_requests_finished_total") == 9)
        #expect(page.sum("pushfan_requests_finished_total", where: #""success""#) == 7)
        #expect(page.sum("pushfan_results_published_total") == 9)
        #expect(page.sum("pushfan_nothing") == 0)
    }

    @Test(arguments: [0, 7, 999_999_999])
    func aRequestsNumberIsFoundInItsIDAndItsTags(number: Int) throws {
        let digits = String(String(1_000_000_000 + number).dropFirst())
        #expect(String(decoding: SampleRequest.json(number), as: UTF8.self).contains(#""id":"bench-\#(digits)""#))
        #expect(SampleRequest.number(ofID: "bench-\(digits)".utf8) == number)
        #expect(SampleRequest.number(ofTags: "username:\(digits)") == number)
    }

    @Test func whatIsNotTheBenchsHasNoNumber() {
        #expect(SampleRequest.number(ofID: "order-1".utf8) == nil)
        #expect(SampleRequest.number(ofTags: "World") == nil)
    }
}
