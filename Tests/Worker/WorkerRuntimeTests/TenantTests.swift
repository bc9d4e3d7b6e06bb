import Basics
import Foundation
import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Delivery
@testable import WorkerRuntime

/// Tenants that share a lane.
@Suite(.serialized)
struct TenantTests {
    private static func request(_ name: String, of tenant: String?, _ more: String = "") -> String {
        let tenant = tenant.map { #""tenant":"\#($0)","# } ?? ""
        return #"{"id":"\#(name)",\#(tenant)"audience":{"categories":["\#(name)"]},"platforms":["apple"],"#
            + #""message":{"title":"T"}\#(more)}"#
    }

    @Test func callsOfATenantKeepTheirOrderAndTenantsHaveTheirTurns() {
        var weights = TenantWeights()
        weights[TenantID("a")] = 3
        var calls = ReadyCalls(LaneWeights(), tenants: weights)
        for number in 0..<100 {
            for (index, tenant) in [TenantID("a"), TenantID("b"), .none].enumerated() {
                calls.append(WaitingCall(flight: number, call: index, generation: 0), to: .normal, tenant: tenant)
                calls.append(
                    WaitingCall(flight: number, call: 3 + index, generation: 0), to: .normal, tenant: tenant, isDelayed: true)
            }
        }
        var sent: [Int: [Int]] = [:]
        for _ in 0..<200 {
            if let next = calls.removeNext(in: .max) { sent[next.call, default: []].append(next.flight) }
        }
        #expect((0..<6).map { sent[$0]?.count } == [60, 20, 20, 60, 20, 20])
        for flights in sent.values { #expect(flights == Array(0..<flights.count)) }
        calls.removeAll { $0.call == 0 }
        #expect(calls.count == 40 && calls.delayedCount == 0 && calls.freshCount(of: .normal) == 40)
        var rest: [Int] = []
        while let next = calls.removeNext(in: .max) { rest.append(next.flight) }
        #expect(rest == Array(60..<100) && calls.isEmpty)
    }

    /// A tenant that is watched is given back when a call of its own has had its turn, and not before.
    @Test(arguments: 0..<10) func watchedTenantsAreFoundWhenTheirCallsHaveHadTurns(seed: Int) {
        var random = SeededRandom(seed)
        var calls = ReadyCalls(LaneWeights())
        let tenants = [TenantID.none] + (0..<20).map { TenantID("\($0)") }
        /// The calls of each tenant when it was watched, and the watched ones that were served since.
        var (counts, due) = ([TenantID: Int](), Set<TenantID>())
        func count(_ tenant: TenantID) -> Int { calls.fresh(in: .normal).count(of: tenant) }
        for step in 0..<4000 {
            let tenant = tenants[random.below(tenants.count)]
            switch random.below(8) {
            case 0...2:
                let index = tenants.firstIndex(of: tenant) ?? 0
                calls.append(WaitingCall(flight: step, call: index, generation: 0), to: .normal, tenant: tenant)
                calls.append(WaitingCall(flight: step, call: index, generation: 0), to: .normal, tenant: tenant, isDelayed: true)
                if let before = counts[tenant] { counts[tenant] = before + 1 }
            case 3: calls.removeAll { $0.flight % 50 != step % 50 }
            case 4:
                if counts[tenant] == nil, !due.contains(tenant) {
                    calls.watch(tenant, in: .normal)
                    if count(tenant) > 0 { counts[tenant] = count(tenant) } else { due.insert(tenant) }
                }
            case 5:
                var served = Set<TenantID>()
                while let next = calls.removeServed(in: .normal) { #expect(served.insert(next).inserted) }
                #expect(served == due)
                due = []
            default: _ = calls.removeNext(in: .max)
            }
            for (tenant, before) in counts where count(tenant) < before {
                counts[tenant] = nil
                due.insert(tenant)
            }
            #expect(calls.removeServed(in: .bulk) == nil)
        }
        #expect(calls.freshCount(of: .normal) > 0)
    }

    @Test func aFloodDoesNotHoldUpAnotherTenantBehindItInOnePartition() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: Bench.rest)])
        let worker = try bench.startWorker { $0.maxInFlight = 4 }
        let flood = (0..<500).map { Self.request("flood\($0)", of: "a") }
        try bench.publish(all: flood + [Self.request("single", of: "b"), Self.request("nobodys", of: nil)])
        #expect(eventually { bench.metric("pushfan_records_consumed_total") >= 502 && bench.hasRetries })
        bench.endRest()
        try bench.results(502)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 502)
        for name in ["single", "nobodys"] {
            let place = try #require(bench.tags.firstIndex(of: name))
            #expect(place < 20, "\(name) came after \(place) others")
        }
        // Each was sent once but the one that was refused, and those of the flood in order, as far as four at a time are.
        let refused = bench.hub.calls().filter { $0.status != 201 }.compactMap(\.tags)
        let numbers = bench.tags.filter { !refused.contains($0) }.compactMap { Int($0.dropFirst(5)) }
        #expect(refused.count == 1 && numbers.count == 499)
        #expect(zip(numbers, numbers.sorted()).allSatisfy { abs($0 - $1) <= 4 })
    }

    @Test func tenantsHaveTheirSharesByWeight() throws {
        let bench = try Bench(.quickest, partitions: 2)
        // Weighed while nothing is sent, so that all are there from the first call on.
        bench.hub.arm([try Fault(parsing: Bench.rest)])
        let worker = try bench.startWorker {
            $0.maxInFlight = 1
            $0.tenantWeights[TenantID("a")] = 3
        }
        try bench.publish(all: [Self.request("first", of: "a")])
        #expect(eventually { bench.hasRetries })
        for tenant in ["b", "a", "c"] { try bench.publish(all: (0..<100).map { Self.request("\(tenant)\($0)", of: tenant) }) }
        #expect(eventually { bench.metric("pushfan_records_consumed_total") >= 301 })
        bench.endRest()
        try bench.results(301)
        try worker.stop()
        let counted = bench.tags.filter { $0 != "first" }.prefix(100)
        let counts = ["a", "b", "c"].map { tenant in counted.count { $0.hasPrefix(tenant) } }
        #expect(abs(counts[0] - 60) <= 2 && abs(counts[1] - 20) <= 2 && abs(counts[2] - 20) <= 2, "\(counts)")
    }

    @Test func whatLiesAsideIsLeftToTheNextWorker() throws {
        let bench = try Bench(.quickest, partitions: 2)
        // The hub rests before the last 376 can be sent: four refusals in a row are no chance any more.
        bench.hub.arm([try Fault(parsing: "throttle,retry-after=300,after=20,count=4")])
        let first = try bench.startWorker { $0.maxInFlight = 1 }
        try bench.publish(all: (0..<400).map { Self.request("a\($0)", of: "a") })
        #expect(eventually { bench.metric("pushfan_records_consumed_total") >= 400 })
        #expect(eventually { bench.metric("pushfan_retries_scheduled_total") >= 4 })
        try first.stop()
        #expect(try bench.resultsByRequest().count < 400)
        let second = try bench.startWorker()
        try bench.results(396)
        // What was refused waits in a delay lane.
        bench.endRest()
        try bench.results(400)
        try second.stop()
        #expect(try bench.resultsByRequest().count == 400)
        #expect(Set(bench.tags).count == 400 && bench.hub.calls().count == 404)
    }

    /// A window that is full holds up what lies beyond it, and what lies aside goes on.
    @Test func theWindowEndsWhatIsReadAhead() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker {
            $0.window = 16
            $0.maxInFlight = 2
        }
        try bench.publish(all: (0..<200).map { Self.request("r\($0)", of: $0.isMultiple(of: 2) ? "a" : nil) })
        try bench.results(200)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 200)
    }

    /// What is refused, expired, cancelled or to be sent later while it lies aside ends as it does elsewhere.
    @Test func whatLiesAsideEndsLikeAnyOther() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: Bench.rest)])
        let worker = try bench.startWorker { $0.maxInFlight = 1 }
        try bench.publish(Self.request("slow", of: "a"))
        #expect(eventually { bench.hasRetries })
        var later = ByteWriter()
        later.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 400_000))
        try bench.publish(all: [
            Self.request("second", of: "a"), Self.request("expired", of: "a", #","ttl_seconds":200"#),
            Self.request("refused", of: "a", #","hub":"other""#),
            Self.request("dry", of: "a", #","options":{"dry_run":true}"#),
            Self.request("cancelled", of: "a"), Self.request("wrong", of: "a", #","platforms":[7]"#),
            Self.request("later", of: "a", #","not_before":"\#(later.text)""#), Self.request("last", of: "a"),
        ])
        #expect(eventually { bench.metric("pushfan_records_consumed_total", bench.topics.requests) == 9 })
        try bench.cancel(["cancelled"])
        #expect(eventually { bench.metric("pushfan_cancellations") == 1 })
        bench.endRest()
        try bench.results(8)
        bench.endRest()
        try bench.results(9)
        try worker.stop()
        let results = try bench.resultsByRequest().mapValues(\.summary)
        #expect(results["slow"] == "sent success - 2" && results["last"] == "sent success - 1")
        #expect(results["later"] == "sent success - 1" && results["second"] == "sent success - 1")
        #expect(results["expired"]?.hasPrefix("expired") == true, "\(results)")
        #expect(results["refused"]?.contains("unknown_hub") == true, "\(results)")
        #expect(results["cancelled"]?.hasPrefix("cancelled") == true, "\(results)")
        #expect(results["dry"]?.hasPrefix("cancelled") == true && results["wrong"]?.hasPrefix("rejected") == true, "\(results)")
    }
}
