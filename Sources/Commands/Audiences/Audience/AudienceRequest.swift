import Basics
package import FanOut
package import JobSupport
package import PushModel

/// The request that is sent to the audience of a file: a request without an audience yet.
package struct AudienceRequest {
    /// The request as JSON, with its id.
    package let json: [UInt8]
    /// The request as it was read.
    package let request: PushRequest

    /// Reads a request with its id and any audience. Its life counts from the publication, in milliseconds since 1970.
    package init(_ json: [UInt8], publishedAt moment: Int64) throws(JobFailure) {
        var request = PushRequest()
        let origin = RecordOrigin(topic: "input", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: moment))
        let reading = RequestReader(.strict).read(
            json.span, headers: PushModel.RecordHeaders(), origin: origin, into: &request)
        switch reading {
        case .request: break
        case .rejected(let faults):
            let fault = faults.first
            throw .room(AudienceFailure.invalidRequest("\(fault?.pointer ?? ""): \(fault?.message ?? "no request")"))
        case .unreadable(let failure): throw .room(AudienceFailure.invalidRequest(failure.message))
        }
        self.json = json
        self.request = request
    }

    /// The digest of what makes a request: its description, the file, and how it is divided. Lengths of time count from 0 in the
    /// description, so that they are the same in every run.
    package static func digest(
        of description: [UInt8], survey: AudienceSurvey, planner: FanOutPlanner, request: PushRequest
    ) -> String {
        var hash = FNV1a(after: survey.digest)
        hash.add(description)
        hash.add(planner.platforms(of: request).rawValue)
        hash.add(UInt8(truncatingIfNeeded: planner.maximumCalls))
        for hub in survey.spread?.hubs ?? [] { hash.add([0] + Array(hub.utf8)) }
        return Hexadecimal.text(hash.value)
    }
}
