import Basics
import Delivery
package import JobSupport
import Kafka
package import Outcomes
import PushModel

/// Reads a hub's feedback, blob after blob and piece after piece, and lists the dead handles in it.
///
/// A collection belongs to one thread at a time.
package struct FeedbackCollection {
    /// The result for one blob.
    package struct Row {
        /// The blob's name.
        package internal(set) var blob: String
        /// The bytes that were read now.
        package internal(set) var byteCount: Int64 = 0
        /// The entries in them.
        package internal(set) var entries = 0
        /// The dead handles in them, each once in a run.
        package internal(set) var handles = 0
        /// Entries that could not be read.
        package internal(set) var unreadable = 0
        /// The reason for which it was not read to its end, or an entry was skipped, or nil without trouble.
        package internal(set) var problem: String?
    }

    /// A blob whose end is not whole is being written, for as long in milliseconds after it was written last: a day.
    private static let writingTime: Int64 = 86_400_000
    /// The most handles that are remembered, so that a handle that was refused often is listed once. At this limit all are
    /// forgotten.
    private static let maximumRemembered = 1 << 18

    private let container: FeedbackContainer
    private let context: JobContext
    /// Takes the findings, or nil to find only.
    private let session: HandlesSession?
    private let marks: FeedbackMarks

    /// The result for each blob that has something new, or trouble.
    package private(set) var rows: [Row] = []
    /// True if it was cancelled before all was read.
    package private(set) var isInterrupted = false
    private var seen: Set<[UInt8]> = []
    private var fading: [(blob: String, position: Int64)] = []

    /// Finds how far the feedback was read, and takes the right to read on, unless it is dry and writes nothing.
    package init(of container: FeedbackContainer, isDry: Bool, context: JobContext) throws(JobFailure) {
        self.container = container
        self.context = context
        guard !isDry else {
            (session, marks) = (nil, try context.feedbackMarks(of: container.place))
            return
        }
        let opened = try JobFailure.naming(.collect(topic: context.topics.handles)) { () throws(KafkaError) in
            try HandlesSession(for: container.place, hubName: container.hubName, context: context)
        }
        (session, marks) = (opened, opened.marks)
    }

    /// Reads what is new in the blobs, the oldest first. After an error the rows are those up to then. `progress` gets the number
    /// of blobs that were dealt with, before each.
    package mutating func read(_ blobs: [BlobListing.Blob], progress: (Int, Self) -> Void) throws(JobFailure) {
        for (index, blob) in blobs.enumerated() {
            guard !context.isCancelled() else {
                isInterrupted = true
                return
            }
            progress(index, self)
            let mark = marks.marks[blob.name]
            if let mark, blob.byteCount == mark.position {
                if context.now() - mark.at > FeedbackMarks.lifetime { fading.append((blob.name, mark.position)) }
                continue
            }
            try read(blob, from: mark?.position ?? 0)
        }
        for start in stride(from: 0, to: fading.count, by: 1000) {
            let part = Array(fading[start..<min(start + 1000, fading.count)])
            try JobFailure.naming(.collect(topic: context.topics.handles)) { () throws(KafkaError) in try session?.refresh(part) }
        }
    }

    /// The entries in all blobs.
    package var entries: Int { rows.reduce(0) { $0 + $1.entries } }
    /// The dead handles in all blobs.
    package var handles: Int { rows.reduce(0) { $0 + $1.handles } }

    private mutating func read(_ blob: BlobListing.Blob, from start: Int64) throws(JobFailure) {
        var position = start
        // A blob that is shorter than what was read of it is another one.
        if let count = blob.byteCount, count < start { position = 0 }
        rows.append(Row(blob: blob.name))
        defer { if let row = rows.last, row.byteCount == 0, row.problem == nil { rows.removeLast() } }
        while !context.isCancelled() {
            switch try container.read(blob.name, from: position) {
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
    ) throws(JobFailure) {
        var found: [FoundHandle] = []
        for device in piece.devices where device.outcome.isHandleDead {
            let hashed = DeviceToken.hashedForm(of: device.handle, on: Platform(name: device.platform))
            let fingerprint = SHA256.hexadecimalDigest(of: Array(hashed.utf8))
            guard !seen.contains(fingerprint) else { continue }
            if seen.count >= Self.maximumRemembered { seen.removeAll(keepingCapacity: true) }
            seen.insert(fingerprint)
            found.append(FoundHandle(device: device, fingerprint: fingerprint))
        }
        let moment = Timestamp(milliseconds: context.now())
        try JobFailure.naming(.collect(topic: context.topics.handles)) { () throws(KafkaError) in
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
        let now = Timestamp(milliseconds: context.now())
        let isRecent =
            blob.modified.map { now.milliseconds(since: $0) < Self.writingTime } ?? true
        guard byteCount >= FeedbackPiece.maximumEntryByteCount || !isRecent else { return }
        note("what follows is no feedback")
    }

    private mutating func note(_ trouble: String) {
        rows[rows.count - 1].problem = rows[rows.count - 1].problem ?? trouble
    }
}
