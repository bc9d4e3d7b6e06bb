import Basics
public import Delivery
public import HTTP1
import PushModel

/// The content of a hub's answer, as places in the answer's bytes.
public struct HubAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The wait that the hub asks for, in milliseconds, or nil.
    public var retryAfter: Int64?
    /// The notification's id: the last segment of `Location`, which only Standard tier hubs send.
    public var notificationID: Range<Int>?
    /// The hub's word for the call in its logs.
    public var trackingID: Range<Int>?
    /// The text of the error body, without the tracking id and time that follow it.
    public var detail: Range<Int>?
    /// The subject of the detail, as far as the verdict depends on it, or that a success is not the hub's.
    public var hint = CallResult.DetailHint.none
    /// True if a send's success has nothing of a hub's: no `Location`, no tracking id, no media type of XML. A hub that has named a
    /// notification never answers so.
    public var isUnmarked = false
    /// True if the body is a page for people, which no hub sends under any status.
    public let isPage: Bool

    /// Reads an answer. Nothing in it is an error, whatever its body is.
    ///
    /// - Parameters:
    ///   - answer: A complete answer.
    ///   - isSend: Whether it answers a send, whose success has a form of its own (page HubProtocol, "Answers").
    ///   - now: Milliseconds since 1970, for a Retry-After that is a date.
    public init(_ answer: borrowing Answer, toSend isSend: Bool = false, now: Int64) {
        status = answer.status
        isPage = Self.isPage(answer)
        if let value = answer.value(of: "Retry-After") {
            retryAfter = RetryAfter.milliseconds(answer.bytes[value], now: Timestamp(milliseconds: now))
        }
        trackingID = Self.shown(answer.value(of: "TrackingId"), in: answer)
        if status >= 300 { readError(answer) } else { readSuccess(answer, isSend: isSend) }
    }

    /// True if it is not the hub's: a page under any status, or another success than hubs write.
    public var isForeign: Bool { isPage || hint == .notTheHub }

    /// The input of the verdict.
    public var result: CallResult {
        .answered(status: status, hasRetryAfter: retryAfter != nil, detail: hint)
    }

    /// True if the answer has a page for people as its body, which hubs never send: that of a sign-in, a proxy or a web server.
    static func isPage(_ answer: borrowing Answer) -> Bool {
        guard !answer.bodyRange.isEmpty else { return false }
        if let type = answer.value(of: "Content-Type"), find("html", in: answer, within: type) != nil { return true }
        let body = answer.body
        var start = body.holdsIgnoringCase("\u{FEFF}") ? 3 : 0
        while start < body.count, body[start] <= UInt8(ascii: " ") { start += 1 }
        return body.holdsIgnoringCase("<html", at: start) || body.holdsIgnoringCase("<!doctype", at: start)
    }

    /// Finds the notification's id, and whether the hub itself says yes.
    private mutating func readSuccess(_ answer: borrowing Answer, isSend: Bool) {
        guard !isPage else { return hint = .notTheHub }
        if let location = answer.value(of: "Location"), !location.isEmpty {
            let id = Self.lastSegment(of: location, in: answer)
            notificationID = Self.shown(id, in: answer)
            if isSend, !Self.isOfMessages(id, in: location, of: answer) { hint = .notTheHub }
        } else if isSend, trackingID == nil, !Self.declaresXML(answer) {
            isUnmarked = true
            if status != 201 || !answer.bodyRange.isEmpty { hint = .notTheHub }
        }
        if hint == .notTheHub { notificationID = nil }
    }

    /// True if the id stands behind `/messages/`, or `/messages/$batch/`, of which something between may have escaped the sign.
    private static func isOfMessages(_ id: Range<Int>?, in location: Range<Int>, of answer: borrowing Answer) -> Bool {
        guard let id else { return false }
        let path = answer.text(location.lowerBound..<id.lowerBound)
        return path.holdsIgnoringCase("/messages/", at: path.count - 10)
            || path.holdsIgnoringCase("/messages/$batch/", at: path.count - 17)
            || path.holdsIgnoringCase("/messages/%24batch/", at: path.count - 19)
    }

    private static func declaresXML(_ answer: borrowing Answer) -> Bool {
        answer.value(of: "Content-Type").map { find("xml", in: answer, within: $0) != nil } ?? false
    }

    private static func lastSegment(of location: Range<Int>, in answer: borrowing Answer) -> Range<Int>? {
        let end = answer.firstPlace(of: UInt8(ascii: "?"), in: location) ?? location.upperBound
        let path = answer.text(location.lowerBound..<end)
        var length = 0
        while length < path.count && path[path.count - 1 - length] != UInt8(ascii: "/") { length += 1 }
        return (1...256).contains(length) ? end - length..<end : nil
    }

    /// The text, unless it is empty or repeats a token, which must not get into results and logs.
    private static func shown(_ text: Range<Int>?, in answer: borrowing Answer) -> Range<Int>? {
        guard let text, !text.isEmpty, !repeatsToken(text, from: UInt8(ascii: "s"), in: answer),
            !repeatsToken(text, from: UInt8(ascii: "S"), in: answer)
        else { return nil }
        return text
    }

    /// True if the text has a part of a token that begins with `letter`. Both signs of one begin with an S.
    private static func repeatsToken(_ text: Range<Int>, from letter: UInt8, in answer: borrowing Answer) -> Bool {
        var rest = text
        while let place = answer.firstPlace(of: letter, in: rest) {
            let bytes = answer.text(place..<text.upperBound)
            if bytes.holdsIgnoringCase("sig=") || bytes.holdsIgnoringCase("SharedAccess") { return true }
            rest = place + 1..<text.upperBound
        }
        return false
    }

    /// Finds `<Detail>` in the hub's XML. An HTML page, JSON, half a body or none at all leave it open.
    private mutating func readError(_ answer: borrowing Answer) {
        let body = answer.bodyRange
        guard let open = Self.find("<Detail>", in: answer, within: body),
            let close = Self.find("</Detail>", in: answer, within: open.upperBound..<body.upperBound)
        else { return }
        var text = open.upperBound..<close.lowerBound
        if let mark = Self.find("TrackingId:", in: answer, within: text) {
            let end = answer.bytes[mark.upperBound..<text.upperBound].firstIndex(of: UInt8(ascii: ",")) ?? text.upperBound
            trackingID = trackingID ?? Self.shown(mark.upperBound..<end, in: answer)
            text = text.lowerBound..<mark.lowerBound
            while let last = text.last, answer.bytes[last] == UInt8(ascii: ".") { text = text.lowerBound..<last }
        }
        detail = Self.shown(text, in: answer)
        if Self.names("tag", in: answer, within: text) { hint = .tags }
        if Self.names("quota", in: answer, within: text) { hint = .quota }
    }

    /// True if a word of the text begins with `word`: "tags" does with "tag", "stage" does not.
    private static func names(_ word: StaticString, in answer: borrowing Answer, within text: Range<Int>) -> Bool {
        var rest = text
        while let place = find(word, in: answer, within: rest) {
            let isLetter =
                place.lowerBound > text.lowerBound && (0x61...0x7A).contains(answer.bytes[place.lowerBound - 1] | 0x20)
            if !isLetter { return true }
            rest = place.upperBound..<text.upperBound
        }
        return false
    }

    /// The first place of `word` in `range`, letters compared without regard to case.
    private static func find(_ word: StaticString, in answer: borrowing Answer, within range: Range<Int>) -> Range<Int>? {
        let bytes = answer.text(range)
        for index in bytes.indices where bytes.holdsIgnoringCase(word, at: index) {
            return range.lowerBound + index..<range.lowerBound + index + word.utf8CodeUnitCount
        }
        return nil
    }
}
