import Basics
import GatewayAPI
import HTTPServing
import JobSupport
import PushModel
import ResultQuery

/// The terms of a lookup beside the id: `?wait=`, `?at=` with `time=`, `?zone=`, and the header fields `Prefer` and `If-None-Match`.
struct LookupQuery: Sendable, Equatable {
    /// Seconds to wait, 0 to 30.
    var wait = 0
    /// The goal of the wait.
    var goal = RequestWatch.Goal.result
    /// True if the answer must say the wait: it is a preference (RFC 7240), or the longest in place of a longer one.
    var isPreferred = false
    /// The place and the time that the caller gives for the request's record.
    package var place: RequestPlace?
    /// True if its whole life is searched in any case.
    var wantsLife = false
    /// True if its record's value is shown, too.
    var wantsPayload = false
    /// The zone in which the verdict tells moments.
    var zone = LocalZone.utc

    /// Reads the query and the header fields of a call.
    ///
    /// - Throws: 400 for a member that cannot be understood. A preference that cannot be is passed over (RFC 7240, section 2).
    init(_ request: HTTPServerRequest, of operation: APIOperation.Lookup) throws(APIProblem) {
        let query = try operation.row.query(of: request)
        if query["wait"] == "outcome" {
            (wait, goal) = (APILimit.wait, .outcome)
        } else if let text = query["wait"] {
            guard let seconds = Self.seconds(text[...]) else {
                throw .invalid("wait must be outcome, or whole seconds; more than \(APILimit.wait) count as \(APILimit.wait).")
            }
            (wait, isPreferred) = (min(seconds, APILimit.wait), seconds > APILimit.wait)
        } else if let preferred = Self.preferredWait(request.headers) {
            (wait, goal, isPreferred) = (preferred.seconds, preferred.goal, true)
        }
        switch query["until"] {
        case nil: break
        case "outcome": goal = .outcome
        case "result" where query["wait"] != "outcome": goal = .result
        default: throw .invalid("until must be result or outcome, and no other than wait says.")
        }
        wantsLife = try query.isTrue("life")
        wantsPayload = try query.isTrue("payload")
        if wantsLife || wantsPayload {
            guard query["wait"] == nil else { throw .invalid("wait is for the state alone, without life and payload.") }
            (wait, isPreferred) = (0, false)
        }
        if let text = query["zone"] {
            guard LocalZone.isName(text) || LocalZone(named: text) != nil else {
                throw .invalid("zone must be the name of a time zone, such as Europe/Berlin, or +01:00.")
            }
            // A name that this machine does not know: the verdict says that its moments are in UTC.
            zone = LocalZone(named: text) ?? .utc
        }
        let time = try Self.time(in: query)
        if let text = query["at"] {
            guard let found = Self.place(text) else {
                throw .invalid("at must be TOPIC/PARTITION/OFFSET, as Location has it.")
            }
            place = RequestPlace(record: found, time: time)
        }
    }

    /// Milliseconds since 1970, as `Location` has them. A `time` without a place says nothing.
    private static func time(in query: [String: String]) throws(APIProblem) -> Timestamp? {
        guard let text = query["time"] else { return nil }
        guard isNumber(text[...]), let milliseconds = Int64(text) else {
            throw .invalid("time must be the milliseconds since 1970 that Location has.")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    /// The preference `wait`, at most 30 seconds, nil for none. The first one counts. Its parameter `until=outcome` names the goal, as
    /// `wait=outcome` does.
    static func preferredWait(_ headers: HTTPFields) -> (seconds: Int, goal: RequestWatch.Goal)? {
        for preference in headers.members("Prefer") {
            let parts = preference.unquotedParts(between: ";").map { $0.unquotedParts(between: "=") }
            guard parts[0][0].equalsIgnoringCase("wait") else { continue }
            guard parts[0].count == 2, let text = parts[0][1].unquoted else { return nil }
            if text == "outcome" { return (APILimit.wait, .outcome) }
            guard let seconds = seconds(text[...]) else { return nil }
            let isForOutcome = parts.dropFirst()
                .contains { $0.count == 2 && $0[0].equalsIgnoringCase("until") && $0[1].unquoted == "outcome" }
            return (min(seconds, APILimit.wait), isForOutcome ? .outcome : .result)
        }
        return nil
    }

    /// `TOPIC/PARTITION/OFFSET`.
    private static func place(_ text: String) -> StoredPlace? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, isNumber(parts[1]), isNumber(parts[2]), let partition = Int32(parts[1]),
            let offset = Int64(parts[2])
        else { return nil }
        return StoredPlace(topic: String(parts[0]), partition: partition, offset: offset)
    }

    private static func seconds(_ text: Substring) -> Int? { isNumber(text) ? Int(text) ?? .max : nil }

    /// Digits, and no sign: so each place has one spelling but for zeros.
    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isDigit)
    }
}

/// The validator of an answer (RFC 9110, section 8.8.3).
package enum EntityTag {
    /// The strong tag of a body: its FNV-1a hash in hexadecimal digits.
    package static func of(_ body: [UInt8]) -> String { "\"\(Hexadecimal.text(FNV1a.hash(of: body)))\"" }
}
