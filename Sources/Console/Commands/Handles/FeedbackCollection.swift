import Crypto
import FanOut
import Jobs
import Kafka
import Outcomes
import PushModel
import Settings

/// Reads a hub's feedback, blob after blob and piece after piece, and lists the dead handles in it.
struct FeedbackCollection {
    /// The result for one blob.
    struct Row {
        var blob: String
        /// The bytes that were read now, and the entries in them.
        var byteCount: Int64 = 0
        var entries = 0
        /// The dead handles in them, each once in a run.
        var handles = 0
        /// Entries that could not be read.
        var unreadable = 0
        /// The reason for which it was not read to its end, or an entry was skipped, or nil without trouble.
        var trouble: String?
    }

    /// A blob whose end is not whole is being written, for as long in milliseconds after it was written last: a day.
    private static let writingTime: Int64 = 86_400_000
    /// The most handles that are remembered, so that a handle that was refused often is listed once. At this limit all are
    /// forgotten.
    private static let maximumRemembered = 1 << 18

    let container: FeedbackContainer
    /// Takes the findings, or nil to find only.
    let session: HandlesSession?
    let marks: FeedbackMarks
    let now: @Sendable () -> Int64
    let progress: CollectionProgress

    /// The result for each blob that has something new, or trouble.
    private(set) var rows: [Row] = []
    private(set) var isInterrupted = false
    private var seen: Set<[UInt8]> = []
    private var fading: [(blob: String, position: Int64)] = []

    init(
        _ container: FeedbackContainer, _ session: HandlesSession?, _ marks: FeedbackMarks, now: @escaping @Sendable () -> Int64,
        _ progress: CollectionProgress
    ) {
        self.container = container
        self.session = session
        self.marks = marks
        self.now = now
        self.progress = progress
    }

    /// Reads what is new in the blobs.
    ///
    /// - Throws: `CommandSessionFailure.final` when hub or storage account do not go on, `.kafka` when Kafka does not.
    mutating func read(_ blobs: [BlobListing.Blob]) throws(CommandSessionFailure) {
        for (index, blob) in blobs.enumerated() {
            guard !Interruption.isRequested else {
                isInterrupted = true
                return
            }
            progress.show(index, of: blobs.count, entries: entries, handles: handles)
            let mark = marks.marks[blob.name]
            if let mark, blob.byteCount == mark.position {
                if now() - mark.at > FeedbackMarks.lifetime { fading.append((blob.name, mark.position)) }
                continue
            }
            try read(blob, from: mark?.position ?? 0)
        }
        for start in stride(from: 0, to: fading.count, by: 1000) {
            let part = Array(fading[start..<min(start + 1000, fading.count)])
            try CommandSessionFailure.catching { () throws(KafkaError) in try session?.refresh(part) }
        }
    }

    var entries: Int { rows.reduce(0) { $0 + $1.entries } }
    var handles: Int { rows.reduce(0) { $0 + $1.handles } }

    private mutating func read(_ blob: BlobListing.Blob, from start: Int64) throws(CommandSessionFailure) {
        var position = start
        // A blob that is shorter than what was read of it is another one.
        if let count = blob.byteCount, count < start { position = 0 }
        rows.append(Row(blob: blob.name))
        defer { if let row = rows.last, row.byteCount == 0, row.trouble == nil { rows.removeLast() } }
        while !Interruption.isRequested {
            let reading = try CommandSessionFailure.ending { () throws(CommandFailure) in
                try container.read(blob.name, from: position)
            }
            switch reading {
            case .end: return
            case .gone: return note("it is not there any more")
            case .unusable: return note("its name cannot be asked for")
            case .piece(let bytes, let isLast):
                let piece = FeedbackPiece(reading: bytes.span)
                if piece.byteCount > 0 {
                    position += Int64(piece.byteCount)
                    try take(piece, of: blob.name, upTo: position)
                }
                let rest = bytes.count - piece.byteCount
                if isLast || piece.byteCount == 0 {
                    if rest > 0 { noteRest(rest, of: blob) }
                    return
                }
            }
        }
        isInterrupted = true
    }

    private mutating func take(
        _ piece: FeedbackPiece, of blob: String, upTo position: Int64
    ) throws(CommandSessionFailure) {
        var found: [FoundHandle] = []
        for device in piece.devices where device.outcome.isHandleDead {
            let hashed = DeviceToken.hashedForm(of: device.handle, on: Platform(name: device.platform))
            guard let fingerprint = try? SHA256.hexadecimalDigest(of: Array(hashed.utf8)) else {
                throw .final(CommandFailure(.failed, "the fingerprint of a handle cannot be computed"))
            }
            guard !seen.contains(fingerprint) else { continue }
            if seen.count >= Self.maximumRemembered { seen.removeAll(keepingCapacity: true) }
            seen.insert(fingerprint)
            found.append(FoundHandle(device: device, fingerprint: fingerprint))
        }
        let moment = Timestamp(milliseconds: now())
        try CommandSessionFailure.catching { () throws(KafkaError) in
            try session?.write(found, of: blob, upTo: position, now: moment)
        }
        let last = rows.count - 1
        rows[last].byteCount += Int64(piece.byteCount)
        rows[last].entries += piece.devices.count + piece.unreadableCount
        rows[last].handles += found.count
        rows[last].unreadable += piece.unreadableCount
        if let fault = piece.fault { note("an entry cannot be read: \(fault)") }
    }

    /// Notes a broken end of a blob. An entry that may still be written to its end comes with the next run.
    private mutating func noteRest(_ byteCount: Int, of blob: BlobListing.Blob) {
        let isRecent = blob.modified.map { Timestamp(milliseconds: now()).milliseconds(since: $0) < Self.writingTime } ?? true
        guard byteCount >= FeedbackPiece.maximumEntryByteCount || !isRecent else { return }
        note("what follows is no feedback")
    }

    private mutating func note(_ trouble: String) {
        rows[rows.count - 1].trouble = rows[rows.count - 1].trouble ?? trouble
    }
}

/// Shows the progress of a collection: all the time on a terminal, now and then elsewhere.
final class CollectionProgress {
    private let streams: Streams
    private var next: ContinuousClock.Instant

    init(_ streams: Streams) {
        self.streams = streams
        next = .now + Self.interval(streams)
    }

    private static func interval(_ streams: Streams) -> Duration {
        streams.traits.isErrorTerminal ? .milliseconds(200) : .seconds(10)
    }

    /// Shows how far it is, but not too often.
    func show(_ count: Int, of total: Int, entries: Int, handles: Int) {
        guard ContinuousClock.now >= next else { return }
        next = .now + Self.interval(streams)
        let text = "\(count) of \(total) blobs, \(entries) entries, \(handles) dead handles"
        if streams.traits.isErrorTerminal { streams.showStatus(text) } else { streams.note(text) }
    }

    /// Removes the shown text.
    func end() { streams.showStatus(nil) }
}
