import PushModel

@testable import ResultQuery

/// Requests that the tests ask about.
enum RequestRecords {
    /// To three users, with all that a person may look for.
    static let users = """
        {"id":"r-1","source":"/orders","tenant":"shop","audience":{"users":["Alice","bob","Zoë"]},\
        "message":{"title":"Your Order shipped","subtitle":"Today","body":"Parcel 42 is on its way"},\
        "labels":{"campaign":"New Year","kind":"mail"}}
        """

    /// To whoever has a tag.
    static let tags =
        #"{"id":"r-2","audience":{"categories":["News","Sport"]},"message":{"title":"Goal"},"labels":{"kind":"mail"}}"#

    /// To an expression.
    static let expression = #"{"id":"r-3","audience":{"tag_expression":"News && !Sport_1"},"message":{"title":"Goal"}}"#

    /// To everyone.
    static let all = #"{"id":"r-4","audience":{"broadcast":true},"message":{"title":"Goal"}}"#

    /// To devices, whose handles are written as apps have them.
    static let devices = """
        {"id":"r-5","audience":{"devices":[{"platform":"apple","handle":"<abcd ef01>"},{"platform":"fcm","handle":"Tok:1-x"}]},\
        "message":{"title":"Hi"}}
        """

    /// To an installation.
    static let installation = #"{"id":"r-6","audience":{"installations":["Inst-1"]},"message":{"title":"Hi"}}"#

    /// A part of a larger request, which carries those behind it, and a replay.
    static let part = """
        {"id":"news.3","audience":{"users":["carl"]},"message":{"title":"Hi"},"parent":{"id":"news","key":"news","partition":1,\
        "chunk":3,"chunks":5,"published_at":"2026-11-21T11:00:00Z","remaining":[{"audience":{"users":["dora"]}}]},\
        "replay":{"root_request_id":"root-1","parent_request_id":"parent-1","generation":2,"job_id":"j-1","actor":"ann"}}
        """

    /// A record as the reader has it, with faults or without.
    static func read(_ json: String, headers: RecordHeaders = RecordHeaders()) -> PushRequest {
        var request = PushRequest()
        let origin = RecordOrigin(
            topic: "push.requests.v1", partition: 3, offset: 17, timestamp: Timestamp(milliseconds: noon))
        _ = RequestReader(from: .own).read(Array(json.utf8).span, headers: headers, origin: origin, into: &request)
        return request
    }

    /// The headers of a record whose id is in them.
    static func headers(id: String) -> RecordHeaders {
        var headers = RecordHeaders()
        headers.add(name: Array("ce_id".utf8).span, value: Array(id.utf8).span)
        return headers
    }
}

extension RequestMatcher {
    /// The relation of a record of the usual place to the filter.
    func match(_ json: String, headers: RecordHeaders = RecordHeaders()) -> Match {
        match(RequestRecords.read(json, headers: headers), from: "push.requests.v1", partition: 3)
    }
}

extension RequestMatcher {
    /// True if a record without known headers is ruled out.
    func rulesOut(bytesOf json: String) -> Bool { rulesOut(Array(json.utf8).span) }

    /// True if a record is ruled out.
    func rulesOut(bytesOf json: String, headers: RecordHeaders) -> Bool { rulesOut(Array(json.utf8).span, headers: headers) }
}

extension ResultFilter {
    /// A filter with conditions on requests, behind terms as text.
    init(_ sought: [Sought], terms: String = "") throws {
        self = try ResultFilter(terms, now: noon)
        for condition in sought { add(condition) }
    }
}

extension Sought {
    /// A condition with one value, in which each `*` stands for any characters.
    init(_ subject: Subject, is text: String, isNegated: Bool = false) {
        self.init(subject, isNegated: isNegated, values: [Value(text, hasPattern: text.contains("*"))])
    }
}
