@testable import PublishAPI
@testable import GatewayAPI
import DoorStage
import Publishing
import PushModel
import Results
import TestSupport
import Testing

/// What a gateway keeps of the requests that it has published, without clock and thread.
@Suite struct PublishedRequestsTests {
    private static let shop = RequestOwner(source: "shop", tenant: nil)
    private static let asker = Asker(keyID: "k1", source: "shop", tenant: nil, mayPublish: true, mayRead: false)
    private static let place = RequestPlace(record: StoredPlace(topic: "push.requests.v1", partition: 3, offset: 17))

    private func request(
        _ id: String, of owner: RequestOwner = shop, expiresAt: Timestamp? = nil, notBefore: Timestamp? = nil
    ) -> PublishedRequest {
        PublishedRequest(id: id, owner: owner, acceptedAt: 0, expiresAt: expiresAt, notBefore: notBefore)
    }

    @Test func aRequestGoesFromHandedOverToWrittenToItsResult() throws {
        var store = PublishedRequests()
        let key = store.add(request("a"), at: 0)
        #expect(store[key]?.standing(at: 0) == .unconfirmed && store.contain("a") && !store.contain("b"))
        store.noteWritten(key, at: Self.place)
        #expect(store[key]?.standing(at: 0) == .accepted && store[key]?.place == Self.place)
        store.take(try LookupResults.record("sent", of: "a"), at: 5)
        #expect(store[key]?.standing(at: 5).word == "sent")
    }

    /// A `duplicate` of the same id says nothing before the result of the first request with the id was searched.
    @Test(
        arguments: [
            (["sent"], "sent"), (["sameID"], "unknown"), (["sameKey"], "duplicate"), (["sameID", "sent"], "sent"),
            (["sent", "sameID"], "sent"), (["sent", "failed"], "sent"), (["sameID", "sameID"], "unknown"),
            (["outcome"], "accepted"), (["sameID", "sameKey"], "unknown"),
        ] as [([String], String)])
    func ofTwoFinalResultsTheOneThatIsNoRepetitionCounts(words: [String], state: String) throws {
        var store = PublishedRequests()
        let key = store.add(request("a"), at: 0)
        store.noteWritten(key, at: Self.place)
        for word in words { store.take(try LookupResults.record(word, of: "a"), at: 100) }
        #expect(store[key]?.standing(at: 100).word == state)
    }

    /// Each end of a search, of a request that was found or of one that was published here and ended as `duplicate`.
    @Test(
        arguments: [
            (true, nil, "unknown", .sinceItsRecord), (true, "unknown", "unknown", .sinceItsRecord),
            (true, "open", "published", nil),
            (true, "final", "failed", nil), (true, "repeated", "published", nil), (true, "alone", "duplicate", nil),
            (false, nil, "unknown", .sinceItsID), (false, "unknown", "unknown", .sinceItsID), (false, "open", "accepted", nil),
            (false, "final", "failed", nil), (false, "repeated", "accepted", nil), (false, "alone", "duplicate", nil),
        ] as [(Bool, String?, String, ResultSearch?)])
    func aStateIsSaidWhenItsResultWasSearched(
        isFound: Bool, ending: String?, state: String, missing: ResultSearch?
    ) throws {
        var store = PublishedRequests()
        let owner = RequestOwner(source: "shop", tenant: nil)
        let key = store.add(
            PublishedRequest(id: "a", owner: owner, acceptedAt: 0, foundAt: isFound ? Self.place : nil), at: 0)
        if !isFound {
            store.noteWritten(key, at: Self.place)
            store.take(try LookupResults.record("sameID", of: "a"), at: 1)
        }
        let answers: [String: ResultTracer.Answer] = [
            "unknown": .unknown, "open": .open(repetition: nil), "final": .final(try LookupResults.record("failed", of: "a")),
            "repeated": .open(repetition: try LookupResults.record("sameID", of: "a")),
            "alone": .repetition(try LookupResults.record("sameID", of: "a")),
        ]
        if let answer = ending.flatMap({ answers[$0] }), let search = store[key]?.missingSearch {
            store.note(answer, to: search, of: key, at: 2)
        }
        #expect(store[key]?.standing(at: 2).word == state && store[key]?.missingSearch == missing)
        // Whatever was said, the result that counts is heard of when it comes.
        store.take(try LookupResults.record("failed", of: "a"), at: 3)
        #expect(store[key]?.standing(at: 3).word == "failed")
    }

    @Test func aRepetitionThatComesAfterASearchSinceTheRecordNeedsAnother() throws {
        var store = PublishedRequests()
        let owner = RequestOwner(source: "shop", tenant: nil)
        let key = store.add(PublishedRequest(id: "a", owner: owner, acceptedAt: 0, foundAt: Self.place), at: 0)
        store.note(.open(repetition: nil), to: .sinceItsRecord, of: key, at: 0)
        store.take(try LookupResults.record("sameID", of: "a"), at: 1)
        #expect(store[key]?.missingSearch == .sinceItsID && store[key]?.standing(at: 1) == .unknown)
    }

    @Test func aResultOfAnothersRequestWithTheSameIDIsNotTaken() throws {
        var store = PublishedRequests()
        let mine = store.add(request("a"), at: 0)
        let others = store.add(request("a", of: RequestOwner(source: "bank", tenant: "b")), at: 0)
        store.take(try LookupResults.record("sent", of: "a", members: #","source":"bank","tenant":"b""#), at: 1)
        #expect(store[mine]?.ending == nil && store[others]?.ending?.state == "sent")
        store.take(try LookupResults.record("failed", of: "a", members: #","source":"shop""#), at: 1)
        #expect(store[mine]?.ending?.state == "failed" && store[others]?.ending?.state == "sent")
        #expect(store.find("a", for: Self.asker, at: 1)?.key == mine)
    }

    /// The result of a record that a worker cannot read names nothing but that record's place. A forged one may name none.
    @Test(
        arguments: [
            ("null", "null", "", nil), ("7", "null", "", nil), ("null", #""t1""#, origin(7), nil), (#""shop""#, "null", "", nil),
            (#""shop""#, #""t2""#, origin(7), nil), (#""bank""#, #""t1""#, origin(7), nil), ("null", "null", origin(8), nil),
            ("null", "null", origin(7, in: "others"), nil), ("null", "null", #","origin":{"topic":"requests"}"#, nil),
            ("null", "null", origin(7), "sent"), (#""shop""#, #""t1""#, "", "sent"),
        ] as [(String, String, String, String?)])
    func aResultIsOfTheRequestThatItNames(source: String, tenant: String, origin: String, state: String?) throws {
        var store = PublishedRequests()
        let key = store.add(request("a", of: RequestOwner(source: "shop", tenant: "t1")), at: 0)
        let place = StoredPlace(topic: "requests", partition: 1, offset: 7)
        store.noteWritten(key, at: RequestPlace(record: place, time: nil))
        let members = #","source":\#(source),"tenant":\#(tenant)\#(origin)"#
        store.take(try LookupResults.record("sent", of: "a", members: members), at: 1)
        #expect(store[key]?.ending?.state == state)
        store.take(try LookupResults.record("sent", of: "a", members: #","source":"shop","tenant":"t1""#), at: 2)
        #expect(store[key]?.ending?.state == "sent", "its own counts, whatever came before")
    }

    private static func origin(_ offset: Int, in topic: String = "requests") -> String {
        #","origin":{"topic":"\#(topic)","partition":1,"offset":"\#(offset)"}"#
    }

    @Test(
        arguments: [
            ("shop", nil, true, false, true), ("shop", "t1", true, false, true), ("x", nil, true, false, false),
            ("x", nil, false, true, true), ("x", "t1", false, true, true), ("x", "t2", false, true, false),
            ("shop", "t2", true, true, false), ("shop", nil, false, false, false),
        ] as [(String, String?, Bool, Bool, Bool)])
    func whoMaySeeARequest(source: String, tenant: String?, mayPublish: Bool, mayRead: Bool, sees: Bool) {
        let owner = RequestOwner(source: "shop", tenant: "t1")
        let asker = Asker(keyID: "k2", source: source, tenant: tenant, mayPublish: mayPublish, mayRead: mayRead)
        #expect(asker.maySee(owner) == sees)
        var store = PublishedRequests()
        let key = store.add(request("a", of: owner), at: 0)
        #expect(store.find("a", for: asker, at: 0)?.key == (sees ? key : nil))
    }

    @Test func ofARecordThatWasFoundTheSourceSaysWhoseItIs() {
        let owner = RequestOwner(source: "shop", tenant: nil)
        #expect(Self.asker.owns(owner))
        #expect(!Asker(keyID: "k1", source: "bank", tenant: nil, mayPublish: true, mayRead: false).maySee(owner))
    }

    @Test func whatWasCertainlyNotWrittenLeavesUnlessAnotherRecordMayBe() {
        var store = PublishedRequests()
        let alone = store.add(request("a"), at: 0)
        store.noteNotWritten(alone)
        #expect(store.count == 0 && store[alone] == nil)
        let first = store.add(request("b"), at: 0)
        #expect(store.add(request("b"), at: 0) == first && store.count == 1)
        store.noteNotWritten(first)
        #expect(store.count == 1, "of the other record nobody knows yet")
        store.noteNotWritten(first)
        #expect(store.count == 0)
    }

    @Test func itLeavesTenMinutesAfterItsResultOrItsExpiry() throws {
        var store = PublishedRequests()
        let ended = store.add(request("ended", expiresAt: 1000), at: 0)
        let expired = store.add(request("expired", expiresAt: 1000), at: 0)
        let endless = store.add(request("endless"), at: 0)
        store.take(try LookupResults.record("sent", of: "ended"), at: 500)
        #expect(store.find("ended", for: Self.asker, at: 600_499) != nil)
        #expect(store.find("ended", for: Self.asker, at: 600_500) == nil && store[ended] == nil)
        #expect(store.find("expired", for: Self.asker, at: 600_999) != nil)
        #expect(store.find("expired", for: Self.asker, at: 601_000) == nil && store[expired] == nil)
        #expect(store[endless] != nil && store.count == 1 && store.resultByteCount == 0)
    }

    @Test func beyondTheCountTheFirstLeavesAndBeyondTheBytesTheFirstThatEnded() throws {
        var limits = PublishedRequests.Limits()
        let size = try LookupResults.record("sent", of: "a").json.count
        (limits.count, limits.resultByteCount) = (3, 2 * size)
        var store = PublishedRequests(limits)
        let keys = ["a", "b", "c", "d"].map { store.add(request($0), at: 0) }
        #expect(store.count == 3 && store[keys[0]] == nil)
        for id in ["d", "c", "b"] { store.take(try LookupResults.record("sent", of: id), at: 1) }
        #expect(store[keys[3]] == nil && store[keys[1]] != nil && store[keys[2]] != nil)
        #expect(store.count == 2 && store.resultByteCount == 2 * size)
    }

    /// What whoever has most adds pushes out nothing of another, whichever tenants its requests name.
    @Test func beyondTheBoundsWhoeverHasMostLosesItsFirst() throws {
        var limits = PublishedRequests.Limits()
        let size = try LookupResults.record("sent", of: "a").json.count
        (limits.count, limits.resultByteCount) = (100, 20 * size)
        var store = PublishedRequests(limits)
        let quiet = store.add(request("quiet"), at: 0)
        store.take(try LookupResults.record("sent", of: "quiet"), at: 1)
        for number in 0..<1_000 {
            let id = "greedy-\(number)"
            let owner = RequestOwner(source: "bank", tenant: "t\(number)")
            let key = store.add(
                PublishedRequest(id: id, owner: owner, acceptedAt: 0, keptFor: Party(tenant: nil, source: "bank")), at: 2)
            store.take(try LookupResults.record("sent", of: id), at: 3)
            #expect(store[key] != nil, "the newest stays")
        }
        for number in 0..<1_000 { _ = store.add(request("bare-\(number)", of: RequestOwner(source: "bank", tenant: nil)), at: 4) }
        #expect(store[quiet]?.ending?.state == "sent" && store.count == 100)
        #expect(store.resultByteCount <= limits.resultByteCount)
        #expect(store.find("quiet", for: Self.asker, at: 600_001) == nil, "it leaves by its age as before")
    }

    /// Lives of all kinds, far more than are kept: what a request costs does not depend on how many are.
    @Test(arguments: [1_000, 100_000]) func aRequestCostsAFewStepsHoweverManyAreKept(size: Int) throws {
        var limits = PublishedRequests.Limits()
        limits.count = size
        limits.resultByteCount = size * 20
        var store = PublishedRequests(limits)
        // One that stays before all others in the order of their coming would let a list grow.
        _ = store.add(request("r0", expiresAt: .never), at: 0)
        let rounds = 3 * size
        for number in 1...rounds {
            let now = Timestamp.at(Int64(number) * 400_000 / Int64(size))
            let key = store.add(request("r\(number)", expiresAt: now.adding(seconds: Int64(number % 7))), at: now)
            if number % 3 > 0 { store.noteWritten(key, at: Self.place) } else { store.noteNotWritten(key) }
            if number % 6 == 1 { store.take(try LookupResults.record("sent", of: "r\(number)"), at: now) }
        }
        #expect(store.count <= size && store.resultByteCount <= limits.resultByteCount)
        #expect(store.stepCount <= 10 * rounds, "\(store.stepCount) steps for \(rounds) requests")
    }
}
