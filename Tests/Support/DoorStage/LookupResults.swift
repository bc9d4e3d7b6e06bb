package import Publishing
import PushModel
import Results
import TestSupport
import Testing

/// Results as a worker writes them, each under a word.
package enum LookupResults {
    /// A result of `id`, read. Its source is `shop` unless its members name one.
    package static func record(_ word: String, of id: String, members: String = "") throws -> ResultRecord {
        let state = word.hasPrefix("same") ? "duplicate" : word
        let error =
            switch word {
            case "sameID": #","error":{"code":"duplicate","message":"/id: The request at offset 7 has the same source and id."}"#
            case "sameKey": #","error":{"code":"duplicate","message":"/dedupe/key: The request at offset 7 has the same key."}"#
            default: ""
            }
        let source = members.contains(#""source":"#) ? "" : #","source":"shop""#
        let kind = word == "outcome" ? "outcome" : "final"
        let json = #"{"request_id":"\#(id)","kind":"\#(kind)","state":"\#(state)"\#(error)\#(members)\#(source)}"#
        return try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0))
    }

    /// The same result at another offset, and so much later.
    package static func moved(_ result: ResultRecord, to offset: Int64) -> ResultRecord {
        ResultRecord(json: result.json, partition: 0, offset: offset, timestamp: offset) ?? result
    }
}
