import GatewayAPI
import HTTPServing
import PushModel

extension APIAnswer {
    /// The answer for a request that came alone.
    init(_ outcome: PublishOutcome) {
        switch outcome {
        case .written(let request):
            self.init(status: 202, json: Self.accepted(request), headers: ["Location": request.location])
        case .refused(let problem): self.init(problem)
        }
    }

    /// The body of a 202.
    private static func accepted(_ request: WrittenRequest) -> [UInt8] {
        var json = ByteWriter()
        json.append("{\"id\":", json: request.id)
        json.append(",\"state\":\"accepted\"")
        json.append(placeIn: request.topic, partition: request.partition, offset: request.offset)
        json.append(",\"accepted_at\":\"")
        json.append(request.acceptedAt)
        if let expiry = request.expiresAt {
            json.append("\",\"expires_at\":\"")
            json.append(expiry)
        }
        json.append("\"}")
        return json.bytes
    }
}
