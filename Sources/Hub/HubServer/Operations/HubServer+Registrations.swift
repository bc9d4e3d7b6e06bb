import Basics
import HTTPServing

extension HubServer {
    /// Registrations on one page of a list, at most and by default.
    private static let pageSize = 100

    /// `POST /registrationids`: a new id, in an absolute `Location`.
    func createRegistrationID(_ call: HubCall) -> HubReply {
        let id = identify { $0.registrationID() }
        return HubReply(status: 201, headers: ["Location": call.link("registrationids/" + id)])
    }

    /// `POST /registrations`.
    func createRegistration(_ call: HubCall) -> HubReply {
        answering { () throws(RefusedCall) in
            var read = try RegistrationReader.read(call.request.body)
            read.id = identify { $0.registrationID() }
            read.writtenAt = call.moment.milliseconds
            let registration = read
            try devices.change { (book) throws(RefusedCall) in
                try book.checkRoom(for: [registration])
                try book.write(registration)
            }
            announce([registration])
            return answer(registration, to: call)
        }
    }

    /// `PUT /registrations/{id}`: creates or updates. With `If-Match`, updates only an existing registration of that version.
    func putRegistration(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            guard Self.isRegistrationID(id) else { throw .invalid("The registration id is not valid") }
            var read = try RegistrationReader.read(call.request.body)
            read.id = id
            read.writtenAt = call.moment.milliseconds
            let condition = call.request.headers.list("If-Match")
            let written = try devices.change { [registration = read] (book) throws(RefusedCall) in
                let existing = try book.registration(id)
                if let condition { try Self.check(condition, against: existing) }
                try book.checkRoom(for: [registration])
                var registration = registration
                registration.etag = (existing?.etag ?? 0) + 1
                try book.write(registration)
                return registration
            }
            announce([written])
            return answer(written, to: call)
        }
    }

    /// `GET /registrations/{id}`.
    func getRegistration(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            let found = try devices.read { (book) throws(RefusedCall) in try book.registration(id) }
            guard let found, !found.isExpired(at: call.moment.milliseconds) else { throw RefusedCall(404, detail: "") }
            return answer(found, to: call)
        }
    }

    /// `DELETE /registrations/{id}`, for which `If-Match` is mandatory.
    func deleteRegistration(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            guard let condition = call.request.headers.list("If-Match") else {
                throw .invalid("The HTTP header \"If-Match\" is missing")
            }
            try devices.change { (book) throws(RefusedCall) in
                try Self.check(condition, against: try book.registration(id))
                try book.removeRegistration(id)
            }
            return .empty(200)
        }
    }

    /// `GET /registrations`: all of them, or those of one handle.
    func listRegistrations(_ call: HubCall) -> HubReply {
        guard let text = call.request.queryValue("$filter") else { return page(call, path: "registrations", of: .all) }
        guard let filter = RegistrationFilter(text) else {
            return .error(400, detail: "The filter is not valid: registrations can be looked up by the handle of a device only")
        }
        return page(call, path: "registrations", of: .filtered(filter))
    }

    /// `GET /tags/{tag}/registrations`, in the standard tier only.
    func listRegistrations(_ call: HubCall, tagged tag: String) -> HubReply {
        page(call, path: "tags/\(PercentEncoding.encoded(tag))/registrations", of: .tagged(tag.lowercased()))
    }

    private func page(_ call: HubCall, path: String, of list: RegistrationList) -> HubReply {
        answering { () throws(RefusedCall) in
            let limit = try pageLimit(call)
            let cursor = try ContinuationToken.cursor(call.request.queryValue("continuationtoken"))
            let (page, next) = try devices.read { (book) throws(RefusedCall) in
                try book.page(of: list, from: cursor, limit: limit)
            }
            return feed(page, next: next, to: call, path: path)
        }
    }

    private func pageLimit(_ call: HubCall) throws(RefusedCall) -> Int {
        guard let text = call.request.queryValue("$top") else { return Self.pageSize }
        guard let top = Int(text), top > 0 else { throw .invalid("The value of '$top' is not a number of at least 1") }
        return min(top, Self.pageSize)
    }

    private func answer(_ registration: Registration, to call: HubCall) -> HubReply {
        var answer = HubReply.body(
            200, bytes: RegistrationWriter(call: call).entry(registration),
            contentType: "application/atom+xml; type=entry; charset=utf-8")
        answer.headers.append("ETag", value: "W/\"\(registration.etag)\"")
        answer.headers.append("Content-Location", value: call.link("registrations/" + registration.id))
        return answer
    }

    private func feed(_ page: [Registration], next: Int?, to call: HubCall, path: String) -> HubReply {
        let token = next.map(ContinuationToken.text)
        // The service encodes the token of this link twice, so clients take the header.
        let nextLink = token.map { "\(call.link(path))&continuationtoken=\(PercentEncoding.encoded($0))" }
        let body = RegistrationWriter(call: call).feed(page, path: path, nextLink: nextLink)
        var answer = HubReply.body(200, bytes: body, contentType: "application/atom+xml; type=feed; charset=utf-8")
        if let token { answer.headers.append("x-ms-continuationtoken", value: token) }
        return answer
    }

    /// `{digits}-{digits}-{digits}`, as the hub makes them and clients may choose them.
    private static func isRegistrationID(_ id: String) -> Bool {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 3 && id.utf8.count <= 128
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }
    }

    /// Checks `If-Match`: `*`, `"1"`, `W/"1"` or the bare number. Only the digits count.
    private static func check(_ condition: String, against existing: Registration?) throws(RefusedCall) {
        guard let existing else { throw RefusedCall(404, detail: "") }
        guard condition != "*" else { return }
        let named = condition.unquotedParts(between: ",", escapes: false).map { $0.filter { $0.isASCII && $0.isNumber } }
        guard named.contains(String(existing.etag)) else {
            throw RefusedCall(412, detail: "The registration was changed since it was read")
        }
    }
}

/// The position at which a list continues: opaque to clients, and given to them percent-encoded already.
enum ContinuationToken {
    /// The token for a cursor, encoded.
    static func text(_ cursor: Int) -> String {
        PercentEncoding.encoded(String(decoding: Base64.encode(Array("1;\(cursor)".utf8)), as: UTF8.self))
    }

    /// The cursor of a token as the query has it, decoded once or not at all, or 0 without a token.
    static func cursor(_ token: String?) throws(RefusedCall) -> Int {
        guard let token else { return 0 }
        let plain = PercentEncoding.decoded(token)
        guard let bytes = Base64.decode(Array(plain.utf8)), bytes.starts(with: "1;".utf8),
            let cursor = Int(String(decoding: bytes.dropFirst(2), as: UTF8.self)), cursor > 0
        else { throw .invalid("The continuation token is not valid") }
        return cursor
    }
}
