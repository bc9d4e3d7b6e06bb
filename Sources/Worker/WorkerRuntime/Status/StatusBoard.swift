import PushModel
import Synchronization

/// The board on which the loops of a process write down once a second what they know, and others read it. Safe from any thread.
public final class StatusBoard: Sendable {
    /// Each loop's last word, by its member's name. Nothing else is locked while it is held.
    private let loops = Mutex<[String: LoopStatus]>([:])

    /// A board on which nothing stands yet.
    public init() {}

    /// The last statuses that the loops wrote down, by their names.
    public var statuses: [LoopStatus] {
        loops.withLock { loops in loops.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Writes down a status with all its partitions.
    func post(_ status: LoopStatus) { loops.withLock { $0[status.worker] = status } }

    /// Writes down a status of which the partitions are those of the loop's last one, but for these `entries`. They are changed in place,
    /// unless a reader still has the last one, which it keeps as it is.
    func post(_ status: LoopStatus, changing entries: [(slot: Int, entry: LoopStatus.Partition)]) {
        loops.withLock { loops in
            var status = status
            if let index = loops.index(forKey: status.worker) { swap(&loops.values[index].partitions, &status.partitions) }
            for (slot, entry) in entries where status.partitions.indices.contains(slot) { status.partitions[slot] = entry }
            loops[status.worker] = status
        }
    }

    /// Writes everything as one JSON object.
    ///
    /// - Parameters:
    ///   - version: The program's version.
    ///   - hub: The hub's name.
    /// - Returns: The object, with an array `loops`.
    public func json(version: String, hub: String) -> [UInt8] {
        let statuses = statuses
        var writer = ByteWriter(capacity: 2048)
        writer.appendBeginning(version: version, hub: hub, of: statuses)
        for (index, status) in statuses.enumerated() {
            if index > 0 { writer.append(",") }
            writer.appendHead(of: status)
            writer.add("hubs", list: status.hubs) { $0.append($1) }
            writer.add("partitions", list: status.partitions) { $0.append($1) }
            writer.append("}")
        }
        writer.append("]}\n")
        return writer.bytes
    }

    /// Writes what matters most of it as one JSON object of at most 4,096 bytes, or nil while nothing stands on the board.
    ///
    /// - Parameters:
    ///   - version: The program's version.
    ///   - hub: The hub's name.
    /// - Returns: The object, or nil.
    func record(version: String, hub: String) -> [UInt8]? {
        let statuses = statuses
        return statuses.isEmpty ? nil : StatusRecord(statuses, version: version, hub: hub).json
    }
}
