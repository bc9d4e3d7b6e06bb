import HTTPServing
import Synchronization

extension EmulatedHub {
    /// `GET /messages/{id}`: the telemetry of a notification, once it is visible.
    func telemetry(_ call: HubCall, id: String) -> EmulatedAnswer {
        guard HubIdentifiers.isNotificationID(id) else { return .error(400, detail: "The notification id is not valid") }
        let record = state.withLock { $0.telemetry[id] }
        guard let record, let shown = record.shown(at: call.moment.milliseconds) else {
            return .error(404, detail: "The notification does not exist, or its telemetry is not available yet")
        }
        let authority = call.baseURL.firstRange(of: "://").map { call.baseURL[$0.lowerBound...] } ?? ""
        let location = "sb\(authority)/messages/\(id)?api-version=\(call.apiVersion.text)"
        var details: String?
        if min(call.apiVersion, record.apiVersion) >= .namesErrorDetails, shown.counts.hasFailure {
            details = blobs.link(to: "/blobs/errors/\(id)", at: origin(of: call), from: call.moment)
        }
        let writer = TelemetryWriter(record: record, shown: shown, location: location, errorDetailsURI: details)
        return .body(200, bytes: writer.xml, contentType: "application/xml; charset=utf-8")
    }

    /// `GET /feedbackcontainer`: a link to the container with the push services' reports, as plain text.
    func feedbackContainer(_ call: HubCall) -> EmulatedAnswer {
        guard let link = blobs.link(to: Self.feedbackPath, at: origin(of: call), from: call.moment, isContainer: true) else {
            return .empty(500)
        }
        return .body(200, bytes: Array(link.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// Answers for the storage account behind the links.
    func blob(_ request: HTTPServerRequest) -> HTTPServerResponse {
        let now = clock()
        let parts = request.path.split(separator: "/", maxSplits: 2).map(String.init)
        switch (parts.dropFirst().first, parts.count) {
        case ("errors", 3):
            guard blobs.allows(request, path: "/blobs/errors/\(parts[2])", now: now) else { return Self.noBlob(403) }
            let refused = state.withLock { $0.telemetry[parts[2]]?.refused }
            return refused.map { Self.content(PNSFeedback.document($0), for: request) } ?? Self.noBlob(404)
        case ("feedback", 2), ("feedback", 3):
            guard blobs.allows(request, path: Self.feedbackPath, now: now) else { return Self.noBlob(403) }
            let all = state.withLock { $0.feedbackBlobs }
            if parts.count == 2 { return Self.listing(all, for: request) }
            return all.first { $0.name == parts[2] }.map { Self.content($0.bytes, for: request) } ?? Self.noBlob(404)
        default:
            return Self.noBlob(404)
        }
    }

    private static let feedbackPath = "/blobs/feedback"

    /// Puts a blob of any content into the feedback container, in place of one with that name, or adds to one that is there.
    public func putFeedback(_ name: String, bytes: [UInt8], isAppended: Bool = false) {
        let now = clock()
        state.withLock { $0.scriptedFeedback.put(name, bytes: bytes, isAppended: isAppended, at: now) }
    }

    /// A blob, or its requested part (RFC 9110, section 14.2).
    static func content(_ bytes: [UInt8], for request: HTTPServerRequest) -> HTTPServerResponse {
        var response = HTTPServerResponse(status: 200, headers: ["Content-Type": "application/octet-stream"], body: bytes)
        let range = request.headers["Range"]?.dropFirst("bytes=".count)
        let words = range?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard request.headers["Range"]?.hasPrefix("bytes=") ?? false, let start = words.first.flatMap({ Int($0) }), start >= 0
        else { return response }
        guard start < bytes.count else {
            return HTTPServerResponse(status: 416, headers: ["Content-Range": "bytes */\(bytes.count)"])
        }
        let last = min(words.count == 2 ? Int(words[1]) ?? .max : .max, bytes.count - 1)
        guard last >= start else { return response }
        response.status = 206
        response.body = Array(bytes[start...last])
        response.headers.append("Content-Range", value: "bytes \(start)-\(last)/\(bytes.count)")
        return response
    }

    /// The most names of a page, so that clients with some hundred blobs see several.
    private static let pageCount = 100

    /// A page of the names in the container, as a storage account lists blobs ("List Blobs").
    private static func listing(_ all: [FeedbackBlob], for request: HTTPServerRequest) -> HTTPServerResponse {
        let marker = request.queryValue("marker") ?? ""
        let count = max(1, min(request.queryValue("maxresults").flatMap { Int($0) } ?? pageCount, pageCount))
        let rest = all.filter { $0.name >= marker }
        let body = XMLWriter.document { writer in
            writer.element("EnumerationResults") { writer in
                writer.element("Blobs") { writer in
                    for blob in rest.prefix(count) {
                        writer.element("Blob") { writer in
                            writer.element("Name", text: blob.name)
                            writer.element("Properties") { writer in
                                writer.element("Last-Modified", text: Moment(milliseconds: blob.modified).httpDate)
                                writer.element("Content-Length", text: "\(blob.bytes.count)")
                            }
                        }
                    }
                }
                writer.element("NextMarker", text: rest.count > count ? rest[count].name : "")
            }
        }
        return HTTPServerResponse(status: 200, headers: ["Content-Type": "application/xml"], body: body)
    }

    static func noBlob(_ status: Int) -> HTTPServerResponse {
        let code = status == 403 ? "AuthenticationFailed" : "BlobNotFound"
        let body = XMLWriter.document { $0.element("Error") { $0.element("Code", text: code) } }
        return HTTPServerResponse(status: status, headers: ["Content-Type": "application/xml"], body: body)
    }

    /// Scheme and authority of the links in answers.
    private func origin(of call: HubCall) -> String { String(call.baseURL.dropLast(configuration.hubName.count + 1)) }
}
