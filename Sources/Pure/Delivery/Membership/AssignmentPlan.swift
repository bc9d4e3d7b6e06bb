import PushModel

/// The beginning of each partition of an assignment, and what is known of it, once the group's positions have arrived.
///
/// A partition begins at the group's position. It begins elsewhere only if there is none, or if it has lost what was read; then a
/// `StartRule` or a `LogTail` has decided, or nothing is read until an operator does. Offsets are Kafka record offsets.
///
/// A partition is named by its index in the list of those that were assigned. The plan puts them in an order of its own; the place of one
/// in that order is its slot.
public struct AssignmentPlan: Sendable {
    /// The kinds of a partition's records. Partitions stand in the order of these cases: those of requests have the consumer, the
    /// others a reader of their own.
    public enum Kind: Int, Sendable, CaseIterable {
        /// New requests of any lane.
        case requests
        /// Requests that wait in a delay lane.
        case delayed
        /// Large requests, and what became of their parts.
        case parents
        /// Requests with ordering keys that wait, and those behind them.
        case held
    }

    /// The decision about a partition that cannot begin at the group's position.
    public struct Ruling: Sendable, Equatable {
        /// The place at which it begins, if at all.
        public var decision: StartRule.Decision
        /// The reason why it does not begin at the position.
        public var cause: StartRule.Cause
        /// The next offset of the partition when that was decided.
        public var end: Int64
        /// The number of records that it held then, at most: ends of transactions count as well.
        public var waiting: Int64

        /// A decision with its cause.
        public init(_ decision: StartRule.Decision, because cause: StartRule.Cause, end: Int64, waiting: Int64 = 0) {
            self.decision = decision
            self.cause = cause
            self.end = end
            self.waiting = waiting
        }
    }

    /// A partition that was assigned.
    public struct Assigned: Sendable, Equatable {
        /// The kind of its records.
        public var kind: Kind
        /// The group's position, or nil if it has none.
        public var committed: LedgerCommit?
        /// The next offset of the partition after the position was known, open transactions included, or nil if it was not asked
        /// for.
        public var end: Int64?
        /// The decision about it, or nil if it can begin at the group's position, or with all that is retained if there is none.
        public var ruling: Ruling?
        /// True if records of it are still being read that may lead to another ruling.
        public var isUnanswered: Bool

        /// A partition with what was learnt of it.
        public init(
            _ kind: Kind, committed: LedgerCommit? = nil, end: Int64? = nil, ruling: Ruling? = nil, isUnanswered: Bool = false
        ) {
            self.kind = kind
            self.committed = committed
            self.end = end
            self.ruling = ruling
            self.isUnanswered = isUnanswered
        }
    }

    /// The beginning of the reading of a partition.
    public enum Start: Sendable, Equatable {
        /// With the oldest record that is retained.
        case beginning
        /// Behind the last record.
        case end
        /// With the record at this offset.
        case offset(Int64)
    }

    /// The things that there are to say before anything is done.
    public enum Message: Sendable, Equatable {
        /// A partition ends before the group's position, did when it was read, or holds other records before it: some are missing.
        case endsBeforePosition(index: Int, position: Int64, end: Int64, cause: StartRule.Cause)
    }

    /// The partitions that are not read until an operator decides where they begin, at least one.
    public struct RefusedPartitions: Sendable, Equatable {
        /// Their slots, ascending.
        public let slots: [Int]
        /// The numbers of records that wait in each of them, at most, in the same order.
        public let counts: [Int64]
        /// The reason why the first of them is not read.
        public let cause: StartRule.Cause

        /// Some partitions, ascending by slot. Nil when there are none.
        public init?(_ refused: [(slot: Int, count: Int64, cause: StartRule.Cause)]) {
            guard let first = refused.first else { return nil }
            slots = refused.map(\.slot)
            counts = refused.map(\.count)
            cause = first.cause
        }
    }

    /// The partitions, by slot.
    public private(set) var partitions: [Partition] = []
    /// The messages that there are to say, in the order of the slots.
    public private(set) var messages: [Message] = []

    /// The slots of the partitions of requests.
    public let requests: Range<Int>
    /// The slots of the partitions of delay lanes.
    public let delayed: Range<Int>
    /// The slots of the partitions of large requests.
    public let parents: Range<Int>
    /// The slots of the partitions of held requests.
    public let held: Range<Int>

    /// Plans an assignment.
    ///
    /// - Parameters:
    ///   - assigned: The partitions, in any order.
    ///   - window: How many offsets of a partition may be in work, 16 – 16,384; as of `OffsetLedger`.
    ///   - heldWindow: The same for a partition of held requests.
    ///   - reach: How many offsets before the position of a partition of requests are read again, because a request may repeat one of them;
    ///     nil when duplicates are not looked for.
    public init(_ assigned: [Assigned], window: Int, heldWindow: Int, reach: Int?) {
        let kinds = assigned.map(\.kind.rawValue)
        let starts = Kind.allCases.map { kind in kinds.count { $0 < kind.rawValue } }
        requests = 0..<starts[Kind.delayed.rawValue]
        delayed = requests.upperBound..<starts[Kind.parents.rawValue]
        parents = delayed.upperBound..<starts[Kind.held.rawValue]
        held = parents.upperBound..<assigned.count
        for index in assigned.indices.sorted(by: { (kinds[$0], $0) < (kinds[$1], $1) }) {
            let known = assigned[index]
            let size = known.kind == .held ? heldWindow : window
            var partition = Partition(index, assigned: known, reach: reach)
            if let position = known.committed, let cause = Self.obstacle(to: known, at: position) {
                partition.leave(because: cause, kind: known.kind)
            } else if let ruling = known.ruling {
                if let position = known.committed?.offset {
                    messages.append(.endsBeforePosition(index: index, position: position, end: ruling.end, cause: ruling.cause))
                }
                partition.begin(by: ruling, kind: known.kind, window: size)
            } else if known.kind == .parents {
                partition.beginParents(at: known.committed)
            } else if let position = known.committed {
                do throws(FinishedOffsets.DecodingError) {
                    try partition.begin(at: position, kind: known.kind, end: known.end, window: size)
                } catch {
                    partition.leave(because: .unknownPosition(UnknownMetadata(position.metadata)), kind: known.kind)
                }
            }
            if known.isUnanswered, partition.left == nil { partition.wait() }
            partitions.append(partition)
        }
    }

    /// The reason why no rule and no position may say where a partition begins: perhaps a newer version wrote the position, and only
    /// that knows what is finished.
    private static func obstacle(to known: Assigned, at position: LedgerCommit) -> LeaveCause? {
        let metadata = position.metadata
        if known.kind == .parents {
            return OpenParents.isKnown(metadata) ? nil : .unknownPosition(UnknownMetadata(metadata, isOfParents: true))
        }
        do throws(FinishedOffsets.DecodingError) {
            _ = try FinishedOffsets(decoding: metadata)
            return nil
        } catch {
            return error == .unknownVersion ? .unknownPosition(UnknownMetadata(metadata)) : nil
        }
    }

    /// The slot of the control topic in the reader of all that is not requests: behind all others.
    public var controlSlot: Int { held.upperBound - requests.upperBound }

    /// True if a position says that no worker is at work, or is decided. It is committed before anything is begun.
    public var isOpening: Bool { partitions.contains(where: \.isClosed) }

    /// True if a partition waits until it is known where it begins.
    public var awaitsLeader: Bool { partitions.contains { $0.left == .leaderAway } }

    /// True if a partition begins elsewhere than at its position, which is committed soon, so that it is not decided again.
    public var movesPositions: Bool { partitions.contains(where: \.isDirty) }

    /// The partitions that are not read, or nil when all are.
    public var refusal: RefusedPartitions? {
        RefusedPartitions(
            partitions.indices.compactMap { slot in
                partitions[slot].refusal.map { (slot: slot, count: partitions[slot].refusedCount, cause: $0) }
            })
    }
}

extension AssignmentPlan {
    /// The beginning of a partition.
    public struct Partition: Sendable {
        /// Its place in the list of those that were assigned.
        public let index: Int
        /// The beginning of its reading: as far before `firstOffset` as duplicates are looked for.
        public private(set) var start = Start.beginning
        /// The offsets that are finished. Nil if the first record will say where it begins, if it is not read, and for large
        /// requests.
        public private(set) var ledger: OffsetLedger?
        /// The open requests, or nil if it does not hold large ones.
        public private(set) var parents: OpenParents?
        /// The requests that duplicates are detected by, or nil when they are not looked for.
        public private(set) var recent: RecentRequests?
        /// The offset before which everything is finished.
        public private(set) var firstOffset: Int64
        /// The first and the last record that were read, or nil when they are not known.
        public private(set) var marks: ReadMarks?
        /// The reach within which the previous owner may have begun requests.
        public private(set) var begun = StartedRange()
        /// The reserve that the position of a partition of requests names.
        public private(set) var reserve = BeginReserve()
        /// True if the position says that no worker is at work here, or there is none that says where it begins. A worker that begins
        /// something and dies must leave one that does not say so.
        public private(set) var isClosed = false
        /// True if where it begins must be committed.
        public private(set) var isDirty = false
        /// The reason why it is not read, or nil if it is.
        public private(set) var refusal: StartRule.Cause?
        /// The number of records that wait in it then, at most, or 0 if it is read.
        public private(set) var refusedCount: Int64 = 0
        /// The reason why it is left as it is, or nil if it is not.
        public private(set) var left: LeaveCause?

        /// A partition that begins with all that is retained.
        fileprivate init(_ index: Int, assigned: Assigned, reach: Int?) {
            self.index = index
            firstOffset = assigned.committed?.offset ?? 0
            if assigned.kind == .requests, let reach {
                recent = RecentRequests(reach: reach, start: max(0, firstOffset.addingSaturated(-Int64(reach))))
            }
        }

        /// Begins where the group stands. Where there was no record between the last one that was read and the position, a record that is
        /// there now came later, in place of what was lost.
        fileprivate mutating func begin(
            at position: LedgerCommit, kind: Kind, end: Int64?, window: Int
        ) throws(FinishedOffsets.DecodingError) {
            let finished = try FinishedOffsets(decoding: position.metadata)
            marks = finished.marks
            if finished.bitCount == 0, let last = marks?.last.offset { firstOffset = min(firstOffset, last.addingSaturated(1)) }
            ledger = OffsetLedger(start: firstOffset, finished: finished, window: window)
            start = .offset(min(recent?.end ?? firstOffset, firstOffset))
            if kind == .requests {
                reserve = BeginReserve(end: finished.begun.map { position.offset.addingSaturated($0) })
            } else {
                isClosed = finished.begun != nil
            }
            begun = StartedRange(from: position.offset, begun: finished.begun, partitionEnd: end)
        }

        /// Leaves it as it is.
        fileprivate mutating func leave(because cause: LeaveCause, kind: Kind) {
            left = cause
            start = .end
            keepPlace(kind)
        }

        /// Gives it a place among those of its kind, of which nothing is committed.
        private mutating func keepPlace(_ kind: Kind) {
            if kind == .parents { parents = OpenParents(start: firstOffset, position: firstOffset) }
        }

        /// Leaves it as it is until its records have said where it begins. What is likely is where its reading starts already.
        fileprivate mutating func wait() {
            left = .unanswered
            ledger = nil
            recent = nil
            isClosed = false
            isDirty = false
            begun = StartedRange()
            reserve = BeginReserve()
        }

        /// Begins where it was decided, or not at all.
        fileprivate mutating func begin(by ruling: Ruling, kind: Kind, window: Int) {
            switch ruling.decision {
            case .offset(let offset):
                start = .offset(offset)
                firstOffset = offset
                isDirty = true
                guard kind != .parents else {
                    // What is there may be finished.
                    parents = OpenParents(start: offset, unknownBefore: ruling.end)
                    return
                }
                ledger = OffsetLedger(start: offset, window: window)
                recent = recent.map { RecentRequests(reach: Int($0.reach), start: offset) }
                isClosed = true
            case .refused:
                refusal = ruling.cause
                refusedCount = ruling.waiting
                start = .end
                keepPlace(kind)
            case .undecided:
                left = .leaderAway
                start = .end
                keepPlace(kind)
            }
        }

        /// Begins with large requests. The metadata of their position says up to where those are finished whose last part has ended, and
        /// which of them are not.
        fileprivate mutating func beginParents(at position: LedgerCommit?) {
            guard let position else {
                parents = OpenParents()
                return
            }
            parents = OpenParents(start: position.offset, metadata: position.metadata)
            marks = OpenParents.marks(in: position.metadata)
            start = .offset(position.offset)
        }
    }
}
