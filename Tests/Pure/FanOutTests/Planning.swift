import FanOut
import PushModel
import Testing

/// Plans made as the worker makes them, with the headers that they lead to.
struct Planning {
    var planner = FanOutPlanner()
    var request = PushRequest()
    var plan = FanOutPlan()

    init(_ configuration: FanOutPlanner.Configuration = .init()) {
        planner = FanOutPlanner(configuration)
    }

    /// A planner for one platform, so that the number of calls is the number of parts of the audience.
    static var forApple: Planning {
        var configuration = FanOutPlanner.Configuration()
        configuration.defaultPlatforms = PlatformSet(.apple)
        return Planning(configuration)
    }

    /// Reads a record with `members`, to which content is added where it names none, and plans it.
    mutating func plan(_ members: String) throws {
        try read(members)
        try planner.plan(request, into: &plan)
    }

    mutating func read(_ members: String) throws {
        let hasContent = ["\"message\"", "\"payloads\"", "\"template\""].contains { members.contains($0) }
        let record = "{\(members)\(hasContent ? "" : #","message":{"title":"Hi"}"#)}"
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader(from: .own).read(
            Array(record.utf8).span, headers: RecordHeaders(), origin: origin, into: &request)
        try #require(reading == .request, "\(record)")
    }

    /// The fault that planning ends in; none is a failure of the test.
    mutating func fault(_ members: String) throws -> RequestFault {
        try read(members)
        let fault = try #require(throws: RequestFault.self) { try planner.plan(request, into: &plan) }
        #expect(plan.calls.isEmpty)
        return fault
    }

    /// The tags of each call, in order; a call without tags fails the test.
    func tags() throws -> [String] { try plan.calls.map { try #require(tags(of: $0)) } }

    func tags(of call: FanOutPlan.Call) -> String? {
        guard case .tags(let tags) = call.target else { return nil }
        let span = plan.span(tags)
        return String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
    }

    /// The handles of a call to devices.
    func handles(of call: FanOutPlan.Call) -> [String] {
        switch call.target {
        case .device(let handle): [request.document.string(handle)]
        case .devices(let handles): handles.map { request.document.string($0) }
        case .tags, .broadcast: []
        }
    }
}

/// A JSON array of strings.
func list(_ names: [String]) -> String { "[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]" }

/// An audience of devices.
func devices(_ devices: [(platform: String, handle: String)]) -> String {
    let elements = devices.map { #"{"platform":"\#($0.platform)","handle":"\#($0.handle)"}"# }
    return #""audience":{"devices":[\#(elements.joined(separator: ","))]}"#
}
