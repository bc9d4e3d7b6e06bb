import Basics
public import PushModel

/// The records of the topic of parents, in the order in which they are read.
extension OpenParents {
    /// The consequence of a record.
    public enum Consequence: Sendable {
        /// Nothing has to be written.
        case none
        /// The last part of a request has ended. Its result must be written.
        case finish(Finished)
        /// No open request has this part. Its record must be deleted.
        case delete(ParentKey, chunk: Int)
        /// No writer of parents has written the record. Its request may stay without a result.
        case unreadable
    }

    /// Takes in a record.
    ///
    /// - Parameters:
    ///   - key: The record's key.
    ///   - value: The record's value, or nil if it deletes the one before it.
    ///   - offset: The record's offset.
    ///   - timestamp: The record's time.
    /// - Returns: The consequence.
    public mutating func take(
        key: Span<UInt8>?, value: Span<UInt8>?, at offset: Int64, timestamp: Timestamp
    ) -> Consequence {
        latest = latest.map { max($0, timestamp) } ?? timestamp
        guard let key, let (parent, role) = ParentKey.read(key) else { return pass(offset, as: .unreadable) }
        return switch role {
        case .parent: takeParent(parent, value: value, at: offset, timestamp: timestamp)
        case .part(let chunk): takePart(chunk, of: parent, value: value, at: offset)
        case .progress, .claim: pass(offset, as: .none)
        }
    }

    private mutating func takeParent(
        _ key: ParentKey, value: Span<UInt8>?, at offset: Int64, timestamp: Timestamp
    ) -> Consequence {
        guard let value else {
            deleted(key, at: offset)
            return .none
        }
        guard let record = ParentRecord(value) else { return pass(offset, as: .unreadable) }
        var bytes = ByteWriter(capacity: value.count)
        bytes.append(value)
        opened(key, record: bytes.bytes, chunks: record.chunks, at: offset, timestamp: timestamp)
        return .none
    }

    private mutating func takePart(_ chunk: Int, of key: ParentKey, value: Span<UInt8>?, at offset: Int64) -> Consequence {
        guard let value else { return pass(offset, as: .none) }
        guard let tally = PartTally(value, chunk: chunk) else { return pass(offset, as: .unreadable) }
        let isStray = isStray(key, chunk: chunk, at: offset)
        if isStray { deletes(key, at: offset) }
        if let finished = notePart(key, tally: tally, at: offset) { return .finish(finished) }
        return isStray ? .delete(key, chunk: chunk) : .none
    }

    private mutating func pass(_ offset: Int64, as consequence: Consequence) -> Consequence {
        passed(offset.addingSaturated(1))
        return consequence
    }
}
