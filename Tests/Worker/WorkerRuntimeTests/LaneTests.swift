import Delivery
import Foundation
import HubEmulator
import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// Lanes of requests that share one worker.
@Suite(.serialized)
struct LaneTests {
    private static func request(_ name: String) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}}"#
    }

    @Test(arguments: [
        ("push.requests.v1", "push.requests-high.v1", "push.results.v1"), ("requests", "requests-bulk", "results"),
        ("app.requests.v12", "app.requests-high.v12", "app.results.v12"), ("jobs", "jobs-high", "jobs.results"),
        ("a.v2", "a-high.v2", "a.results.v2"), (".v1", "-high.v1", ".results.v1"),
        ("requests.v", "requests.v-high", "requests.v.results"),
    ])
    func topicsAreNamedAfterThatOfTheRequests(_ requests: String, _ lane: String, _ results: String) {
        let topics = Topics(requests: requests)
        #expect(topics.requests == requests)
        #expect([topics.requestsHigh, topics.requestsBulk].contains(lane))
        #expect(topics.results == results)
        #expect(Set(topics.all).count == topics.all.count)
    }

    @Test func callsOfALaneKeepTheirOrderAndLanesHaveTheirTurns() {
        var calls = ReadyCalls(LaneWeights())
        for number in 0..<130 {
            for lane in Lane.allCases {
                calls.append(WaitingCall(flight: number, call: lane.rawValue, generation: UInt32(number)), to: lane)
            }
        }
        #expect(calls.count == 520 && calls.freshCount(of: .bulk) == 130)
        var sent: [[Int]] = [[], [], [], []]
        for _ in 0..<140 {
            guard let next = calls.removeNext(in: .max), sent.indices.contains(next.call) else { continue }
            sent[next.call].append(next.flight)
        }
        #expect(sent.map(\.count) == [80, 40, 10, 10])
        for flights in sent { #expect(flights == Array(0..<flights.count)) }
        // Of what nobody wants any more there is nothing left, and the others go on.
        calls.removeAll { $0.call != Lane.high.rawValue && $0.flight.isMultiple(of: 2) }
        #expect(
            calls.freshCount(of: .high) == 0 && calls.count == [.normal, .bulk, .own].reduce(0) { $0 + calls.freshCount(of: $1) })
        var rest = 0
        while let next = calls.removeNext(in: .max) {
            #expect(next.flight.isMultiple(of: 2))
            rest += 1
        }
        #expect(rest == 45 + 60 + 60 && calls.isEmpty)
    }

    @Test func everyLaneIsReadAndHasItsShare() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: Bench.rest)])
        for lane in Lane.allCases {
            try bench.publish(all: (0..<100).map { Self.request("\(lane.name)\($0)") }, to: lane)
        }
        let worker = try bench.startWorker { $0.maxInFlight = 1 }
        // Of each lane one waits, and the others are at hand: with one call at a time, no more are read ahead.
        let consumed = { (lane: Lane) in
            bench.metric("pushfan_records_consumed_total", #"topic="\#(bench.topics.requests(of: lane))""#)
        }
        #expect(eventually { Lane.allCases.allSatisfy { consumed($0) >= 1 } && bench.hasRetries })
        bench.endRest()
        try bench.results(400)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 400)
        #expect(bench.tags.count == 401)
        // All are there since the first call, which was refused.
        let counted = bench.tags.dropFirst().prefix(70)
        let counts = Lane.allCases.map { lane in counted.count { $0.hasPrefix(lane.name) } }
        #expect(zip(counts, [40, 20, 5, 5]).allSatisfy { abs($0 - $1) <= 2 }, "\(counts)")
        #expect(consumed(.bulk) == 100)
    }

    @Test func aRecordWakesItsLaneWhicheverWasReadBefore() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let worker = try bench.startWorker()
        var random = SeededRandom(5)
        for number in 0..<90 {
            // One at a time, or some at once: a signal that is taken must not take another's with it.
            let lanes = Lane.allCases.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
            for lane in lanes {
                let partition = Int32.random(in: 0..<2, using: &random)
                try bench.publish(all: [Self.request("\(lane.name)\(number)")], partition: partition, to: lane)
            }
            let names = Set(lanes.map { "\($0.name)\(number)" })
            try #require(eventually { names.isSubset(of: bench.hub.calls().compactMap(\.tags)) }, "\(names) were not read")
        }
        try worker.stop()
    }

    @Test func aLaneThatWaitedForItsWindowGoesOn() throws {
        let bench = try Bench(.quickest, partitions: 1)
        // The first of each lane is tried again after 9 s, which is too short for a delay lane: until then it keeps its place in the window.
        bench.hub.arm(try Lane.allCases.map { try Fault(parsing: "status=500,retry-after=9,count=1,tags=\($0.name)0") })
        for lane in Lane.allCases { try bench.publish(all: (0..<100).map { Self.request("\(lane.name)\($0)") }, to: lane) }
        let worker = try bench.startWorker { $0.window = 16 }
        #expect(
            eventually { bench.hub.calls().count >= 4 * 16 && bench.metric("pushfan_retries_scheduled_total") == 4 })
        bench.clock.advance(by: .seconds(11))
        try bench.results(400)
        // What comes to a lane that was blocked and has run empty since is signalled as ever.
        for lane in Lane.allCases { try bench.publish(all: [Self.request("\(lane.name)100")], to: lane) }
        try bench.results(404)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 404)
        #expect(Set(bench.tags).count == 404)
    }

    /// Each lane keeps its own calls ready while the hub rests, so that the most urgent go first when it is over.
    @Test func oneRequestDoesNotWaitForThoseThatGoToMany() throws {
        let bench = try Bench(.quickest, partitions: 2)
        bench.hub.arm([try Fault(parsing: Bench.rest)])
        let worker = try bench.startWorker { $0.maxInFlight = 4 }
        try bench.publish(all: (0..<300).map { Self.request("bulk\($0)") }, to: .bulk)
        let consumed = { (topic: String) in bench.metric("pushfan_records_consumed_total", #"topic="\#(topic)""#) }
        #expect(eventually { consumed(bench.topics.requestsBulk) >= 5 && bench.hasRetries })
        try bench.publish(Self.request("single"))
        try bench.publish(all: [Self.request("urgent")], to: .high)
        #expect(eventually { consumed(bench.topics.requests) == 1 && consumed(bench.topics.requestsHigh) == 1 })
        bench.endRest()
        try bench.results(302)
        try worker.stop()
        for name in ["single", "urgent"] {
            let place = try #require(bench.tags.firstIndex(of: name))
            #expect(place <= 12, "\(name) after \(place) others")
        }
    }
}
