import HubServer

/// Blobs that were put into the feedback container, whatever they hold.
struct ScriptedFeedback: Sendable {
    private(set) var blobs: [String: FeedbackBlob] = [:]

    mutating func put(_ name: String, bytes: [UInt8], isAppended: Bool, at moment: Int64) {
        var blob =
            isAppended
            ? blobs[name] ?? FeedbackBlob(name: name, bytes: [], modified: 0) : .init(name: name, bytes: [], modified: 0)
        blob.bytes += bytes
        blob.modified = moment
        blobs[name] = blob
    }
}

extension HubState {
    /// The blobs of the feedback container by their names: one for each day on which a push service refused devices, and those that
    /// were put there.
    var feedbackBlobs: [FeedbackBlob] {
        var days: [String: [PNSFeedback]] = [:]
        for entry in telemetry.feedback { days[entry.day + "-feedback.xml", default: []].append(entry) }
        var blobs = days.map { name, entries in
            FeedbackBlob(name: name, bytes: PNSFeedback.document(entries), modified: entries.map(\.at).max() ?? 0)
        }
        blobs.removeAll { scriptedFeedback.blobs[$0.name] != nil }
        return (blobs + scriptedFeedback.blobs.values).sorted { $0.name < $1.name }
    }
}
