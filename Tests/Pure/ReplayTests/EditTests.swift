import PushModel
import Testing

@testable import Replay

@Suite struct EditTests {
    /// A request's members, edits, and the members then.
    static let rows: [(before: String, edits: [String], after: String)] = [
        (#"{"hub":"shop","labels":{"a":"1"}}"#, ["hub=other"], #"{"hub":"other","labels":{"a":"1"}}"#),
        (#"{"labels":{"a":"1"}}"#, ["hub=other"], #"{"labels":{"a":"1"},"hub":"other"}"#),
        (#"{"hub":"shop"}"#, ["hub=null"], "{}"),
        (#"{"options":{"dry_run":true}}"#, ["options.max_attempts=8"], #"{"options":{"dry_run":true,"max_attempts":8}}"#),
        (
            "{}", ["options.max_attempts=8", "options.on_ambiguous=retry"],
            #"{"options":{"max_attempts":8,"on_ambiguous":"retry"}}"#
        ),
        (#"{"labels":{"a":"1","b":"2"}}"#, ["labels.a=7", "labels.c=true"], #"{"labels":{"a":"7","b":"2","c":"true"}}"#),
        (
            #"{"message":{"title":"Old \"one\"","badge":1}}"#, ["message.badge=2"],
            #"{"message":{"title":"Old \"one\"","badge":2}}"#
        ),
        (#"{"message":{"title":"Old"}}"#, [#"message={"title":"New"}"#], #"{"message":{"title":"New"}}"#),
        (#"{"priority":"low","hub":"a"}"#, ["priority=high", "priority=normal"], #"{"priority":"normal","hub":"a"}"#),
        (#"{"message":{"data":{"n":"1"}}}"#, ["message.data.n=2"], #"{"message":{"data":{"n":"2"}}}"#),
    ]

    @Test(arguments: rows) func editsChangeWhatTheyNameAndNothingElse(
        _ row: (before: String, edits: [String], after: String)
    ) throws {
        let document = try document(row.before)
        let json = RequestEdit.apply(try row.edits.map { try RequestEdit($0) }, to: document)
        #expect(String(decoding: json, as: UTF8.self) == row.after)
    }

    @Test(arguments: [
        "hub", "=other", "audience.users=bob", "id=x", "replay=1", "platforms=apple", "ttl_seconds=5", "options.=1", ".hub=a",
        "dedupe=null", "schema_version=2",
    ]) func whoIsReachedAndWhoAsksStaysWhatItWas(_ text: String) {
        #expect(throws: RequestEdit.Fault.self) { try RequestEdit(text) }
    }

    /// Each name is a call of a function in itself, so that many of them once were the end of the process.
    @Test(arguments: [65, 100_000]) func aPathHasNoMoreNamesThanARequestHasLevels(count: Int) throws {
        let path = { (count: Int) in "labels" + String(repeating: ".a", count: count - 1) }
        let fault = #expect(throws: RequestEdit.Fault.self) { try RequestEdit(path(count) + "=1") }
        #expect(fault?.reason.contains("64 names") == true)
        let deepest = try RequestEdit(path(RequestEdit.maximumDepth) + "=1")
        let json = RequestEdit.apply([deepest], to: try document("{}"))
        var again = JSONDocument()
        try again.read(json.span)
    }

    @Test func aLineageNamesEditsButNoContent() throws {
        #expect(try RequestEdit("options.max_attempts=8").note == "options.max_attempts=8")
        #expect(try RequestEdit("hub=other").note == #"hub="other""#)
        #expect(try RequestEdit("message.body=private").note == "message.body")
        #expect(try RequestEdit("labels.a=" + String(repeating: "x", count: 200)).note.unicodeScalars.count == 128)
    }
}
