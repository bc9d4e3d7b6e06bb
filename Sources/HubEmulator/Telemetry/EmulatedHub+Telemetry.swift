import HTTPServing
import Synchronization

extension EmulatedHub {
    /// `GET /messages/{id}`: what became of a notification, once it is visible.
    func telemetry(_ call: HubCall, id: String) -> HubAnswer {
        guard call.tier == .standard else { return call.refusedByTier() }
        guard HubIdentifiers.isNotificationID(id) else { return .error(400, "The notification id is not valid") }
        let record = state.withLock { $0.telemetry[id] }
        guard let record, let shown = record.shown(at: call.moment.milliseconds) else {
            return .error(404, "The notification does not exist, or its telemetry is not available yet")
        }
        let authority = call.baseURL.firstRange(of: "://").map { call.baseURL[$0.lowerBound...] } ?? ""
        let location = "sb\(authority)/messages/\(id)?api-version=\(call.apiVersion.text)"
        var details: String?
        if min(call.apiVersion, record.apiVersion) >= .namesErrorDetails, shown.counts.hasFailure {
            details = blobs.link(to: "/blobs/errors/\(id)", at: origin(of: call), call.moment)
        }
        let writer = TelemetryWriter(record: record, shown: shown, location: location, errorDetailsURI: details)
        return .body(200, writer.xml, contentType: "application/xml; charset=utf-8")
    }

    /// `GET /feedbackcontainer`: a link to the container with what the push services told, as plain text.
    func feedbackContainer(_ call: HubCall) -> HubAnswer {
        guard call.tier == .standard else { return call.refusedByTier() }
        guard let link = blobs.link(to: Self.feedbackPath, at: origin(of: call), call.moment, isContainer: true) else {
            return .empty(500)
        }
        return .body(200, Array(link.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// Answers for the storage account behind the links.
    func blob(_ request: HTTPServerRequest) -> HTTPServerResponse {
        let now = clock()
        let parts = request.path.split(separator: "/").map(String.init)
        switch (parts.dropFirst().first, parts.count) {
        case ("errors", 3):
            guard blobs.allows(request, path: "/blobs/errors/\(parts[2])", now: now) else { return Self.noBlob(403) }
            return state.withLock { $0.telemetry[parts[2]] }.map { Self.blob($0.refused) } ?? Self.noBlob(404)
        case ("feedback", 2), ("feedback", 3):
            guard blobs.allows(request, path: Self.feedbackPath, now: now) else { return Self.noBlob(403) }
            let feedback = state.withLock { $0.telemetry.feedback }
            if parts.count == 2 { return Self.listing(feedback) }
            let named = feedback.filter { Self.blobName(of: $0) == parts[2] }
            return named.isEmpty ? Self.noBlob(404) : Self.blob(named)
        default:
            return Self.noBlob(404)
        }
    }

    private static let feedbackPath = "/blobs/feedback"

    private static func blobName(of feedback: PNSFeedback) -> String { feedback.day + "-feedback.xml" }

    private static func blob(_ feedback: [PNSFeedback]) -> HTTPServerResponse {
        HTTPServerResponse(
            status: 200, headers: ["Content-Type": "application/octet-stream"], body: PNSFeedback.document(feedback))
    }

    /// The names in the container, as a storage account lists blobs ("List Blobs").
    private static func listing(_ feedback: [PNSFeedback]) -> HTTPServerResponse {
        var names: [String] = []
        for entry in feedback where !names.contains(blobName(of: entry)) { names.append(blobName(of: entry)) }
        var writer = XMLWriter()
        writer.element("EnumerationResults") { writer in
            writer.element("Blobs") { writer in
                for name in names {
                    writer.element("Blob") { $0.element("Name", text: name) }
                }
            }
        }
        return HTTPServerResponse(status: 200, headers: ["Content-Type": "application/xml"], body: writer.bytes)
    }

    private static func noBlob(_ status: Int) -> HTTPServerResponse {
        let code = status == 403 ? "AuthenticationFailed" : "BlobNotFound"
        let body = Array("<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>\(code)</Code></Error>".utf8)
        return HTTPServerResponse(status: status, headers: ["Content-Type": "application/xml"], body: body)
    }

    /// Scheme and authority of the links in answers.
    private func origin(of call: HubCall) -> String { String(call.baseURL.dropLast(configuration.hubName.count + 1)) }
}
