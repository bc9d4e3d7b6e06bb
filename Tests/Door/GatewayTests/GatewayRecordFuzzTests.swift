@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
@testable import AppAPI
import Basics
import Outcomes
import Publishing
import PushModel
import TestSupport
import Testing

@testable import Groups

/// Records of strangers in what a gateway keeps and shows of them: none ends the process, and the proper record behind them counts.
@Suite struct GatewayRecordFuzzTests {
    private static let result = """
        {"request_id":"a","source":"shop","kind":"final","state":"sent","outcome":"success","replay_safety":"safe","error":{"code":"internal",\
        "message":"m"},"sends":[{"index":0,"platform":"apple","outcome":"success","notification_id":"n"}],"targets":{"accepted":1},\
        "timings":{"published_at":"2026-11-21T17:00:00.100Z"},"origin":{"topic":"requests","partition":1,"offset":"7"}}
        """
    private static let minute = """
        {"at":"2025-11-24T16:00:00.000Z","covered_ms":60000,"finished":{"sent":3,"failed":1},"calls":4,"published":5,"workers":2,"total_ms":\
        {"45":12,"64":3},"backlog":{"requests":3,"delayed":2,"held":1,"oldest_ms":5,"lanes":[{"lane":"high","requests":1,"oldest_ms":7}]}}
        """
    private static let page = """
        {"version":"1","hub":"h","omitted":{"loops":1,"calls":2,"finished":{"sent":3}},"total_ms":{"45":12},"loops":[{"worker":"w",\
        "mode":"own","hub":"h","circuit":"open","in_flight":1,"limit":2,"calls":3,"finished_per_second":1.5,"rate_per_second":2.5,\
        "trouble":"t","finished":{"sent":4},"hubs_omitted":1,"partitions_omitted":1,"hubs":[{"hub":"north","limit":3,"calls":4,\
        "rate_per_second":2.5,"throttled_ms":5}],"partitions":[{"topic":"t","partition":0,"in_work":1,"oldest":{"offset":7,"published_at":\
        "2026-11-21T17:00:00.100Z","attempt":1,"waits_for":"hub"}}]}]}
        """
    private static let now: Int64 = 1_764_000_030_000

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        var document = JSONDocument()
        return (try? document.read(bytes.span)) != nil
    }

    private static func records(_ sample: String, seed: Int, largest: Int = 100_000) -> [[UInt8]] {
        var odd = OddRecords(seed: seed, largest: largest)
        return odd.records(400, of: [sample]) + [Array(sample.utf8)]
    }

    @Test(arguments: 0..<8) func oddResultsEndNoWaitOfOthersAndTheProperOneDoes(seed: Int) throws {
        let stage = LookupStage()
        stage.publish("a")
        stage.publish("b")
        let (waiting, other) = (stage.get("a?wait=10"), stage.get("b?wait=10"))
        for json in Self.records(Self.result, seed: seed) {
            guard let result = ResultRecord(json: json, partition: 0, offset: 0, timestamp: 0) else { continue }
            stage.lookup.take(result)
            stage.results.complete("a")
            stage.results.complete("b")
            #expect(SendResult(reading: json) != nil)
            var awaited = Awaited(.outcomes)
            awaited.take(result)
            let step = SendOutcome(requestID: "a", record: .unreported, awaited: awaited).step
            if case .answer(let answer) = step { #expect(Self.isJSON(answer.body), "seed \(seed)") }
        }
        #expect(waiting.all.count == 1 && waiting.last.map { Self.isJSON($0.body) } == true, "seed \(seed)")
        #expect(stage.get("a").last.map { $0.status == 200 && Self.isJSON($0.body) } == true, "seed \(seed)")
        #expect(other.all.isEmpty, "seed \(seed)")
    }

    @Test(arguments: 0..<8) func oddMinutesAreNoHistoryAndTheProperOneIs(seed: Int) {
        var history = History()
        for json in Self.records(Self.minute, seed: seed, largest: 10_000).dropLast() { history.take(json.span, now: Self.now) }
        for minute in history.minutes(since: .min) { #expect(Self.isJSON(minute.json), "seed \(seed)") }
        // Of two reports of one minute that with more of it counts, so another one is asked for.
        let next = Self.minute.replacing("16:00:00", with: "16:01:00")
        history.take(Array(next.utf8).span, now: Self.now)
        let shown = history.minutes(since: .min).last { $0.at == Self.now + 30_000 }
        #expect(shown?.calls == 4 && shown?.finished == ["sent": 3, "failed": 1], "seed \(seed)")
    }

    @Test(arguments: 0..<8) func oddReportsSpoilNoEventOfTheFleet(seed: Int) {
        var (tally, hubs, work, fleet) = (CounterTally(), HubTally(), RecentWork(), Fleet())
        let records = Self.records(Self.page, seed: seed, largest: 10_000)
        for (number, json) in records.enumerated() {
            // The counters of one worker change, and others come and go.
            for name in ["w", "w\(number % 7)", "\u{1B}\(number)"] { fleet.take(key: Array(name.utf8), value: json, heardAt: 0) }
            guard number % 50 == 0 || number == records.count - 1 else { continue }
            let members = fleet.members(at: 0)
            let counters = members.map {
                ($0.id, CounterTally.Counters(finished: $0.page.finished, calls: $0.page.calls, latency: $0.page.latency))
            }
            work.add(tally.take(Dictionary(counters) { $1 }), milliseconds: 1000)
            hubs.take(members, milliseconds: 1000)
            let event = FleetEvent(members: members, work: work, hubRates: hubs.callsPerSecond).json(at: Self.now)
            #expect(Self.isJSON(event) && event.count <= EventFrames.limit, "seed \(seed), record \(number)")
        }
        let proper = fleet.members(at: 0).filter { $0.id == "w" }
        let event = String(decoding: FleetEvent(members: proper, work: work).json(at: Self.now), as: UTF8.self)
        #expect(event.contains(#""hub":"north""#) && event.contains(#""id":"w""#), "seed \(seed)")
    }
}
