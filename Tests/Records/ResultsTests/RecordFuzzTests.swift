import Delivery
import Foundation
import GroupPositions
import Publishing
import PushModel
import Replay
import ResultQuery
import SQLite
import ReplayStage
import TestSupport
import Testing

@testable import Groups
@testable import Replays
@testable import Results

/// Records of strangers in every reader: none ends the process, and the proper record behind them is read and shown.
@Suite struct RecordFuzzTests {
    /// A reader of records, fed directly.
    struct Reader: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Proper records, each of which has other members.
        let samples: [String]
        /// Reads the records, the last of which is proper, and says if that is shown.
        let shows: @Sendable ([[UInt8]]) throws -> Bool

        init(_ name: String, _ samples: [String], shows: @escaping @Sendable ([[UInt8]]) throws -> Bool) {
            testDescription = name
            self.samples = samples
            self.shows = shows
        }
    }

    private static let result = """
        {"schema_version":1,"result_id":"final.0.0.17","request_id":"r-1","source":"shop","tenant":"t1","hub":"h","kind":"final",\
        "state":"failed","outcome":"throttled","hub_state":"Enqueued","replay_safety":"safe","error":{"code":"hub_throttled",\
        "message":"m","retryable":true,"http_status":429,"retry_after_ms":2000,"faults":[{"code":"x","pointer":"/a","message":"m"}]},\
        "attempt_count":1,"sends":[{"index":0,"platform":"apple","outcome":"throttled","http_status":429,"error_code":"hub_throttled",\
        "payload_bytes":64}],"attempts":[{"n":1,"send":0,"started_at":"2026-11-21T17:00:00.120Z","duration_ms":35,"result":"ok",\
        "backoff_ms":1,"bytes_sent":true}],"targets":{"planned":1,"accepted":0,"failed":1,"ambiguous":0},"timings":{"published_at":\
        "2026-11-21T17:00:00.100Z","consumed_at":"2026-11-21T17:00:00.110Z","queue_ms":10,"hub_ms":65,"total_ms":60},"origin":{"topic":\
        "push.requests.v1","partition":0,"offset":"17"},"labels":{"campaign":"login"},"worker":{"id":"w"},"at":"2026-11-21T17:00:00.160Z"}
        """
    private static let outcome = """
        {"request_id":"r-1","source":"shop","tenant":"t1","kind":"outcome","state":"failed","outcome":"permanent","replay_safety":"ambiguous",\
        "sends":[{"index":0,"platform":"apple","outcome":"permanent","pns_outcomes":{"apple":3}}],"targets":{"planned":1},"origin":\
        {"topic":"push.requests.v1","partition":0,"offset":"17"},"replay":{"job_id":"j","parent_request_id":"r-0","root_request_id":"r-0",\
        "parent_origin":"push.requests.v1:0:7","parent_published_at":"2026-11-21T17:00:00.100Z","generation":1,"sends":[0],"actor":"ann"},\
        "parent":{"id":"w-1","chunk":0,"chunks":2},"parts":{"count":2,"sent":1,"not_sent":[1]},"devices":{"apple":{"Success":3}}}
        """
    private static let page = """
        {"version":"1","hub":"h","omitted":{"loops":1,"calls":2,"finished":{"sent":3}},"total_ms":{"45":12},"loops":[{"worker":"w",\
        "mode":"own","at":"2026-11-21T17:00:00.100Z","hub":"h","circuit":"open","in_flight":1,"limit":2,"calls":3,"finished_per_second":1.5,\
        "rate_per_second":2.5,"cancellations_off":true,"trouble":"t","unknown_hubs":[{"hub":"x","waiting":2}],"finished":{"sent":4},\
        "hubs_omitted":1,"partitions_omitted":1,"hubs":[{"hub":"h","limit":3,"calls":4,"throttled_ms":5}],"partitions":[{"topic":"t",\
        "partition":0,"in_work":1,"oldest":{"offset":7,"published_at":"2026-11-21T17:00:00.100Z","attempt":1,"waits_for":"hub"},\
        "reading":{"count":1,"total":2,"bytes":3}}]}]}
        """
    private static let job = """
        {"kind":"job","job_id":"job","state":"running","filter":"f","reason":"r","actor":"ann","tenant":"t","plan_digest":"d","requests":9,\
        "next":3,"replayed":2,"skipped":1,"rate":500,"runner":"x","started_at":"2026-11-21T17:00:00Z","updated_at":"2026-11-21T17:00:00Z"}
        """
    private static let parent = """
        {"schema_version":1,"id":"r-1","chunks":3,"calls":9,"origin":{"topic":"t","partition":0,"offset":"7","timestamp_ms":1},\
        "consumed_ms":2,"source":"s","tenant":"t","hub":"h","replay":{"job_id":"j"},"labels":{"a":"b"}}
        """
    private static let part = """
        {"v":1,"state":"failed","outcome":"ambiguous","code":"hub_timeout","safety":"ambiguous","accepted":1,"ambiguous":2,"attempts":3,\
        "first":4,"hub_ms":5,"throttle_ms":6}
        """
    private static let history = """
        {"v":1,"plan":"8d6f","consumed":1,"throttled":2,"hub":3,"first":4,"calls":[{"platform":"apple","attempts":1,"status":429,"due":5,\
        "retry_after":6,"code":"hub_throttled","notification":"n","tracking":"t","detail":"d","arrived":true}],"attempts":[{"n":1,"call":0,\
        "at":1,"took":2,"result":"error","status":429,"code":"hub_throttled","sent":true,"backoff":7}]}
        """
    private static let planHeader = """
        {"kind":"pushfan.replay.plan","version":1,"job_id":"j","source":"results","created_at":"2026-11-21T17:00:00Z","filter":"f",\
        "reason":"r","actor":"a","tenant":"t","rate":500,"ttl_seconds":9,"set":["hub=x"],"value":{"a":1},"jobs_offset":"7","counts":\
        {"matched":1,"eligible":2,"requests":3,"calls":4,"gone":5,"repairs":{"hub_not_found":6},"eligible_by_safety":{"safe":1,"ambiguous":1}}}
        """
    private static let planItem = """
        {"n":0,"request_id":"r-1","origin":"t:0:7","published_at":"2026-11-21T17:00:00Z","sends":[0,3],"planned":4,"shape":"8d6f","calls":2}
        """

    private static func results(_ records: [[UInt8]]) -> [ResultRecord] {
        records.enumerated().compactMap { ResultRecord(json: $1, partition: 0, offset: Int64($0), timestamp: Int64($0)) }
    }

    private static func documents(_ records: [[UInt8]]) -> [JSONDocument] {
        records.compactMap { json -> JSONDocument? in
            var document = JSONDocument()
            return document.readResult(json.span) ? document : nil
        }
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        var document = JSONDocument()
        return (try? document.read(bytes.span)) != nil
    }

    static let readers: [Reader] = [
        Reader("results", [result, outcome]) { records in
            let read = results(records)
            guard read.allSatisfy({ isJSON($0.line) && !$0.line.contains(0x0A) && !$0.line.contains(0x0D) }) else { return false }
            return read.last?.requestID == "r-1" && read.last?.offset == Int64(records.count - 1)
        },
        Reader("waits", [result, outcome]) { records in
            var (all, own) = (Awaited(.outcomes), Awaited(.outcomes) { $0.offset == Int64(records.count - 1) })
            for result in results(records) {
                all.take(result)
                own.take(result)
            }
            _ = all.outcomes.count
            return own.finalResult != nil || own.outcomes.count == 1
        },
        Reader("life", [result, outcome]) { records in
            var life = RequestLife(id: "r-1")
            for (offset, json) in records.enumerated() {
                life.take(json.span, partition: 0, offset: Int64(offset), timestamp: Int64(offset))
            }
            _ = (life.beginning, life.latest, life.final, life.duplicateCount)
            return isJSON(life.json) && life.own.last?.offset == Int64(records.count - 1)
        },
        Reader("trace", [result]) { records in
            var trace = FinalTrace(of: "r-1") { $0.source == "shop" && $0.tenant == "t1" && $0.requestID == "r-1" }
            for result in results(records) { trace.take(result) }
            return trace.final?.offset == Int64(records.count - 1)
        },
        Reader("failures", [result]) { records in
            func count(_ records: some Sequence<[UInt8]>) throws -> Int {
                var (matcher, repairs) = (ResultMatcher(PlanMaker.narrowed(ResultFilter())), RepairTally(ReplayHistory()))
                for json in records {
                    repairs.note(json.span)
                    if matcher.matches(json.span, writtenAt: 0) { repairs.add(matcher.document, writtenAt: 0) }
                }
                return repairs.close().groups.reduce(0) { $0 + $1.count }
            }
            return try count(records) == count(records.dropLast()) + 1
        },
        Reader("replays of results", [result]) { records in
            var (history, settled) = (ReplayHistory(), [SettledResult?]())
            history.noteJob("j")
            for document in documents(records) {
                history.noteResult(document)
                let result = SettledResult(document)
                settled.append(result)
                let policy = ReplayPolicy(
                    includesAmbiguous: true, renewsExpiry: true, includesCancelled: true, includesUntargeted: true)
                if let result { _ = Eligibility(of: result, after: history, under: policy).sends }
                if let place = result?.original.place, place.partition < 0 || place.offset < 0 { return false }
            }
            return settled.last??.requestID == "r-1"
        },
        Reader("index", [result, outcome]) { records in
            let folder = try TemporaryFolder()
            let index = try ResultIndex(path: folder.path("i.sqlite"), cluster: "c", topic: "t")
            let copies = records.enumerated().map { IndexedRecord(partition: 0, offset: Int64($0), time: Int64($0), value: $1) }
            guard try index.add(IndexRows(RecordBatch(copies))) else { return false }
            try index.finishFilling()
            let all = ResultFilter()
            let newest = try index.newest(1, all)
            _ = (try index.failures(all), try index.states(all), try index.recordCount())
            let life = try index.life(RequestLife(id: "r-1"), in: all)
            return newest.first?.offset == Int64(records.count - 1) && life.own.contains { $0.offset == Int64(records.count - 1) }
        },
        Reader("fleet", [page]) { records in
            var fleet = Fleet()
            for (number, json) in records.enumerated() {
                // A fleet keeps 400 workers.
                fleet.take(key: Array("\(number % 200)".utf8), value: json, heardAt: 0)
                fleet.take(key: Array("w".utf8), value: json, writtenAt: Int64(number), wall: 0, readAt: 0)
            }
            _ = fleet.cancellationNote(topic: "control", at: 0)
            let shown = fleet.members(at: 0).first { $0.id == "\((records.count - 1) % 200)" }
            return shown?.page.loops.first?.worker == "w" && shown?.page.loops.first?.partitions.count == 1
        },
        Reader("job records", [job]) { records in
            var last: JobRecord?
            for json in records {
                var document = JSONDocument()
                guard (try? document.read(json.span)) != nil else { continue }
                last = JobRecord(document)
                guard let last else { continue }
                if !isJSON(last.json) || last.requests < 0 || last.next < 0 || last.rate < 0 { return false }
            }
            return last?.jobID == "job"
        },
        Reader("parts", [part]) { records in
            var (totals, last) = (PartTotals(), PartTally?.none)
            for (chunk, json) in records.enumerated() {
                last = PartTally(json.span, chunk: chunk)
                if let last { totals.add(last) }
            }
            _ = (totals.conclusion, totals.safety, totals.count)
            return last?.state == .failed && last?.hubTime == 5
        },
        Reader("divided requests", [parent]) { records in
            var reader = DividedReader(for: "r-1", place: nil, found: [])
            for (number, json) in records.enumerated() {
                reader.take(key: Array("t:0:\(number)".utf8).span, value: json.span, at: Timestamp(milliseconds: Int64(number)))
                let key = Array(json.prefix(300))
                reader.take(key: key.span, value: key.span, at: Timestamp(milliseconds: 0))
            }
            return reader.divided?.count == 3 && reader.divided?.at.milliseconds == Int64(records.count - 1)
        },
        Reader("continuations", [history]) { records in
            var isRead = false
            for json in records {
                var report = DeliveryReport()
                isRead = (try? DeliveryHistory(json.span, into: &report)) != nil
            }
            return isRead
        },
        Reader("cancellations", [#"{"id":"r-1","source":"shop","tenant":"t1","reason":"r"}"#]) { records in
            var last: CancelRecord?
            for json in records {
                last = CancelRecord(key: Array("cancel/r-1".utf8).span, value: json.span)
                let key = Array("cancel-own/".utf8) + json.prefix(2000)
                _ = CancelRecord(key: key.span, value: json.span)
            }
            return last?.reason == "r"
        },
        Reader("headers of records that wait", [planItem]) { records in
            let names = ["topic", "partition", "offset", "timestamp-ms"].map { "pushfan-origin-\($0)" }
            let all = names + ["pushfan-not-before-ms", "pushfan-attempt"]
            for json in records {
                for name in all {
                    var headers = Dictionary(uniqueKeysWithValues: all.map { ($0, "7") })
                    headers["pushfan-group"] = "g"
                    headers[name] = String(decoding: json.prefix(64), as: UTF8.self)
                    if let read = WaitingRecord(headers, of: "g"), read.attempts < 0 { return false }
                }
            }
            let proper = ["pushfan-group": "g", "pushfan-attempt": "2"]
            return WaitingRecord(proper, of: "g")?.attempts == 2
        },
        Reader("plan headers", [planHeader]) { records in
            var last: ReplayPlanHeader?
            for json in records {
                last = try? ReplayPlanHeader(json, path: "p")
                guard let last else { continue }
                let pace = ReplayPace(rate: last.rate ?? 1, callsAtOnce: 10, callTime: .milliseconds(100))
                if !isJSON(last.json) || !isJSON(ReplayReport(last, job: nil, now: 0).whole(at: pace, samples: []).bytes) {
                    return false
                }
            }
            return last?.jobID == "j" && last?.counts.calls == 4
        },
        Reader("plan items", [planItem]) { records in
            let folder = try TemporaryFolder()
            var last: ReplayItem?
            for json in records {
                let path = folder.path("p")
                try Data(Array(planHeader.utf8) + [0x0A] + json).write(to: URL(fileURLWithPath: path))
                var reader = try ReplayPlanReader(path)
                last = try? reader.nextItem()
                if let last, !isJSON(last.json) { return false }
            }
            return last?.requestID == "r-1" && last?.sends.indices == [0, 3]
        },
    ]

    @Test(arguments: readers, 0..<8) func oddRecordsEndNothingAndTheNextProperOneIsShown(reader: Reader, seed: Int) throws {
        var odd = OddRecords(seed: seed)
        let records = odd.records(400, of: reader.samples)
        for sample in reader.samples {
            let isShown = try reader.shows(records + [Array(sample.utf8)])
            #expect(isShown, "\(reader.testDescription), seed \(seed)")
        }
    }

    /// Samples are proper, or nothing of what is changed would be.
    @Test(arguments: readers) func properRecordsAreShown(reader: Reader) throws {
        for sample in reader.samples { #expect(try reader.shows([Array(sample.utf8)])) }
    }

    /// A result whose origin is none fails no plan, and the failures beside it are planned.
    @Test(
        arguments: [
            #"{"topic":"push.requests.v1","partition":-1,"offset":"0"}"#,
            #"{"topic":"push.requests.v1","partition":0,"offset":"-1"}"#,
            #"{"topic":"push.requests.v1","partition":0,"offset":"9223372036854775807"}"#,
            #"{"topic":"push.requests.v1","partition":4294967296,"offset":"0"}"#, #"{"topic":"","partition":0,"offset":"0"}"#,
            #"{"topic":"a b:c","partition":0,"offset":"0"}"#, #"{"topic":"\u0000","partition":0,"offset":"0"}"#, "null", "[]",
        ])
    func anOddOriginFailsNoPlan(origin: String) throws {
        let broker = try ReplayBroker()
        let odd = Self.result.replacing(#"{"topic":"push.requests.v1","partition":0,"offset":"17"}"#, with: origin)
        try #require(odd != Self.result)
        try broker.write(odd, to: broker.topics.results)
        try broker.writeHistory([("throttled", "success")])
        let header = try broker.plan(ReplayBroker.header(), broker.context())
        #expect(header.counts.requests == 1)
    }

    /// What a job's topic holds beside a job neither ends the reading nor hides the job.
    @Test(arguments: 0..<4) func oddRecordsHideNoJob(seed: Int) throws {
        let broker = try ReplayBroker()
        let batch =
            #"{"kind":"batch","job_id":"job","first":0,"next":3,"replayed":[["t:0:7",0,{"request_id":"r"}]],"skipped":[[1,"gone"]]}"#
        let wish = #"{"kind":"wish","job_id":"job","wish":"stop","actor":"ann"}"#
        var odd = OddRecords(seed: seed, largest: 10_000)
        for record in odd.records(200, of: [Self.job, batch, wish]) {
            try broker.write(String(decoding: record, as: UTF8.self), to: broker.topics.replays)
        }
        for record in [Self.job, batch] { try broker.write(record, to: broker.topics.replays) }
        let log = try broker.context().jobLog()
        let job = try #require(log.jobs["job"])
        #expect(job.record.requests == 9 && job.next >= 3 && job.skippedCount >= 0)
        _ = log.newestFirst.map { $0.state(at: ReplayBroker.now) }
        #expect(!log.history.replayed(Original(at: RecordPlace(topic: "t", partition: 0, offset: 7))).isEmpty)
    }
}
