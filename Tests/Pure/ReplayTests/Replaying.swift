import FanOut
import PushModel
import Testing

@testable import Replay

/// Originals, and the requests that repeat some of their sends.
struct Replaying {
    var writer: ReplayWriter
    let planner = FanOutPlanner()

    init(_ edits: [String] = [], expiry: NewExpiry? = nil, tenant: String? = nil) throws {
        let author = ReplayAuthor(jobID: "job", actor: "ann", reason: "hub outage")
        writer = ReplayWriter(
            .init(author: author, edits: try edits.map { try RequestEdit($0) }, expiry: expiry, tenant: tenant),
            planner: FanOutPlanner())
    }

    /// The time of the originals' records.
    static let published = Timestamp(milliseconds: 1_795_262_400_000 - 60_000)

    /// Reads an original at offset 17.
    mutating func read(
        _ json: String, _ headers: [String: String] = [:], calls: (count: Int, platforms: PlatformSequence)? = nil,
        as original: Original = placed, at now: Int64 = 1_795_262_400_000
    ) -> Leftover? {
        var known = RecordHeaders()
        for (name, value) in headers { known.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        return writer.read(
            Array(json.utf8).span, headers: known, as: original, time: Self.published,
            calls: calls,
            now: Timestamp(milliseconds: now))
    }

    /// The new requests for some sends.
    mutating func write(_ sends: SendSet) throws -> [String] {
        var texts: [String] = []
        for (number, part) in writer.requests(for: sends).enumerated() {
            var json = ByteWriter()
            try #require(writer.write(part, id: "job:\(number)", into: &json), "\(json.text)")
            texts.append(json.text)
        }
        return texts
    }

    /// The first new request for all sends.
    mutating func writeFirst() throws -> String {
        let texts = try write(.all)
        return try #require(texts.first)
    }

    /// The calls that a request becomes: platform and tags or handles of each.
    static func calls(_ json: String) throws -> [String] {
        var request = PushRequest()
        var plan = FanOutPlan()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader(.strict, from: .own).read(
            Array(json.utf8).span, headers: RecordHeaders(), origin: origin, into: &request)
        try #require(reading == .request, "\(json) \(reading)")
        try FanOutPlanner().plan(request, into: &plan)
        return plan.calls.map { call in
            let platform = call.platform.map { "\($0)" } ?? "template"
            switch call.target {
            case .broadcast: return "\(platform) everybody"
            case .tags(let tags):
                let span = plan.span(tags)
                return "\(platform) \(String(decoding: span.indices.map { span[$0] }, as: UTF8.self))"
            case .device(let handle): return "\(platform) \(request.document.string(handle))"
            case .devices(let handles): return "\(platform) \(handles.map { request.document.string($0) })"
            }
        }
    }
}
