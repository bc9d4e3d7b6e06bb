import Basics
import FanOut
import Publishing
import PushModel
import Settings

/// The request that is sent to the audience of a file: the request of the command line, without an audience yet.
struct AudienceRequest {
    /// The request as JSON, with its id.
    let json: [UInt8]
    /// The request as it was read.
    let request: PushRequest

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - json: The request, with its id and any audience.
    ///   - moment: The time of publication, from which its life counts.
    /// - Throws: The first fault.
    init(_ json: [UInt8], publishedAt moment: Int64) throws(CommandFailure) {
        var request = PushRequest()
        let origin = RecordOrigin(topic: "input", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: moment))
        let reading = RequestReader(.strict).read(
            json.span, headers: PushModel.RecordHeaders(), origin: origin, into: &request)
        switch reading {
        case .request: break
        case .rejected(let faults):
            let fault = faults.first
            throw .usage("the flags: \(Sanitised.line(fault?.pointer ?? "")): \(fault?.message ?? "no request")")
        case .unreadable(let failure): throw .usage("the flags: \(failure.message)")
        }
        self.json = json
        self.request = request
    }

    /// The request that the flags describe.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - id: Its id, if the flags give none.
    ///   - moment: Now, milliseconds since 1970.
    /// - Throws: A flag, or the request, is not right.
    init(_ invocation: Invocation, id: String, at moment: Int64) throws(CommandFailure) {
        let json = try RequestFlags.json(invocation.arguments, now: moment)
        let own = invocation.arguments.value("id")
        try self.init(OutgoingRequest(json: json, id: own).json(withID: id), publishedAt: moment)
    }

    /// The digest of what makes a request: its flags, the file, and how it is divided. Lengths of time count, not the moments they lead to.
    static func digest(
        _ arguments: Arguments, _ survey: AudienceSurvey, _ planner: FanOutPlanner, _ request: PushRequest
    ) throws(CommandFailure) -> String {
        var hash = FNV1a(after: survey.digest)
        hash.add(try RequestFlags.json(arguments, now: 0))
        hash.add(planner.platforms(of: request).rawValue)
        hash.add(UInt8(truncatingIfNeeded: planner.maximumCalls))
        for hub in survey.spread?.hubs ?? [] { hash.add([0] + Array(hub.utf8)) }
        return Hexadecimal.text(hash.value)
    }
}
