internal import HTTPServing
internal import Intake
internal import Publishing
internal import PushModel

extension APIAnswer {
    /// 200 with what a request would become.
    ///
    /// - Parameters:
    ///   - publication: The request.
    ///   - now: When it would be written.
    ///   - topics: The topics of requests.
    ///   - newID: The id that was made for it. It says nothing about another call.
    ///   - trial: Plans and formats.
    /// - Throws: 422.
    init(
        explaining publication: Publication, at now: Timestamp, in topics: RequestTopics, without newID: String,
        _ trial: inout RequestTrial
    ) throws(APIProblem) {
        var request = PushRequest()
        _ = StrictReader().read(publication.outgoing.json, now: now, into: &request)
        let preview: RequestTrial.Preview
        do throws(RequestFault) { preview = try trial.preview(of: request, now: now) } catch { throw .refused([error]) }
        var json = ByteWriter()
        json.append("{\"valid\":true,\"platforms\":[")
        for (index, content) in preview.contents.filter({ $0.platform != nil }).enumerated() {
            if index > 0 { json.append(",") }
            json.append(json: content.name)
        }
        json.append("],\"bytes\":{")
        for (index, content) in preview.contents.enumerated() {
            if index > 0 { json.append(",") }
            json.append(json: content.name)
            json.append(":")
            json.append(decimal: content.byteCount)
        }
        json.append("},\"calls\":")
        json.append(decimal: preview.callCount)
        json.append(",\"may_reach_twice\":")
        json.append(preview.mayReachTwice ? "true" : "false")
        json.append(",\"lane\":")
        json.append(json: Self.lane(of: publication.outgoing.priority))
        json.append(",\"topic\":")
        json.append(json: topics.name(for: publication.outgoing.priority))
        if let key = publication.outgoing.recordKey, key != newID {
            json.append(",\"record_key\":")
            json.append(json: key)
        }
        json.append("}")
        self.init(status: 200, json: json.bytes)
    }

    private static func lane(of priority: PushRequest.Priority) -> String {
        switch priority {
        case .high: "high"
        case .normal: "normal"
        case .low: "bulk"
        }
    }
}

extension RequestTrial.Preview.Content {
    /// The platform's name, or `template`.
    fileprivate var name: String { platform.map { "\($0.name)" } ?? "template" }
}
