import PushModel

/// The mark behind a digest, in the topic of the history: all incidents that were known at its time stand before it once more, so whoever has
/// read from then on need not read the days before. Its records are those of incidents, and earlier versions pass over the mark.
struct IncidentDigest: Sendable, Equatable {
    /// The time between two digests of all gateways, 1 h in milliseconds: without them a start reads the minutes of 14 days.
    static let interval: Int64 = 3_600_000
    /// The time before a digest in which others may have written what it does not have, 10 min in milliseconds. Clocks differ, too.
    static let slack: Int64 = 600_000

    private static let mark = Array(#"{"digest":{"#.utf8)
    private static let largestRecord = 256

    /// The time of its beginning, in milliseconds since 1970.
    let at: Int64

    /// A digest that begins at a time in milliseconds since 1970.
    init(at moment: Int64) { at = moment }

    /// Reads a record of the topic. Anything else gives nil.
    init?(record: Span<UInt8>) {
        guard Self.mark.count < record.count, record.count <= Self.largestRecord else { return nil }
        for place in Self.mark.indices where record[place] != Self.mark[place] { return nil }
        var document = JSONDocument()
        guard (try? document.read(record)) != nil, let node = document.member("digest", of: document.root),
            let moment = document.text("at", of: node).flatMap({ Timestamp($0.utf8.span) })
        else { return nil }
        self.init(at: moment.milliseconds)
    }

    /// The record.
    var record: [UInt8] {
        var json = JSONObject()
        json.add("digest", raw: JSONObject(["at": Timestamp(milliseconds: at).text]).bytes)
        return json.bytes
    }
}
