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
        parents.opened(key, record: record, chunks: chunks, at: 10, timestamp: 99)
    }

    @Test func theLastPartFinishesTheRequestWhateverTheOrder() throws {
        var parents = OpenParents(start: 5, position: 5)
        #expect(parents.lowWaterMark == 5 && parents.position == 5)
        Self.opened(3, &parents)
        #expect(parents.notePart(Self.key, tally: Self.tally(2), at: 11) == nil)
        #expect(parents.notePart(Self.key, tally: Self.tally(0, .failed), at: 12) == nil)
        #expect(parents.lowWaterMark == 10 && parents.position == 13 && parents.count == 1)
        let last = parents.notePart(Self.key, tally: Self.tally(1), at: 13)
        let finished = try #require(last)
        #expect(finished.key == Self.key && finished.record == Self.record && finished.chunks == 3)
        #expect(finished.offset == 10 && finished.timestamp == 99)
        #expect(finished.totals.sent == 2 && finished.totals.notSent == [0])
        #expect(parents.count == 0 && parents.lowWaterMark == 14 && parents.position == 14)
        #expect(parents.notePart(Self.key, tally: Self.tally(1), at: 14) == nil, "nothing more happens")
        parents.deleted(Self.key, at: 15)
        #expect(parents.lowWaterMark == 16)
    }

    @Test func aPartCountsOnce() {
        var parents = OpenParents()
        Self.opened(2, &parents)
        for offset in 11..<20 { #expect(parents.notePart(Self.key, tally: Self.tally(0), at: Int64(offset)) == nil) }
        Self.opened(2, &parents)
        #expect(parents.notePart(Self.key, tally: Self.tally(1), at: 20)?.totals.count == 2)
    }

    @Test(arguments: [-1, 2, 64, Int.max, Int.min]) func aPartThatIsNoneCountsForNothing(_ chunk: Int) {
        var parents = OpenParents()
        Self.opened(2, &parents)
        #expect(parents.notePart(Self.key, tally: Self.tally(chunk), at: 11) == nil)
        #expect(parents.notePart(ParentKey("other"), tally: Self.tally(0), at: 12) == nil)
        #expect(parents.notePart(Self.key, tally: Self.tally(0), at: 13) == nil)
        #expect(parents.notePart(Self.key, tally: Self.tally(1), at: 14) != nil)
    }

    @Test(arguments: [Int64.min, -1, 0, .max - 1, .max]) func anAbsurdOffsetOrTimeOverflowsNothing(_ number: Int64) {
        var parents = OpenParents()
        parents.opened(Self.key, record: Self.record, chunks: 2, at: number, timestamp: .at(number))
        parents.passed(number)
        #expect(parents.notePart(Self.key, tally: Self.tally(0), at: number) == nil)
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
        parents.opened(ParentKey("old"), record: [], chunks: 1, at: 8, timestamp: 0)
        Self.opened(2, &parents)
        #expect(parents.notePart(Self.key, tally: Self.tally(0), at: 11) == nil)
        #expect(parents.notePart(Self.key, tally: Self.tally(1), at: 12) == nil)
        #expect(parents.count == 1 && parents.lowWaterMark == 8 && parents.position == 14)
        parents.deleted(Self.key, at: 14)
        #expect(parents.notePart(ParentKey("old"), tally: Self.tally(0), at: 15) != nil)
        #expect(parents.lowWaterMark == 16)
    }

    /// Two requests have ended, and the commit takes the second only.
    @Test func whatACommitLeavesOutIsFinishedByTheNextOwnerAndNothingElseIs() {
        func read(_ parents: inout OpenParents) -> [ParentKey] {
            parents.opened(Self.key, record: [], chunks: 1, at: 10, timestamp: 0)
            parents.opened(ParentKey("other"), record: [], chunks: 1, at: 11, timestamp: 0)
            let ends = [
                parents.notePart(Self.key, tally: Self.tally(0), at: 12),
                parents.notePart(ParentKey("other"), tally: Self.tally(0), at: 13),
            ]
            return ends.compactMap { $0?.key }
        }
        var first = OpenParents(start: 5, metadata: "5")
        let both = read(&first)
        #expect(both.count == 2)
        #expect(first.commit() == LedgerCommit(offset: 14, metadata: "14"))
        let position = first.commit(leavingOut: [12])
        #expect(position.offset == 10)
        var second = OpenParents(start: position.offset, metadata: position.metadata)
        // Before it has read so far, its own position says so too.
        #expect(second.commit().metadata == position.metadata)
        let again = read(&second)
        #expect(again == [Self.key])
        #expect(second.commit() == LedgerCommit(offset: 14, metadata: "14"))
        // What is behind all that is committed is not named.
        #expect(first.commit(leavingOut: [12, 13]) == LedgerCommit(offset: 10, metadata: "12"))
    }

    @Test func aPartWithoutARequestThatACommitLeavesOutIsDeletedByTheNextOwner() {
        var first = OpenParents(start: 5, metadata: "5")
        #expect(first.isStray(Self.key, chunk: 0, at: 6))
        first.deletes(Self.key, at: 6)
        first.passed(7)
        #expect(first.isStray(ParentKey("other"), chunk: 0, at: 7))
        first.deletes(ParentKey("other"), at: 7)
        first.passed(8)
        let position = first.commit(leavingOut: [6])
        #expect(position.offset == 6)
        let second = OpenParents(start: position.offset, metadata: position.metadata)
        #expect(second.isStray(Self.key, chunk: 0, at: 6))
        #expect(!second.isStray(ParentKey("other"), chunk: 0, at: 7))
    }

    @Test(arguments: ["", "x", "9 ", "9 xyz", "9 1 2", "99999999999999999999", "9 ,,"])
    func metadataThatNobodyWroteNamesNothing(_ metadata: String) {
        let parents = OpenParents(start: 9, metadata: metadata)
        #expect(parents.commit() == LedgerCommit(offset: 9, metadata: "9"))
    }

    /// One request whose record was deleted behind its last part, one whose record is there, and one that has a part to go.
    private static func readUnknown(_ parents: inout OpenParents) -> [ParentKey] {
        var finished: [ParentKey] = []
        for (number, name) in ["deleted", "there", "open"].enumerated() {
            parents.opened(ParentKey(name), record: record, chunks: 2, at: Int64(number), timestamp: 99)
        }
        for (number, name) in ["deleted", "there"].enumerated() {
            for chunk in 0..<2 {
                let end = parents.notePart(ParentKey(name), tally: tally(chunk), at: Int64(3 + 2 * number + chunk))
                if let end { finished.append(end.key) }
            }
        }
        finished += [parents.notePart(ParentKey("open"), tally: tally(0), at: 7), parents.takeUnfinished()?.parent].compactMap {
            $0?.key
        }
        parents.deleted(ParentKey("deleted"), at: 8)
        return finished
    }

    @Test func withoutAPositionThatIsFinishedWhoseRecordIsThereWhenAllIsRead() throws {
        var parents = OpenParents(start: 0, unknownBefore: 11)
        #expect(parents.commit() == LedgerCommit(offset: 0, metadata: "0 u11"))
        #expect(Self.readUnknown(&parents).isEmpty, "a deletion may come")
        #expect(parents.commit() == LedgerCommit(offset: 1, metadata: "0 u11"), "whoever comes next must not guess either")
        #expect(!parents.isStray(ParentKey("foreign"), chunk: 0, at: 9), "whose it was is unknown")
        parents.passed(11)
        #expect(parents.commit() == LedgerCommit(offset: 1, metadata: "6 u11"), "it is not taken yet")
        let next = parents.takeUnfinished()
        let (parent, offset) = try #require(next)
        #expect(parent.key == ParentKey("there") && parent.totals.sent == 2 && parent.offset == 1 && offset == 6)
        #expect(parents.takeUnfinished() == nil)
        #expect(parents.commit() == LedgerCommit(offset: 2, metadata: "11"))
        #expect(parents.commit(leavingOut: [6]) == LedgerCommit(offset: 1, metadata: "6 u11"))
        #expect(
            parents.notePart(ParentKey("open"), tally: Self.tally(1), at: 11)?.key == ParentKey("open"),
            "what comes later is known")
        #expect(parents.isStray(ParentKey("foreign"), chunk: 0, at: 12))
    }

    @Test func whoComesNextKnowsWhatIsUnknown() throws {
        var parents = OpenParents(start: 0, metadata: "0 u11")
        #expect(Self.readUnknown(&parents).isEmpty)
        parents.passed(11)
        #expect(parents.takeUnfinished()?.parent.key == ParentKey("there"))
        // The one that stands there before the position was finished by whoever committed that.
        var later = OpenParents(start: 0, metadata: "7 u11")
        #expect(Self.readUnknown(&later).isEmpty)
        later.passed(11)
        #expect(later.takeUnfinished() == nil && later.count == 1)
    }

    /// Versions that do not know the notes read the digests, and nothing else.
    @Test(arguments: [(nil, []), (7, [12]), (7, [])] as [(Int64?, [Int64])])
    func aPositionNamesTheRecordsThatWereRead(time: Int64?, left: [Int64]) throws {
        var parents = OpenParents(start: 5, metadata: "5")
        for (number, key) in [Self.key, ParentKey("other")].enumerated() {
            parents.opened(key, record: [], chunks: 1, at: Int64(10 + number), timestamp: 0)
        }
        #expect(parents.notePart(Self.key, tally: Self.tally(0), at: 12) != nil)
        #expect(parents.notePart(ParentKey("other"), tally: Self.tally(0), at: 13) != nil)
        var marks = ReadMarks(RecordMark(offset: 10, time: time, key: nil, value: Self.record.span))
        marks.read(RecordMark(offset: 13, time: 8, key: nil, value: nil))
        let position = parents.commit(leavingOut: left, marks: marks)
        #expect(OpenParents.marks(in: position.metadata) == marks && ReadMarks(metadata: position.metadata) == marks)
        #expect(OpenParents.isKnown(position.metadata))
        let words = position.metadata.split(separator: " ")
        #expect(words.count == 2 && words.first == "14")
        let digests = left.isEmpty ? [] : [Self.key.digest]
        #expect(words.last?.split(separator: ",").compactMap { UInt64($0, radix: 16) } == digests)
        #expect(OpenParents(start: position.offset, metadata: position.metadata).commit(marks: marks) == position)
    }

    @Test(arguments: ["", "9", "9 a,ff", "9 m", "9 m1:2:3", "9 m2::a:1::b", "9 mx::a:1::b", "9 a m1::a:1::b"])
    func metadataWithoutMarksNamesNone(_ metadata: String) {
        #expect(OpenParents.marks(in: metadata) == nil && ReadMarks(metadata: metadata) == nil)
    }

    /// A partition's log, read by one owner after another, each of whom dies anywhere, and now and then the group forgets its position:
    /// every request is finished by exactly one commit.
    @Test(arguments: 0..<300) func everyRequestIsFinishedOnceWhoeverDies(seed: Int) throws {
        var random = SeededRandom(seed)
        var log = Log(using: &random)
        var mark: LedgerCommit?
        var finished: [ParentKey: PartTotals] = [:]
        for _ in 0..<200 where finished.count < log.requests.count {
            if random.below(6) == 0 { mark = nil }
            var parents = log.begin(at: mark)
            var pending: [Log.Ended] = []
            var next = Int(mark?.offset ?? 0)
            // How long this owner lives.
            var life = random.below(60)
            while life > 0 {
                life -= 1
                if let (parent, offset) = parents.takeUnfinished() {
                    pending.append((offset, parent))
                } else if next < log.records.count {
                    log.read(next, into: &parents, &pending)
                    next += 1
                } else if random.below(3) == 0 {
                    log.write(using: &random)
                }
                guard random.below(5) == 0 else { continue }
                // A transaction: results, tombstones and the new position together, of some of what has ended or of all.
                let left = pending.filter { _ in random.below(3) == 0 }
                let leftOut = left.map { $0.offset }
                for (offset, parent) in pending where !leftOut.contains(offset) {
                    #expect(finished.updateValue(parent.totals, forKey: parent.key) == nil, "finished twice: \(parent.key)")
                    log.records.append(.deleted(parent.key))
                    for chunk in 0..<parent.chunks { log.records.append(.deletedPart(parent.key, chunk)) }
                }
                pending = left
                parents.offered(leavingOut: leftOut)
                let commit = parents.commit(leavingOut: leftOut)
                parents.recorded()
                try #require(commit.offset >= mark?.offset ?? 0 && commit.offset <= Int64(log.records.count))
                mark = commit
                if random.below(4) == 0 { log.compact(before: Int(commit.offset)) }
            }
        }
        // The last owner lives on.
        var parents = log.begin(at: mark)
        var last: [Log.Ended] = []
        while log.write(using: &random) {}
        for index in Int(mark?.offset ?? 0)...log.records.count {
            while let (parent, offset) = parents.takeUnfinished() { last.append((offset, parent)) }
            if index < log.records.count { log.read(index, into: &parents, &last) }
        }
        for (_, parent) in last { #expect(finished.updateValue(parent.totals, forKey: parent.key) == nil) }
        #expect(finished.count == log.requests.count)
        for (key, chunks) in log.requests {
            #expect(finished[key]?.count == chunks && finished[key]?.sent == chunks - log.failures(of: key))
        }
        #expect(parents.count == 0 && parents.lowWaterMark == Int64(log.records.count))
    }
}

/// One partition of the topic of parents, as those who send parts fill it.
private struct Log {
    typealias Ended = (offset: Int64, parent: OpenParents.Finished)

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

    /// What an owner begins with at a position of the group, or without one.
    func begin(at position: LedgerCommit?) -> OpenParents {
        position.map { OpenParents(start: $0.offset, metadata: $0.metadata) }
            ?? OpenParents(start: 0, unknownBefore: Int64(records.count))
    }

    @discardableResult mutating func write(using random: inout SeededRandom) -> Bool {
        guard !waiting.isEmpty else { return false }
        for _ in 0...random.below(8) where !waiting.isEmpty { records.append(waiting.removeFirst()) }
        return true
    }

    func read(_ index: Int, into parents: inout OpenParents, _ finished: inout [Ended]) {
        let offset = Int64(index)
        switch records[index] {
        case .parent(let key, let chunks): parents.opened(key, record: [], chunks: chunks, at: offset, timestamp: 0)
        case .part(let key, let tally):
            if let parent = parents.notePart(key, tally: tally, at: offset) { finished.append((offset, parent)) }
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
