import FanOut
import PushModel
import ResultQuery
import TestSupport
import Testing

@testable import Replay

/// Requests, workers, jobs and crashes in any order; what is counted is how often each device group was reached.
private struct World {
    struct Request {
        let json: String
        let root: Int
        let place: RecordPlace
        var result: String?
    }

    /// A plan, and how far it was run.
    struct Plan {
        var items: [(request: Int, sends: SendSet)] = []
        var next = 0
    }

    var random: SeededRandom
    var requests: [Request] = []
    var plans: [Plan] = []
    /// What jobs have committed: which job repeated what.
    var ledger: [(job: Int, sends: SendSet, place: RecordPlace)] = []
    /// How often each call of an original has reached its devices.
    var reached: [String: Int] = [:]
    /// Calls of originals that may or will never be repeated.
    var lost: Set<String> = []

    init(seed: Int) {
        random = SeededRandom(seed)
        for root in 0..<(1 + random.below(4)) {
            add(namedOriginals[random.below(namedOriginals.count)], root: root)
        }
    }

    mutating func add(_ json: String, root: Int) {
        requests.append(
            Request(json: json, root: root, place: RecordPlace(topic: "t", partition: 0, offset: Int64(requests.count))))
    }

    func keys(_ request: Request) throws -> [String] { try Replaying.calls(request.json).map { "\(request.root) \($0)" } }

    /// A worker deals with a request that has no result yet.
    mutating func work(alwaysWell: Bool = false) throws {
        let open = requests.indices.filter { requests[$0].result == nil }
        guard let index = open.isEmpty ? nil : open[random.below(open.count)] else { return }
        let request = requests[index]
        let keys = try keys(request)
        if !alwaysWell, random.below(10) == 0 {
            // Ended before any call was planned.
            requests[index].result = text(request, [], outcome: random.below(2) == 0 ? "cancelled" : "expired")
            lost.formUnion(keys)
            return
        }
        var outcomes: [String] = []
        for key in keys {
            let words = ["success", "success", "transient", "throttled", "ambiguous", "payload", "expired", "auth"]
            let word = alwaysWell ? "success" : words[random.below(words.count)]
            outcomes.append(word)
            if word == "success" || word == "ambiguous" && random.below(2) == 0 { reached[key, default: 0] += 1 }
            if word == "ambiguous" || word == "payload" || word == "expired" { lost.insert(key) }
        }
        requests[index].result = text(request, outcomes, outcome: "transient")
    }

    private func text(_ request: Request, _ outcomes: [String], outcome: String) -> String {
        let platforms = (try? Replaying.calls(request.json).map { String($0.prefix { $0 != " " }) }) ?? []
        let block = (try? document(request.json)).flatMap { document in
            document.member("replay", of: document.root).map { document.string(document.text(of: $0)) }
        }
        let id = (try? document(request.json)).flatMap { document in document.text("id", of: document.root) }
        return result(
            outcomes, at: request.place.description, id: id ?? request.place.description, outcome: outcome,
            platforms: Array(platforms.prefix(outcomes.count)),
            replay: block)
    }

    /// Somebody plans a replay of some results; whether the results of earlier replays are seen does not matter.
    mutating func plan(everything: Bool = false) throws {
        var history = ReplayHistory()
        for entry in ledger { history.noteReplay(of: entry.sends, in: Original(at: entry.place)) }
        for request in requests where everything || random.below(2) == 0 {
            if let result = request.result { history.noteResult(try document(result)) }
        }
        var plan = Plan()
        for (index, request) in requests.enumerated() where everything || random.below(3) > 0 {
            guard let text = request.result else { continue }
            let result = try settled(text)
            let sends = Eligibility(of: result, after: history, under: ReplayPolicy()).sends
            var replaying = try Replaying()
            let calls = result.plannedCount == 0 ? nil : (result.plannedCount, result.platforms)
            guard !sends.isEmpty, replaying.read(request.json, calls: calls) == nil else { continue }
            for part in replaying.writer.requests(for: sends) { plan.items.append((index, part)) }
        }
        plans.append(plan)
    }

    /// A runner does some items of a plan, and perhaps dies; one runs at a time, and first reads what others have committed.
    mutating func run(_ index: Int, atMost count: Int) throws {
        var history = ReplayHistory()
        for entry in ledger where entry.job != index { history.noteReplay(of: entry.sends, in: Original(at: entry.place)) }
        for (number, sends) in plans[index].items.dropFirst(plans[index].next).prefix(count) {
            plans[index].next += 1
            let original = requests[number]
            guard sends.intersection(history.replayed(Original(at: original.place))).isEmpty else { continue }
            var replaying = try Replaying()
            try #require(replaying.read(original.json) == nil)
            var json = ByteWriter()
            try #require(replaying.writer.write(sends, id: "j\(index):\(plans[index].next)", into: &json))
            // The place in the lineage is that of the original.
            let text = json.text.replacing(place.description, with: original.place.description)
            ledger.append((index, sends, original.place))
            add(text, root: original.root)
        }
    }
}

private let namedOriginals = ReplayWriterTests.originals.filter { !$0.contains("devices") }

@Suite struct ReplayPropertyTests {
    @Test(arguments: 0..<60) func nothingRingsTwiceWhateverHappensInWhateverOrder(_ seed: Int) throws {
        var world = World(seed: seed)
        for _ in 0..<(10 + world.random.below(40)) {
            switch world.random.below(5) {
            case 0, 1: try world.work()
            case 2: try world.plan()
            default:
                guard !world.plans.isEmpty else { continue }
                try world.run(world.random.below(world.plans.count), atMost: 1 + world.random.below(3))
            }
            #expect(world.reached.values.allSatisfy { $0 <= 1 }, "\(world.reached)")
        }
    }

    @Test(arguments: 0..<20) func whatMayBeRepairedIsRepairedInTheEnd(_ seed: Int) throws {
        var world = World(seed: seed)
        for _ in 0..<4 { try world.work() }
        for _ in 0..<3 {
            while world.requests.contains(where: { $0.result == nil }) { try world.work(alwaysWell: true) }
            try world.plan(everything: true)
            try world.run(world.plans.count - 1, atMost: .max)
        }
        #expect(world.requests.allSatisfy { $0.result != nil })
        for request in world.requests where request.root == Int(request.place.offset) {
            for key in try world.keys(request) where !world.lost.contains(key) {
                #expect(world.reached[key] == 1, "\(key)")
            }
        }
    }
}
