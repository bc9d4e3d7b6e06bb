import JobSupport
import Kafka
import PushModel

/// The positions up to which the blobs of a hub's feedback were read: records of the topic of replays, in the transactions of the
/// findings.
///
/// A mark is written again while its blob is there, so that it is not removed from the topic before the blob is from its container.
struct FeedbackMarks {
    /// The position up to which one blob was read.
    struct Mark: Equatable {
        /// The bytes that were read.
        var position: Int64
        /// The time of writing, in milliseconds since 1970.
        var at: Int64
    }

    /// A mark is written again after this time, in milliseconds: a week.
    static let lifetime: Int64 = 604_800_000

    /// The marks by the names of the blobs.
    private(set) var marks: [String: Mark] = [:]
    /// The latest run that claimed to be the one.
    private(set) var runner: String?
    /// The key of the claim, and with a slash behind what the keys of marks begin with.
    private let claim: [UInt8]
    private var document = JSONDocument()

    /// No marks yet of the hub at `place`: namespace and name.
    init(of place: String) {
        claim = Self.claimKey(place)
    }

    /// The key of a claim. Neither a namespace nor a hub's name has a slash.
    static func claimKey(_ place: String) -> [UInt8] { Array("feedback/\(place)".utf8) }

    static func key(_ place: String, _ blob: String) -> [UInt8] { claimKey(place) + Array("/\(blob)".utf8) }

    static func claim(of runner: String) -> [UInt8] {
        JSONObject(["schema_version": 1, "kind": "feedback_claim", "runner": runner]).bytes
    }

    static func value(_ blob: String, _ position: Int64) -> [UInt8] {
        JSONObject(["schema_version": 1, "kind": "feedback", "blob": blob, "read": Int(position)]).bytes
    }

    /// Takes a record in. Records of others are skipped.
    mutating func take(_ record: borrowing ConsumedRecord) {
        guard let key = record.key, let value = record.value else { return }
        take(key: key, value: value, at: record.timestamp ?? 0)
    }

    /// Takes the parts of a record in.
    mutating func take(key: Span<UInt8>, value: Span<UInt8>, at moment: Int64) {
        guard key.count >= claim.count, claim.indices.allSatisfy({ key[$0] == claim[$0] }),
            key.count == claim.count || key[claim.count] == UInt8(ascii: "/"), (try? document.read(value)) != nil
        else { return }
        switch document.text("kind", of: document.root) {
        case "feedback_claim": runner = document.text("runner", of: document.root)
        case "feedback":
            // No blob is as long as 2^53 bytes.
            guard let blob = document.text("blob", of: document.root),
                let position = document.integer("read", of: document.root), (0...1 << 53).contains(position)
            else { return }
            marks[blob] = Mark(position: position, at: moment)
        default: return
        }
    }
}

extension JobContext {
    /// Reads how far the feedback of the hub at `place` was read, without claiming anything. Without a topic there are no marks.
    func feedbackMarks(of place: String) throws(JobFailure) -> FeedbackMarks {
        var marks = FeedbackMarks(of: place)
        try readJobs { marks.take($0) }
        return marks
    }
}
