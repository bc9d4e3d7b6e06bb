import PushModel
import TestSupport
import Testing

@testable import ResultQuery

@Suite struct RequestFactsTests {
    @Test func aRequestSaysWhatItIs() {
        let facts = RequestFacts(RequestRecords.read(RequestRecords.users))
        #expect(facts.id == "r-1" && facts.source == "/orders" && facts.tenant == "shop" && facts.hub == nil)
        #expect(facts.audience == AudienceSummary(.users, count: 3, names: ["Alice", "bob", "Zoë"]))
        #expect(facts.title == "Your Order shipped" && facts.labels == ["campaign": "New Year", "kind": "mail"])
        #expect(facts.due == nil && facts.whole == nil && facts.replayed == nil)
    }

    @Test func aPartAndAReplaySayWhereTheyAreFrom() {
        let facts = RequestFacts(RequestRecords.read(RequestRecords.part))
        #expect(facts.whole == "news" && facts.replayed == "parent-1" && facts.replay?.root == "root-1")
        #expect(facts.replay?.generation == 2 && facts.replay?.job == "j-1" && facts.replay?.actor == "ann")
    }

    @Test func aDelayedRequestSaysItsTimeAndItsHub() {
        let json =
            #"{"hub":"north","not_before":"2026-11-21T12:00:00Z","audience":{"broadcast":true},"message":{"title":"T"}}"#
        let facts = RequestFacts(RequestRecords.read(json))
        #expect(facts.due == Timestamp(milliseconds: noon) && facts.hub == "north" && facts.id == "push.requests.v1:3:17")
    }

    @Test(arguments: [
        (#""message":{"title":"Hello","body":"World"}"#, "Hello"), (#""message":{"body":"World"}"#, "World"),
        (#""message":{"title":"","body":"World"}"#, "World"), (#""message":{"title":" \n","body":"World"}"#, "World"),
        (#""message":{"data":{"a":"b"}}"#, nil), (#""message":{"title":"a\nb\u0000c\u202ed"}"#, "a b c d"),
        (#""message":{"title":"שלום"}"#, "שלום"),
        (#""payloads":{"apple":{"body":{"aps":{"alert":"Hi"}}}}"#, "Hi"),
        (#""payloads":{"apns":{"body":{"aps":{"alert":{"title":"T","body":"B"}}}}}"#, "T"),
        (#""payloads":{"apple":{"body":{"aps":{"alert":{"body":"B"}}}}}"#, "B"),
        (#""payloads":{"apple":{"body":"{\"aps\":{\"alert\":\"Hi\"}}"}}"#, "Hi"),
        (#""payloads":{"apple":{"body":"{"}}"#, nil), (#""payloads":{"apple":{"body":{"aps":7}}}"#, nil),
        (#""payloads":{"fcmv1":{"body":{"message":{"notification":{"title":"F"}}}}}"#, "F"),
        (#""payloads":{"gcm":{"body":{"notification":{"title":"G"}}}}"#, "G"),
        (#""payloads":{"windows":{"body":"<toast/>"},"gcm":{"body":{"notification":{"body":"G"}}}}"#, "G"),
        (#""payloads":{"windows":{"body":"<toast/>"}}"#, nil),
        (#""message":{"data":{"a":"b"}},"payloads":{"apple":{"body":{"aps":{"alert":"Hi"}}}}"#, "Hi"),
        (#""template":{"alert":"A","title":"T"}"#, "T"), (#""template":{"alert":"A"}"#, "A"),
        (#""template":{"message":"M"}"#, "M"), (#""template":{"x":"y"}"#, nil),
    ])
    func theTitleIsWhatReceiversSeeFirst(content: String, title: String?) {
        let json = #"{"audience":{"broadcast":true},"# + content + "}"
        #expect(RequestFacts(RequestRecords.read(json)).title == title)
    }

    @Test(arguments: ["a", "é", "e\u{301}", "👨‍👩‍👧‍👦", "🇩🇪", "ש", "\u{301}"])
    func aLongTextIsCutBetweenCharacters(character: String) {
        let text = String(repeating: character, count: 300)
        let line = DisplayText.line(text, limit: 256) ?? ""
        #expect(line.unicodeScalars.count <= 256 && line.unicodeScalars.count > 240)
        // Marks without a letter are one character with all that follow.
        if text.count > 1 { #expect(line == String(text.prefix(line.count))) }
        #expect(DisplayText.line(character, limit: 256) == character)
    }

    @Test func aHugeTextIsCutAtOnce() {
        let text = "a" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(DisplayText.line(text, limit: 256)?.unicodeScalars.count == 256)
    }

    @Test(arguments: [
        (AudienceSummary(.users, names: ["alice"]), "alice"),
        (AudienceSummary(.users, count: 3, names: ["a", "b", "c"]), "3 users"),
        (AudienceSummary(.users), "1 user"), (AudienceSummary(.users, count: 0), "0 users"),
        (AudienceSummary(.installations, names: ["i"]), "1 installation"), (AudienceSummary(.devices, count: 2), "2 devices"),
        (AudienceSummary(.tags, names: ["News"]), "tag News"),
        (AudienceSummary(.tags, count: 2, names: ["News", "Sport"]), "tags News, Sport"),
        (AudienceSummary(.tags, count: 3, names: ["a", "b", "c"]), "tags a, b, c"),
        (AudienceSummary(.tags, count: 5, names: ["News", "Sport", "c"]), "tags News, Sport and 3 more"),
        (AudienceSummary(.tags, count: 2), "2 tags"), (AudienceSummary(.all), "all"),
        (AudienceSummary(.expression, names: ["a && !b"]), "a && !b"), (AudienceSummary(.expression), "an expression"),
        (AudienceSummary(.users, names: ["a\u{1B}[2J"]), "a [2J"),
    ])
    func anAudienceIsSaidInWords(audience: AudienceSummary, text: String) {
        #expect(audience.text == text)
    }

    @Test(arguments: [
        (RequestRecords.users, AudienceSummary(.users, count: 3, names: ["Alice", "bob", "Zoë"])),
        (RequestRecords.tags, AudienceSummary(.tags, count: 2, names: ["News", "Sport"])),
        (RequestRecords.expression, AudienceSummary(.expression, names: ["News && !Sport_1"])),
        (RequestRecords.all, AudienceSummary(.all)), (RequestRecords.devices, AudienceSummary(.devices, count: 2)),
        (RequestRecords.installation, AudienceSummary(.installations, names: ["Inst-1"])),
        (#"{"id":"broken"}"#, AudienceSummary(.users, count: 0)),
    ])
    func theAudienceIsReadFromARequest(json: String, audience: AudienceSummary) {
        #expect(RequestFacts(RequestRecords.read(json)).audience == audience)
    }

    @Test func namesAreShownToWhoeverGaveThem() {
        let three = AudienceSummary(.users, count: 3, names: ["Alice", "bob", "Zoë"])
        #expect(three.masked(revealing: ["ALICE", "zoË", "x"]).names == ["Alice", "Zoë"])
        #expect(three.masked(revealing: ["ALICE"]).text == "3 users")
        let one = AudienceSummary(.users, names: ["Alice"])
        #expect(one.masked(revealing: []).text == "1 user" && one.masked(revealing: ["alice"]).text == "Alice")
        #expect(AudienceSummary(.installations, names: ["i"]).masked(revealing: []).names.isEmpty)
        let tags = AudienceSummary(.tags, names: ["News"])
        #expect(tags.masked(revealing: []) == tags)
    }

    @Test func whoExcludesANameOrGuessesAtItGaveNone() throws {
        let sought = [
            Sought(.user, is: "alice"), Sought(.user, is: "bo*"), Sought(.anything, is: "zoë"), Sought(.device, is: "i"),
            Sought(.user, is: "carl", isNegated: true), Sought(.title, is: "dora"),
        ]
        #expect(try ResultFilter(sought).givenNames == ["alice", "zoë", "i"])
    }

    @Test func anAudienceIsWrittenForLists() {
        let json = String(decoding: AudienceSummary(.users, names: ["al\"ice"]).json, as: UTF8.self)
        #expect(json == #"{"kind":"users","count":1,"names":["al\"ice"],"text":"al\"ice"}"#)
        #expect(String(decoding: AudienceSummary(.all).json, as: UTF8.self) == #"{"kind":"all","count":1,"text":"all"}"#)
    }

    @Test(arguments: [
        RequestRecords.users, RequestRecords.tags, RequestRecords.expression, RequestRecords.all, RequestRecords.devices,
        RequestRecords.installation, RequestRecords.part, "{}", "7", #"{"not_before":"2026-11-21T12:00:00Z"}"#,
        #"{"audience":{"users":["\ud83d","a"]},"message":{"title":"\udc00 \u0000"}}"#,
    ])
    func factsAreReadBackAsTheyWereWritten(json: String) throws {
        let facts = RequestFacts(RequestRecords.read(json))
        #expect(try #require(RequestFacts(json: facts.json)) == facts)
        #expect(RequestFacts(json: facts.json)?.json == facts.json)
    }

    @Test(arguments: [
        "", "7", "{}", #"{"id":7,"to":{"kind":"all","count":1}}"#, #"{"id":"a"}"#, #"{"id":"a","to":{"kind":"x","count":1}}"#,
    ])
    func otherTextsAreNoFacts(json: String) {
        #expect(RequestFacts(json: Array(json.utf8)) == nil)
    }

    @Test func factsHaveNoHandle() {
        let json = String(decoding: RequestFacts(RequestRecords.read(RequestRecords.devices)).json, as: UTF8.self)
        #expect(!json.lowercased().contains("abcd") && !json.contains("Tok") && json.contains("devices"))
    }

    @Test(arguments: [
        ("", true), ("request:news.3", true), ("request:news", false), ("state:held", true), ("state:failed", false),
        ("hub:*", false),
        ("topic:push.requests.v1", true), ("partition:3", true), ("partition:>3", false), ("root:root-1", true),
        ("parent:parent-1", true),
        ("job:j-1", true), ("actor:ann", true), ("generation:2", true), ("-actor:ann", false), ("source:*", false),
    ])
    func filtersOfResultsCanBeAskedOfARequest(terms: String, isMatch: Bool) throws {
        let facts = RequestFacts(RequestRecords.read(RequestRecords.part))
        let shape = facts.resultShape(state: "held", topic: "push.requests.v1", partition: 3, offset: 17)
        let document = try #require(Records.read(String(decoding: shape, as: UTF8.self)))
        // A state without a result is no word of results yet, so it is quoted.
        let filter = try ResultFilter(terms.replacing("state:held", with: "state:\"held\""), now: noon)
        #expect(filter.matches(document) == isMatch)
        #expect(try ResultFilter("request:news", now: noon).withParts.matches(document))
    }

    @Test func labelsAndTenantsCanBeAskedOfARequest() throws {
        let facts = RequestFacts(RequestRecords.read(RequestRecords.users))
        let shape = facts.resultShape(state: "published", topic: "t", partition: 0, offset: 1)
        let document = try #require(Records.read(String(decoding: shape, as: UTF8.self)))
        for text in ["tenant:shop", "source:/orders", "label.campaign:\"New Year\"", "label.kind:m*"] {
            #expect(try ResultFilter(text, now: noon).matches(document), "\(text)")
            #expect(try !ResultFilter("-" + text, now: noon).matches(document), "\(text)")
        }
    }
}
