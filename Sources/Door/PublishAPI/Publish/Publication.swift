import GatewayAPI
import HTTPServing
import HubREST
import Intake
import Publishing
import PushModel

/// The request that a submission becomes, checked.
struct Publication: Sendable {
    /// Room for what the gateway writes into a request: its id and its tenant.
    private static let roomForMembers = 256

    /// Memory in which requests are read and checked, one after the other.
    struct Buffers: Sendable {
        /// Finds what every worker would refuse.
        var trial = RequestTrial()
        /// The hubs that tenants may name. By default none.
        var hubs = HubRoutes(hubs: [], defaultName: nil)
        /// The request that was read last.
        var request = PushRequest()
    }

    /// What is written. It has an id, which is the record's key where nothing else is: so the same call under that id reaches the same
    /// partition, where workers find the repetition.
    let outgoing: OutgoingRequest
    /// When the request is of no more use; nil for never.
    let expiresAt: Timestamp?
    /// The moment before which it is not sent, or nil for none.
    let notBefore: Timestamp?
    /// The tenant that it is for, or nil for none.
    let tenant: String?

    /// Reads and checks a request, and fails with all that is wrong with it. `newID` serves a request that has no id and whose
    /// call has no key.
    init(
        _ submission: Submission, by publisher: Publisher, at now: Timestamp, buffers: inout Buffers, newID: () -> String
    ) throws(APIProblem) {
        guard submission.body.count <= APILimit.requestByteCount else { throw .bodyTooLarge(limit: APILimit.requestByteCount) }
        let rights = PublishRights(publisher: publisher, hubs: buffers.hubs)
        try rights.checkScope()
        let (event, isEnvelope) = try Self.read(submission, at: now, into: &buffers.request)
        try rights.check(buffers.request)
        let findings = buffers.trial.findings(in: buffers.request, now: now)
        let refusals = findings.filter { !$0.isBySettings }.map(\.fault)
        guard refusals.isEmpty else { throw .refused(refusals) }
        try self.init(
            buffers.request, event: event, isEnvelope: isEnvelope, submission: submission, publisher: publisher, newID: newID)
    }

    private init(
        _ request: borrowing PushRequest, event: CloudEvent?, isEnvelope: Bool, submission: Submission,
        publisher: Publisher, newID: () -> String
    ) throws(APIProblem) {
        let tenant = publisher.tenant ?? request.tenant.map { request.document.string($0) }
        let id = Self.id(of: request, for: tenant, in: submission, by: publisher) ?? newID()
        let json = Self.json(of: request, in: submission.body, isEnvelope: isEnvelope, id: id, tenant: publisher.tenant)
        guard json.count <= APILimit.requestByteCount else { throw .refused([Self.tooLarge]) }
        var outgoing = OutgoingRequest(json, saying: request, isEvent: false)
        outgoing.id = id
        outgoing.source = publisher.source
        outgoing.headers = (event?.recordHeaders ?? []) + Self.trace(of: request)
        self.outgoing = outgoing
        expiresAt = request.expiresAt
        notBefore = request.notBefore
        self.tenant = tenant
    }

    /// Reads the body in place of what `request` held. Returns the event that holds the request, if one does, and whether the
    /// event is the body.
    private static func read(
        _ submission: Submission, at now: Timestamp, into request: inout PushRequest
    ) throws(APIProblem) -> (event: CloudEvent?, isEnvelope: Bool) {
        let form = submission.form
        let binary = form == .binaryEvent ? CloudEvent(submission.headers) : nil
        var headers = binary?.allHeaders ?? []
        // Two parents are none, and the state is only read beside a parent (W3C Trace Context, sections 3.2 and 3.3).
        if let parent = submission.headers.single("traceparent") {
            headers.append(("traceparent", parent))
            if let state = submission.headers.list("tracestate") { headers.append(("tracestate", state)) }
        }
        if form == .structuredEvent { headers.append(("content-type", RequestWriter.eventContentType)) }
        let (what, isEnvelope) = StrictReader(headers: headers).read(submission.body, now: now, into: &request)
        if case .unreadable(let reason) = what { throw .unreadable(reason, in: submission.body, from: submission.line) }
        let event = isEnvelope ? CloudEvent(request.document) : binary
        var attributeFaults = event?.faults(in: isEnvelope ? .structuredEvent : form) ?? []
        if attributeFaults.isEmpty, event != nil, !request.hasOwnID {
            var fault = StrictReader.missingEventID
            if !isEnvelope { fault.pointer = "" }
            attributeFaults.append(fault)
        }
        let faults: [RequestFault] = if case .rejected(let found) = what { found } else { [] }
        guard attributeFaults.isEmpty else { throw .invalid(attributeFaults + faults) }
        guard faults.isEmpty else { throw .refused(faults) }
        return (event, isEnvelope)
    }

    /// The request's own id, else the one that its key stands for.
    private static func id(
        of request: borrowing PushRequest, for tenant: String?, in submission: Submission, by publisher: Publisher
    ) -> String? {
        if request.hasOwnID { return request.document.string(request.id) }
        return submission.key?.requestID(tenant: tenant, source: publisher.source, at: submission.index)
    }

    /// The request with id and tenant as members of its own.
    private static func json(
        of request: borrowing PushRequest, in body: [UInt8], isEnvelope: Bool, id: String, tenant: String?
    ) -> [UInt8] {
        let document = request.document
        let node = isEnvelope ? document.member("data", of: document.root) ?? document.root : document.root
        // The document's text is without the members that are null, so that none stands twice.
        let json = isEnvelope || document.hasNull ? Array(document.string(document.text(of: node)).utf8) : body
        guard let brace = json.firstIndex(of: UInt8(ascii: "{")) else { return json }
        var writer = ByteWriter(capacity: json.count + roomForMembers)
        writer.append("{")
        for (name, value) in [("id" as StaticString, id), ("tenant", tenant)] {
            guard let value, document.member(name, of: node) == nil else { continue }
            writer.append(json: name.description)
            writer.append(":", json: value)
            writer.append(",")
        }
        writer.append(json.span.extracting((brace + 1)..<json.count))
        return writer.bytes
    }

    private static func trace(of request: borrowing PushRequest) -> [(name: String, value: String)] {
        guard let parent = request.traceParent else { return [] }
        let state = request.traceState.map { ("tracestate", request.document.string($0)) }
        return [("traceparent", request.document.string(parent))] + (state.map { [$0] } ?? [])
    }

    private static let tooLarge = RequestFault(
        .recordTooLarge, at: "", message: "With its id and tenant the request has more than \(APILimit.requestByteCount) bytes.")
}
