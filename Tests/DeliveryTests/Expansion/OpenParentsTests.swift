import Delivery
import PushModel
import TestSupport
import Testing

/// When the last part of a large request has ended, and what a restart may forget.
struct OpenParentsTests {
    static func tally(_ chunk: Int, _ state: ResultState = .sent) -> PartTally {
        PartTally(chunk: chunk, state: state, outcome: state == .sent ? .success : .transient)
    }

    private static let key = ParentKey("t:0:1")
    private static let record = Array("record".utf8)

    private static func opened(_ chunks: Int, _ parents: inout OpenParents) {
        parents.opened(key, record, chunks: chunks, at: 10, timestamp: 99)
    }

    @Test func theLastPartFinishesTheRequestWhateverTheOrder() throws {
        var parents = OpenParents(start: 5, position: 5)
        #expect(parents.lowWaterMark == 5 && parents.position == 5)
        Self.opened(3, &parents)
        #expect(parents.ended(Self.key, Self.tally(2), at: 11) == nil)
        #expect(parents.ended(Self.key, Self.tally(0, .failed), at: 12) == nil)
        #expect(parents.lowWaterMark == 10 && parents.position == 13 && parents.count == 1)
        let last = parents.ended(Self.key, Self.tally(1), at: 13)
        let finished = try #require(last)
        #expect(finished.key == Self.key && finished.record == Self.record && finished.chunks == 3)
        #expect(finished.offset == 10 && finished.timestamp == 99)
        #expect(finished.totals.sent == 2 && finished.totals.notSent == [0])
        #expect(parents.count == 0 && parents.lowWaterMark == 14 && parents.position == 14)
        #expect(parents.ended(Self.key, Self.tally(1), at: 14) == nil, "nothing more happens")
        parents.deleted(Self.key, at: 15)
        #expect(parents.lowWaterMark == 16)
    }

    @Test func aPartCountsOnce() {
        var parents = OpenParents()
        Self.opened(2, &parents)
        for offset in 11..<20 { #expect(parents.ended(Self.key, Self.tally(0), at: Int64(offset)) == nil) }
        Self.opened(2, &parents)
        #expect(parents.ended(Self.key, Self.tally(1), at: 20)?.totals.count == 2)
    }

    @Test(arguments: [-1, 2, 64, Int.max, Int.min]) func aPartThatIsNoneCountsForNothing(_ chunk: Int) {
        var parents = OpenParents()
        Self.opened(2, &parents)
        #expect(parents.ended(Self.key, Self.tally(chunk), at: 11) == nil)
        #expect(parents.ended(ParentKey("other"), Self.tally(0), at: 12) == nil)
        #expect(parents.ended(Self.key, Self.tally(0), at: 13) == nil)
        #expect(parents.ended(Self.key, Self.tally(1), at: 14) != nil)
    }

    @Test(arguments: [Int64.min, -1, 0, .max - 1, .max]) func anAbsurdOffsetOrTimeOverflowsNothing(_ number: Int64) {
        var parents = OpenParents()
        parents.opened(Self.key, Self.record, chunks: 2, at: number, timestamp: number)
        parents.passed(number)
        #expect(parents.ended(Self.key, Self.tally(0), at: number) == nil)
        parents.deleted(Self.key, at: number)
        #expect(parents.count == 0 && parents.position >= parents.lowWaterMark)
    }

    @Test(arguments: [0, -1, ParentRecord.maximumChunks + 1]) func aRequestWithoutPartsIsNotOpened(_ chunks: Int) {
        var parents = OpenParents()
        Self.opened(chunks, &parents)
        #expect(parents.count == 0 && parents.lowWaterMark == 11)
    }

    @Test func whatWasFinishedBeforeIsNotFinishedAgain() {
        // An older request holds the mark back; this one was finished by the commit at position 14.
        var parents = OpenParents(start: 8, position: 14)
        parents.opened(ParentKey("old"), [], chunks: 1, at: 8, timestamp: 0)
        Self.opened(2, &parents)
        #expect(parents.ended(Self.key, Self.tally(0), at: 11) == nil)
        #expect(parents.ended(Self.key, Self.tally(1), at: 12) == nil)
        #expect(parents.count == 1 && parents.lowWaterMark == 8 && parents.position == 14)
        parents.deleted(Self.key, at: 14)
        #expect(parents.ended(ParentKey("old"), Self.tally(0), at: 15) != nil)
        #expect(parents.lowWaterMark == 16)
    }

    /// A partition's log, read by one owner after another, each of whom dies anywhere: every request is finished by exactly one commit.
    @Test(arguments: 0..<300) func everyRequestIsFinishedOnceWhoeverDies(seed: Int) throws {
        var random = SeededRandom(seed)
        var log = Log(using: &random)
        var mark: (start: Int64, position: Int64) = (0, 0)
        var finished: [ParentKey: PartTotals] = [:]
        for _ in 0..<200 where finished.count < log.requests.count {
            var parents = OpenParents(start: mark.start, position: mark.position)
            var pending: [OpenParents.Finished] = []
            var next = Int(mark.start)
            // How long this owner lives.
            var life = random.below(60)
            while life > 0 {
                life -= 1
                if next < log.records.count {
                    log.read(next, into: &parents, &pending)
                    next += 1
                } else if random.below(3) == 0 {
                    log.write(using: &random)
                }
                guard random.below(5) == 0 else { continue }
                // A transaction: results, tombstones and the new position together.
                for parent in pending {
                    #expect(finished.updateValue(parent.totals, forKey: parent.key) == nil, "finished twice: \(parent.key)")
                    log.records.append(.deleted(parent.key))
                    for chunk in 0..<parent.chunks { log.records.append(.deletedPart(parent.key, chunk)) }
                }
                pending = []
                try #require(parents.lowWaterMark >= mark.start && parents.position >= mark.position)
                try #require(parents.lowWaterMark <= Int64(log.records.count))
                mark = (parents.lowWaterMark, parents.position)
                if random.below(4) == 0 { log.compact(before: Int(mark.start)) }
            }
        }
        // The last owner lives on.
        var parents = OpenParents(start: mark.start, position: mark.position)
        var last: [OpenParents.Finished] = []
        while log.write(using: &random) {}
        for index in Int(mark.start)..<log.records.count { log.read(index, into: &parents, &last) }
        for parent in last { #expect(finished.updateValue(parent.totals, forKey: parent.key) == nil) }
        #expect(finished.count == log.requests.count)
        for (key, chunks) in log.requests {
            #expect(finished[key]?.count == chunks && finished[key]?.sent == chunks - log.failures(of: key))
        }
        #expect(parents.count == 0 && parents.lowWaterMark == Int64(log.records.count))
    }
}

/// One partition of the topic of parents, as those who send parts fill it.
private struct Log {
    enum Record {
        case parent(ParentKey, Int), part(ParentKey, PartTally), deleted(ParentKey), deletedPart(ParentKey, Int), nothing
    }

    var records: [Record] = []
    private(set) var requests: [ParentKey: Int] = [:]
    /// What is still to be written, each request's own record before its parts.
    private var waiting: [Record] = []
    private var failed: [ParentKey: Int] = [:]

    init(using random: inout SeededRandom) {
        for number in 0..<(1 + random.below(6)) {
            let key = ParentKey("t:0:\(number)")
            let chunks = 1 + random.below(random.below(4) == 0 ? 130 : 5)
            requests[key] = chunks
            let parts = (0..<chunks).map { chunk in
                let isSent = random.below(6) != 0
                if !isSent { failed[key, default: 0] += 1 }
                return Record.part(key, OpenParentsTests.tally(chunk, isSent ? .sent : .failed))
            }
            // Interleaved with those of the other requests.
            var place = random.below(waiting.count + 1)
            waiting.insert(.parent(key, chunks), at: place)
            for part in parts.shuffled(using: &random) {
                place += 1 + random.below(waiting.count - place)
                waiting.insert(part, at: place)
            }
        }
    }

    func failures(of key: ParentKey) -> Int { failed[key] ?? 0 }

    @discardableResult mutating func write(using random: inout SeededRandom) -> Bool {
        guard !waiting.isEmpty else { return false }
        for _ in 0...random.below(8) where !waiting.isEmpty { records.append(waiting.removeFirst()) }
        return true
    }

    func read(_ index: Int, into parents: inout OpenParents, _ finished: inout [OpenParents.Finished]) {
        let offset = Int64(index)
        switch records[index] {
        case .parent(let key, let chunks): parents.opened(key, [], chunks: chunks, at: offset, timestamp: 0)
        case .part(let key, let tally): if let parent = parents.ended(key, tally, at: offset) { finished.append(parent) }
        case .deleted(let key): parents.deleted(key, at: offset)
        case .deletedPart, .nothing: parents.passed(offset + 1)
        }
    }

    /// Removes what a later record of the same key has replaced, as compaction does with all that is not new.
    mutating func compact(before end: Int) {
        var gone: Set<ParentKey> = []
        for case .deleted(let key) in records { gone.insert(key) }
        for index in records.indices.prefix(end) {
            switch records[index] {
            case .parent(let key, _) where gone.contains(key): records[index] = .nothing
            case .part(let key, _) where gone.contains(key): records[index] = .nothing
            case .parent, .part, .deleted, .deletedPart, .nothing: break
            }
        }
    }
}
