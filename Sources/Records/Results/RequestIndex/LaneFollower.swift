import Basics
import EventLoop
import Groups
import JobSupport
import Kafka
import PushModel
import SQLite

/// Adds the records that come to the lanes to an index of requests, by one reader for all partitions.
struct LaneFollower {
    /// Records are added so often at the latest, or as soon as no other comes for a while.
    private static let step = Duration.milliseconds(300)
    private static let silence = Duration.milliseconds(50)
    /// The partitions of lanes are looked for so often, and another reader takes over so often.
    private static let (partitionInterval, length) = (Duration.seconds(10), Duration.seconds(600))
    /// Positions are written, and old hours removed, so often. What is read twice after an end without warning does no harm.
    private static let tidyInterval = Duration.seconds(2)
    /// The ends of the lanes are asked for so often once they were reached, with so much patience, and later where there is no answer.
    private static let (endInterval, endPatience, endPause) = (
        Duration.milliseconds(500), Duration.milliseconds(500), Duration.seconds(3)
    )
    /// The bytes that are read ahead of all partitions together.
    private static let readAhead = 32 << 20
    /// A broker keeps a question for so long while there is nothing. What comes meanwhile is answered at once.
    private static let fetchWait = Duration.milliseconds(500)
    /// The records of a partition that are read in a row.
    private static let turn = 256

    private let context: JobContext
    private let settings: RequestIndexSettings
    private let store: RequestStore
    private let lanes: IndexedLanes
    private let admin: TopicAdmin
    private let reader: PartitionReader
    private let wakeUp: WakeUp
    private let poller: Poller
    private var intake: RequestIntake
    private var headers = RecordHeaders()
    private var places: LaneProgress
    /// True once a record came that does not belong behind what was read of its slot.
    private var hasOtherRecords = false
    /// The slots whose first record has to be the one that was read last.
    private var witnesses: [Int: IndexPosition.Witness]
    private let end = Deadline(after: length)
    private var nextRefresh = Deadline(after: partitionInterval)
    private var nextTidying = Deadline(after: tidyInterval)
    private var nextEnds = Deadline(after: endInterval)

    /// Begins to read where the index ends, or from a moment on what was given up.
    init(_ store: RequestStore, settings: RequestIndexSettings, refillingFrom moment: Int64?, in context: JobContext)
        throws(IndexFailure)
    {
        (self.store, self.settings, self.context) = (store, settings, context)
        let now = context.now()
        admin = try IndexFailure.kafka { () throws(KafkaError) in try TopicAdmin(context.kafka) }
        lanes = try IndexedLanes(store, keep: settings.keep, refillingFrom: moment, by: admin, in: context)
        places = LaneProgress(lanes.slots.map(\.start))
        places.note(ends: lanes.slots.map(\.end), at: now)
        // They may be reached already.
        places.finishAddition()
        var witnesses: [Int: IndexPosition.Witness] = [:]
        for (slot, place) in lanes.slots.enumerated() { witnesses[slot] = place.start.witness }
        self.witnesses = witnesses
        intake = RequestIntake(store.secrets, names: settings.names, keep: settings.keep.wholeMilliseconds)
        do {
            wakeUp = try WakeUp()
            poller = try Poller()
            try poller.add(wakeUp.fileDescriptor, token: 0, interest: .readable)
        } catch {
            throw .absence(.folder(path: settings.folder, reason: "\(error)"))
        }
        let count = lanes.slots.count
        reader = try IndexFailure.kafka { [lanes, wakeUp] () throws(KafkaError) in
            let room = QueueRoom(sharing: Self.readAhead, among: count, atMost: .large)
            let reader = try PartitionReader(
                context.kafka, room: room, fetchWait: Self.fetchWait, wakeUpFileDescriptor: wakeUp.fileDescriptor)
            try reader.start(lanes.slots.map { ($0.partition, .offset($0.start.witness?.offset ?? $0.start.next)) })
            return reader
        }
    }

    /// Writes the places behind what was added.
    mutating func save() throws(IndexFailure) {
        let added = places.takeAdded().map { (lanes.slots[$0].partition, $1) }
        try IndexFailure.database { () throws(SQLiteError) in try store.save(Dictionary(uniqueKeysWithValues: added)) }
    }

    /// The offsets that were there at the beginning, and those of them that were not read.
    var progress: (behind: Int, of: Int) {
        var (behind, total): (Int64, Int64) = (0, 0)
        for (slot, place) in lanes.slots.enumerated() {
            behind = behind.addingSaturated(max(0, place.end.addingSaturated(-places.positions[slot].next)))
            total = total.addingSaturated(max(0, place.end.addingSaturated(-place.start.next)))
        }
        return (Int(clamping: behind), Int(clamping: total))
    }

    /// The last moment up to which the index is known to have everything, in milliseconds since 1970. Brokers that are away leave it as it is.
    var upTo: Int64? { places.upTo }

    /// Reads for a step, and adds what has come. Returns false when it is time for another reader.
    mutating func readOn() throws(IndexFailure) -> Bool {
        let deadline = Deadline(after: Self.step)
        var silence = deadline
        while !deadline.hasPassed, !silence.hasPassed, !intake.rows.isFull, !context.isCancelled() {
            wakeUp.drain()
            if try readRound() { continue }
            if !intake.rows.isEmpty { silence = Deadline(after: Self.silence) }
            let wait = min(deadline.step, silence.step)
            do { _ = try poller.wait(until: .now().advanced(by: wait)) } catch { Pause.sleep(Self.silence) }
        }
        guard !reader.isOutdated, !isMissing() else { return false }
        let damaged = try IndexFailure.database { () throws(SQLiteError) in
            try intake.rows.isEmpty ? [] : store.add(intake.rows)
        }
        intake.removeRows()
        guard damaged.isEmpty else {
            // The hours that were given up are read again, and the places are behind them.
            places.giveUp()
            return false
        }
        places.finishAddition()
        askForEnds()
        if nextTidying.hasPassed { try tidy() }
        return !end.hasPassed && !hasOtherPartitions()
    }

    /// Reads some records of each partition. Returns false if there was none.
    private mutating func readRound() throws(IndexFailure) -> Bool {
        let now = context.now()
        var isFound = false
        for slot in lanes.slots.indices {
            for _ in 0..<Self.turn where !intake.rows.isFull {
                let result = reader.read(slot: slot) { take($0, slot: slot, now: now) }
                if case .endOfPartition(let offset) = result { note(offset, slot: slot) }
                if case .error(let error) = result { try check(error, slot: slot) }
                guard result == .record else { break }
                isFound = true
            }
            guard !hasOtherRecords else { throw .flaw(.otherRecords) }
        }
        return isFound
    }

    /// Takes a record, or notes that it should have come before, or is another one than was read there.
    private mutating func take(_ record: borrowing ConsumedRecord, slot: Int, now: Int64) {
        guard !hasOtherRecords else { return }
        if let witness = witnesses.removeValue(forKey: slot) {
            let isSame = record.offset == witness.offset && record.timestamp ?? 0 == witness.time
            let isGone = reader.watermarks(slot: slot).map { $0.low > witness.offset } ?? false
            guard isSame || isGone else { return hasOtherRecords = true }
            if isSame { return }
        }
        guard record.offset >= places.positions[slot].next else { return hasOtherRecords = true }
        let witness = IndexPosition.Witness(offset: record.offset, time: record.timestamp ?? 0)
        places.move(slot: slot, to: IndexPosition(next: record.offset + 1, witness: witness))
        guard let value = record.value else { return }
        headers.removeAll()
        record.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        let place = lanes.slots[slot]
        let origin = RecordOrigin(
            topic: place.partition.topic, partition: record.partition, offset: record.offset,
            timestamp: WaitingReader.moment(record.timestamp ?? 0), isDated: record.timestamp != nil)
        intake.take(value, headers: headers, at: origin, lane: place.lane, floor: store.floor, now: now)
    }

    private mutating func note(_ end: Int64, slot: Int) {
        guard end > places.positions[slot].next else { return }
        places.move(slot: slot, to: IndexPosition(next: end, witness: places.positions[slot].witness))
    }

    private func check(_ error: KafkaError, slot: Int) throws(IndexFailure) {
        guard error.isAuthorization || error.isFatal || error.isUnknownTopicOrPartition else { return }
        throw .job(.kafka(error, .read(topic: lanes.slots[slot].partition.topic)))
    }

    /// True once the library has said that a partition is missing: the topic may be there again, and be another.
    private func isMissing() -> Bool {
        var isMissing = false
        while let event = reader.nextEvent() {
            if case .log(let line) = event, line.missingPartition != nil { isMissing = true }
        }
        return isMissing
    }

    /// Asks for the ends of the lanes, once those of before are reached.
    private mutating func askForEnds() {
        guard !places.hasEnds, nextEnds.hasPassed else { return }
        let now = context.now()
        let ends = try? admin.ends(of: lanes.slots.map(\.partition), timeout: Self.endPatience)
        nextEnds = Deadline(after: ends == nil ? Self.endPause : Self.endInterval)
        if let ends { places.note(ends: ends, at: now) }
    }

    private mutating func tidy() throws(IndexFailure) {
        nextTidying = Deadline(after: Self.tidyInterval)
        try save()
        let now = context.now()
        try IndexFailure.database { () throws(SQLiteError) in
            try store.removeOld(
                before: now.addingSaturated(-settings.keep.wholeMilliseconds), byteLimit: settings.byteLimit, now: now)
        }
    }

    /// True if the lanes have other partitions now. While brokers are away, that is not known.
    private mutating func hasOtherPartitions() -> Bool {
        guard nextRefresh.hasPassed else { return false }
        nextRefresh = Deadline(after: Self.partitionInterval)
        guard let found = try? admin.describe(topics: lanes.topics, timeout: context.timeout) else { return false }
        return IndexedLanes.counts(found).map { $0 != lanes.counts } ?? false
    }
}
