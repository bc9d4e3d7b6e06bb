import PushModel
import Testing

@testable import Replay

/// A result's JSON, as a worker writes it, of calls that ended in these ways.
func result(
    _ outcomes: [String], at place: String = "push.requests.v1:3:17", id: String = "r-1", kind: String = "final",
    planned: Int? = nil, outcome: String = "transient", platforms: [String] = [], replay: String? = nil, faults: [String] = [],
    published: String? = nil
) -> String {
    let sends = outcomes.enumerated().map { index, outcome in
        let platform = platforms.isEmpty ? "apple" : platforms[index]
        let words = outcome.split(separator: ":")
        let code = words.count == 2 ? #","error_code":"\#(words[1])""# : ""
        return #"{"index":\#(index),"platform":"\#(platform)","outcome":"\#(words[0])"\#(code)}"#
    }
    let list = faults.map { #"{"code":"\#($0)"}"# }.joined(separator: ",")
    let error = faults.first.map { #","error":{"code":"\#($0)","faults":[\#(list)]}"# } ?? ""
    let parts = place.split(separator: ":")
    let timings = published.map { #","timings":{"published_at":"\#($0)"}"# } ?? ""
    let hasFailed = outcomes.contains { $0 != "success" }
    let state = !hasFailed ? "sent" : outcomes.contains("success") ? "partial" : "failed"
    return """
        {"schema_version":1,"request_id":"\(id)","kind":"\(kind)","state":"\(state)","outcome":"\(outcome)"\(error),\
        "sends":[\(sends.joined(separator: ","))],"targets":{"planned":\(planned ?? outcomes.count)},\
        "origin":{"topic":"\(parts[0])","partition":\(parts[1]),"offset":"\(parts[2])"}\(timings)\(replay.map { ",\"replay\":\($0)" } ?? "")}
        """
}

func document(_ json: String) throws -> JSONDocument {
    var document = JSONDocument()
    try document.read(Array(json.utf8).span)
    return document
}

func settled(_ json: String) throws -> SettledResult { try #require(SettledResult(try document(json))) }

/// Where the results of `result` say that their request stands.
let place = RecordPlace(topic: "push.requests.v1", partition: 3, offset: 17)

/// The same, as what was written before ids and times stood beside places names it.
let placed = Original(at: place)

/// What a lineage says of the request that it repeats, and the job.
func lineage(_ original: Original, sends: [Int], job: String = "j") -> String {
    let id = original.id.map { #""parent_request_id":"\#($0)","# } ?? ""
    let time = original.publishedAt.map { #""parent_published_at":"\#($0.text)","# } ?? ""
    let list = sends.map { "\($0)" }.joined(separator: ",")
    return #"{\#(id)\#(time)"parent_origin":"\#(original.place)","job_id":"\#(job)","sends":[\#(list)]}"#
}
