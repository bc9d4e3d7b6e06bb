package import HTTPServing

extension HubServer {
    /// `GET /messages/{id}`: the telemetry of a notification, once it is visible.
    func telemetry(_ call: HubCall, id: String) -> HubReply {
        guard HubIdentifiers.isNotificationID(id) else { return .error(400, detail: "The notification id is not valid") }
        return answering { () throws(RefusedCall) in
            guard let telemetry = try messages.telemetry(of: id, now: call.moment.milliseconds) else {
                throw RefusedCall(404, detail: "The notification does not exist, or its telemetry is not available yet")
            }
            return answer(telemetry, to: call)
        }
    }

    private func answer(_ telemetry: MessageTelemetry, to call: HubCall) -> HubReply {
        let authority = call.baseURL.firstRange(of: "://").map { call.baseURL[$0.lowerBound...] } ?? ""
        let location = "sb\(authority)/messages/\(telemetry.id)?api-version=\(call.apiVersion.text)"
        var details: String?
        if min(call.apiVersion, telemetry.apiVersion) >= .namesErrorDetails, telemetry.shown.counts.hasFailure {
            details = blobs.link(to: blobPath + "errors/\(telemetry.id)", at: origin(of: call), from: call.moment)
        }
        let writer = TelemetryWriter(telemetry: telemetry, location: location, errorDetailsURI: details)
        return .body(200, bytes: writer.xml, contentType: "application/xml; charset=utf-8")
    }

    /// `GET /feedbackcontainer`: a link to the container with the push services' reports, as plain text.
    func feedbackContainer(_ call: HubCall) -> HubReply {
        guard let link = blobs.link(to: blobPath + "feedback", at: origin(of: call), from: call.moment, isContainer: true) else {
            return .empty(500)
        }
        return .body(200, bytes: Array(link.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// Answers for the storage account behind the links.
    ///
    /// - Parameters:
    ///   - request: The request, whose path begins with ``blobPath``.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The answer.
    package func blob(_ request: HTTPServerRequest, now: Int64) -> HTTPServerResponse {
        let parts = request.path.dropFirst(blobPath.count).split(separator: "/", maxSplits: 1).map(String.init)
        do throws(RefusedCall) {
            switch (parts.first, parts.count) {
            case ("errors", 2):
                guard blobs.allows(request, path: blobPath + "errors/\(parts[1])", now: now) else { return Self.noBlob(403) }
                let refused = try messages.refused(by: parts[1])
                return refused.map { Self.content(PNSFeedback.document($0), for: request) } ?? Self.noBlob(404)
            case ("feedback", 1), ("feedback", 2):
                guard blobs.allows(request, path: blobPath + "feedback", now: now) else { return Self.noBlob(403) }
                if parts.count == 1 { return try listing(for: request) }
                return try messages.feedbackBlob(parts[1]).map { Self.content($0, for: request) } ?? Self.noBlob(404)
            default:
                return Self.noBlob(404)
            }
        } catch {
            return Self.noBlob(error.answer.status)
        }
    }

    /// A blob, or its requested part (RFC 9110, section 14.2).
    package static func content(_ bytes: [UInt8], for request: HTTPServerRequest) -> HTTPServerResponse {
        content(for: request, length: bytes.count, limit: .max) { range in Array(bytes[range]) }
    }

    /// A blob, or its requested part, of which a long one is cut (RFC 9110, section 15.3.7). A whole one that is longer than the limit is
    /// refused: a client that takes a part for all of it would not notice.
    static func content<Failure: Error>(
        for request: HTTPServerRequest, length: Int, limit: Int, read: (Range<Int>) throws(Failure) -> [UInt8]
    ) throws(Failure) -> HTTPServerResponse {
        switch BlobPart(request, of: length) {
        case .whole:
            guard length <= limit else { return noBlob(400) }
            return HTTPServerResponse(
                status: 200, headers: ["Content-Type": "application/octet-stream"], body: try read(0..<length))
        case .bytes(let range):
            let part = try read(range.prefix(limit))
            return HTTPServerResponse(
                status: 206,
                headers: [
                    "Content-Type": "application/octet-stream",
                    "Content-Range": "bytes \(range.lowerBound)-\(range.lowerBound + part.count - 1)/\(length)",
                ], body: part)
        case .outside: return HTTPServerResponse(status: 416, headers: ["Content-Range": "bytes */\(length)"])
        }
    }

    /// The most names of a page, so that clients with some hundred blobs see several.
    private static let pageCount = 100

    /// A page of the names in the container, as a storage account lists blobs ("List Blobs").
    private func listing(for request: HTTPServerRequest) throws(RefusedCall) -> HTTPServerResponse {
        let count = max(1, min(request.queryValue("maxresults").flatMap { Int($0) } ?? Self.pageCount, Self.pageCount))
        let rest = try messages.feedbackBlobs(from: request.queryValue("marker") ?? "", limit: count + 1)
        let body = XMLWriter.document { writer in
            writer.element("EnumerationResults") { writer in
                writer.element("Blobs") { writer in
                    for blob in rest.prefix(count) {
                        writer.element("Blob") { writer in
                            writer.element("Name", text: blob.name)
                            writer.element("Properties") { writer in
                                writer.element("Last-Modified", text: Moment(milliseconds: blob.modified).httpDate)
                                writer.element("Content-Length", text: "\(blob.byteCount)")
                            }
                        }
                    }
                }
                writer.element("NextMarker", text: rest.count > count ? rest[count].name : "")
            }
        }
        return HTTPServerResponse(status: 200, headers: ["Content-Type": "application/xml"], body: body)
    }

    package static func noBlob(_ status: Int) -> HTTPServerResponse {
        let code = [400: "MissingRequiredHeader", 403: "AuthenticationFailed"][status] ?? "BlobNotFound"
        let body = XMLWriter.document { $0.element("Error") { $0.element("Code", text: code) } }
        return HTTPServerResponse(status: status, headers: ["Content-Type": "application/xml"], body: body)
    }

    /// Scheme and authority of the links in answers.
    private func origin(of call: HubCall) -> String { String(call.baseURL.dropLast(terms.hubName.count + 1)) }
}
