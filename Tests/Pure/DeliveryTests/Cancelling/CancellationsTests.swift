import Delivery
import PushModel
import TestSupport
import Testing

/// Which requests are cancelled, and for how long that is known.
@Suite struct CancellationsTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let lifetime = Cancellations.lifetime

    @Test(
        arguments: [
            (-1, true), (0, true), (1, false), (Cancellations.lifetime, false), (-2 * Cancellations.lifetime, true),
        ] as [(Int64, Bool)])
    func aCancellationConcernsWhatWasPublishedUntilItsMoment(_ published: Int64, _ isCancelled: Bool) {
        var cancellations = Cancellations()
        #expect(cancellations.isEmpty)
        let isTaken = cancellations.add("a", at: Self.now, now: Self.now)
        #expect(isTaken)
        #expect(!cancellations.isEmpty && cancellations.count == 1)
        let found = cancellations.cancellation(of: "a", published: Self.now.adding(milliseconds: published))
        #expect(found?.moment == (isCancelled ? Self.now : nil))
        #expect(cancellations.cancellation(of: "b", published: Self.now.adding(milliseconds: published)) == nil)
        #expect(cancellations.cancellation(of: "", published: Self.now.adding(milliseconds: published)) == nil)
    }

    @Test(
        arguments: [
            (0, true), (-1, true), (1, true), (.max, true), (1 - Cancellations.lifetime, true), (-Cancellations.lifetime, false),
            (.min / 2, false),
        ] as [(Int64, Bool)])
    func whatIsTooOldIsNotTakenInAndWhatIsYetToComeIsNow(_ moment: Int64, _ isNew: Bool) {
        var cancellations = Cancellations()
        let at = Self.now.adding(milliseconds: moment)
        let isTaken = cancellations.add("a", at: at, now: Self.now)
        #expect(isTaken == isNew)
        #expect(cancellations.count == (isNew ? 1 : 0))
        #expect(cancellations.cancellation(of: "a", published: Self.now.adding(milliseconds: 1)) == nil)
        let found = cancellations.cancellation(of: "a", published: Self.now.adding(milliseconds: -Self.lifetime))
        #expect(found?.moment == (isNew ? min(at, Self.now) : nil))
    }

    private static let lineage =
        #","replay":{"root_request_id":"first","parent_request_id":"second","parent_origin":"t:0:1","generation":2,"job_id":"j"}"#

    /// Of a part, the whole counts; of a replay, what it repeats does, so that a new id escapes no cancellation.
    @Test(
        arguments: [
            ("", "r", true), ("", "other", false),
            (
                #","parent":{"id":"w","key":"k","partition":0,"chunk":0,"chunks":2,"published_at":"2026-01-01T00:00:00Z"}"#, "w",
                true
            ),
            (Self.lineage, "first", true),
            (Self.lineage, "second", true),
            (Self.lineage, "third", false),
        ])
    func aCancellationConcernsPartsAndReplaysToo(_ members: String, _ id: String, _ isCancelled: Bool) throws {
        var cancellations = Cancellations()
        cancellations.add(id, at: Self.now, now: Self.now)
        let json = Array(#"{"id":"r","audience":{"users":["a"]},"message":{"title":"T"}\#(members)}"#.utf8)
        var request = PushRequest()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Self.now)
        _ = RequestReader(from: .own).read(json.span, headers: RecordHeaders(), origin: origin, into: &request)
        #expect(cancellations.cancellation(of: request, published: Self.now)?.moment == (isCancelled ? Self.now : nil))
        let later = Self.now.adding(milliseconds: 1)
        #expect(cancellations.cancellation(of: request, published: later) == nil || members.contains("parent\""))
    }

    @Test func theLatestCancellationOfAnIdCounts() {
        var cancellations = Cancellations()
        let isFirstTaken = cancellations.add("a", at: Self.now.adding(milliseconds: -10), reason: "first", now: Self.now)
        #expect(isFirstTaken)
        let isSameTaken = cancellations.add("a", at: Self.now.adding(milliseconds: -10), reason: "again", now: Self.now)
        #expect(!isSameTaken)
        let isEarlierTaken = cancellations.add("a", at: Self.now.adding(milliseconds: -20), reason: "earlier", now: Self.now)
        #expect(!isEarlierTaken)
        #expect(cancellations.cancellation(of: "a", published: Self.now.adding(milliseconds: -10))?.reason == "first")
        #expect(cancellations.cancellation(of: "a", published: Self.now.adding(milliseconds: -9)) == nil)
        let isLaterTaken = cancellations.add("a", at: Self.now, reason: nil, now: Self.now)
        #expect(isLaterTaken)
        #expect(cancellations.cancellation(of: "a", published: Self.now)?.moment == Self.now)
        #expect(cancellations.cancellation(of: "a", published: Self.now)?.reason == nil)
        #expect(cancellations.count == 1)
    }

    @Test(arguments: [
        ("", 0), ("why", 3), (String(repeating: "é", count: 100), 100), (String(repeating: "🇨🇭", count: 300), 100),
        (String(repeating: "e" + String(repeating: "\u{301}", count: 49), count: 100), 10),
    ])
    func aReasonIsCutAtItsLimit(_ reason: String, _ length: Int) {
        var cancellations = Cancellations()
        cancellations.add("a", at: Self.now, reason: reason, now: Self.now)
        let kept = cancellations.cancellation(of: "a", published: Self.now)?.reason
        #expect(kept?.count == length && kept.map(reason.hasPrefix) == true)
    }

    @Test func beyondItsCapacityTheOneThatCameFirstIsForgotten() {
        var cancellations = Cancellations(capacity: 3)
        for number in 0..<10 {
            let moment = Self.now.adding(milliseconds: Int64(number))
            cancellations.add("\(number)", at: moment, now: moment)
            // To say again what is known needs no room.
            cancellations.add("\(number)", at: moment, now: Self.now.adding(milliseconds: 20))
            #expect(cancellations.count == min(number + 1, 3))
            #expect(cancellations.forgottenCount == max(0, number - 2))
        }
        let known = (0..<10).filter { cancellations.cancellation(of: "\($0)", published: Self.now) != nil }
        #expect(known == [7, 8, 9])
    }

    // MARK: Whose they are

    /// Requests of one id that differ in whose they are.
    @Test(
        arguments: [
            (.all, ["", "s", "r", "/t", "s/t", "r/t", "s/u"]), (.init(source: "s"), ["s", "s/t", "s/u"]),
            (.init(tenant: "t"), ["/t", "s/t", "r/t"]), (.init(source: "s", tenant: "t"), ["s/t"]),
        ] as [(CancelRecord.Scope, [String])])
    func aCancellationConcernsRequestsOfItsSourceAndTenantOnly(_ scope: CancelRecord.Scope, _ concerned: [String]) {
        var cancellations = Cancellations()
        cancellations.add("a", of: scope, at: Self.now, now: Self.now)
        let found = ["", "s", "r", "/t", "s/t", "r/t", "s/u"].filter { owner in
            let words = owner.split(separator: "/", omittingEmptySubsequences: false).map { $0.isEmpty ? nil : String($0) }
            let name = RequestName(id: "a", source: words[0], tenant: words.count > 1 ? words[1] : nil)
            return cancellations.cancellation(of: name, published: Self.now) != nil
        }
        #expect(found == concerned)
    }

    @Test(
        arguments: [
            ("r", "t", true), ("w", "t", true), ("first", "t", true), ("r", "u", false), ("w", "u", false), ("first", "u", false),
        ])
    func partsAndReplaysAreCancelledByTheirOwnersOnly(_ id: String, _ tenant: String, _ isCancelled: Bool) throws {
        let parent = #","parent":{"id":"w","key":"k","partition":0,"chunk":0,"chunks":2,"published_at":"2026-01-01T00:00:00Z"}"#
        let members = id == "w" ? parent : id == "first" ? Self.lineage : ""
        var cancellations = Cancellations()
        cancellations.add(id, of: .init(source: "s", tenant: tenant), at: Self.now, now: Self.now)
        let json = Array(
            #"{"id":"r","source":"s","tenant":"t","audience":{"users":["a"]},"message":{"title":"T"}\#(members)}"#.utf8)
        var request = PushRequest()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Self.now)
        _ = RequestReader(from: .own).read(json.span, headers: RecordHeaders(), origin: origin, into: &request)
        #expect(cancellations.cancellation(of: request, published: Self.now)?.moment == (isCancelled ? Self.now : nil))
    }

    @Test func cancellationsOfOneIdByTwoTenantsStandSideBySide() {
        let (mine, theirs) = (CancelRecord.Scope(source: "s", tenant: "t"), CancelRecord.Scope(source: "s", tenant: "u"))
        var cancellations = Cancellations()
        let earlier = Self.now.adding(milliseconds: -10)
        cancellations.add("a", of: mine, at: earlier, reason: "mine", now: Self.now)
        for moment in [-20, 0] as [Int64] {
            let isTaken = cancellations.add(
                "a", of: theirs, at: Self.now.adding(milliseconds: moment), reason: "theirs", now: Self.now)
            #expect(isTaken)
        }
        let name = RequestName(id: "a", source: "s", tenant: "t")
        let found = cancellations.cancellation(of: name, published: earlier)
        #expect(found?.reason == "mine" && found?.moment == earlier)
        #expect(cancellations.cancellation(of: name, published: Self.now) == nil)
        #expect(cancellations.count == 2)
    }

    @Test(arguments: [.all, .init(source: "mine"), .init(tenant: "mine")] as [CancelRecord.Scope])
    func oneWhoCancelsALotPushesOutItsOwn(_ scope: CancelRecord.Scope) {
        let stranger = CancelRecord.Scope(source: "stranger")
        let name = RequestName(id: "", source: scope.source, tenant: scope.tenant)
        var cancellations = Cancellations(capacity: 10)
        func known(of name: RequestName) -> [Int] {
            (0..<1000).filter { number in
                var name = name
                name.id = "\(number)"
                return cancellations.cancellation(of: name, published: Self.now) != nil
            }
        }
        for number in 0..<5 { cancellations.add("\(number)", of: scope, at: Self.now, now: Self.now) }
        for number in 100..<1000 { cancellations.add("\(number)", of: stranger, at: Self.now, now: Self.now) }
        #expect(known(of: name) == [0, 1, 2, 3, 4])
        #expect(cancellations.count == 10 && cancellations.forgottenCount == 895)
        #expect(scope == .all || known(of: RequestName(id: "", source: "stranger")) == [995, 996, 997, 998, 999])
    }

    @Test func whoComesLaterGetsRoomFromWhoeverHasTheMost() {
        var cancellations = Cancellations(capacity: 12)
        let scopes = ["a", "b", "c", "d"].map { CancelRecord.Scope(source: $0) }
        for scope in scopes {
            for number in 0..<100 { cancellations.add("\(number)", of: scope, at: Self.now, now: Self.now) }
        }
        for scope in scopes {
            let known = (0..<100).filter { number in
                let name = RequestName(id: "\(number)", source: scope.source)
                return cancellations.cancellation(of: name, published: Self.now) != nil
            }
            #expect(known == [97, 98, 99], "\(scope)")
        }
        #expect(cancellations.count == 12 && cancellations.forgottenCount == 388)
    }

    @Test func theExpiredOfEveryScopeAreForgotten() {
        var cancellations = Cancellations()
        for number in 0..<60 {
            let moment = Self.now.adding(seconds: Int64(number))
            cancellations.add("\(number)", of: .init(source: "\(number % 7)"), at: moment, now: moment)
        }
        for passed in [-1, 0, 20, 21, 58, 59] as [Int64] {
            cancellations.removeExpired(now: Self.now.adding(milliseconds: Self.lifetime + passed * 1000))
            #expect(cancellations.count == Int(59 - passed) && cancellations.forgottenCount == 0)
        }
        let isTaken = cancellations.add("0", of: .init(source: "0"), at: Self.now, now: Self.now)
        #expect(isTaken && cancellations.count == 1)
    }

    // MARK: Forgetting

    @Test func whatHasExpiredIsForgottenAndNoMore() {
        var cancellations = Cancellations()
        for number in 0..<100 {
            let moment = Self.now.adding(seconds: Int64(number))
            cancellations.add("\(number)", at: moment, now: moment)
        }
        for passed in [-1, 0, 41, 42, 98, 99] as [Int64] {
            cancellations.removeExpired(now: Self.now.adding(milliseconds: Self.lifetime + passed * 1000))
            #expect(cancellations.count == Int(99 - passed) && cancellations.forgottenCount == 0)
            let oldest = cancellations.cancellation(of: "\(passed + 1)", published: Self.now)
            #expect(oldest?.moment == (passed < 99 ? Self.now.adding(seconds: passed + 1) : nil))
            #expect(cancellations.cancellation(of: "\(passed)", published: Self.now) == nil)
        }
        #expect(cancellations.isEmpty)
    }

    /// Against a list that is searched from its end.
    @Test(arguments: 1...8) func inEveryOrderItIsWhatAListWouldSay(_ seed: Int) {
        var random = SeededRandom(seed)
        var cancellations = Cancellations(capacity: 20)
        var list: [(id: String, moment: Timestamp)] = []
        var now = Self.now
        for _ in 0..<2000 {
            let span = random.below(3) == 0 ? random.below(Int(Self.lifetime / 20)) : random.below(1000)
            now = now.adding(milliseconds: Int64(span))
            let id = "\(random.below(40))"
            let moment = now.adding(milliseconds: -Int64(random.below(2000)))
            cancellations.removeExpired(now: now)
            while let oldest = list.first, oldest.moment <= now.adding(milliseconds: -Self.lifetime) { list.removeFirst() }
            cancellations.add(id, at: moment, now: now)
            if let index = list.firstIndex(where: { $0.id == id }) {
                list[index].moment = max(list[index].moment, moment)
            } else {
                if list.count == 20 { list.removeFirst() }
                list.append((id, moment))
            }
            let asked = "\(random.below(40))"
            let published = now.adding(milliseconds: -Int64(random.below(Int(Self.lifetime))))
            let expected = list.first { $0.id == asked && published <= $0.moment }
            #expect(cancellations.cancellation(of: asked, published: published)?.moment == expected?.moment)
            #expect(cancellations.count == list.count)
        }
    }
}

extension Cancellations {
    @discardableResult
    fileprivate mutating func add(
        _ id: String, of scope: CancelRecord.Scope = .all, at moment: Timestamp, reason: String? = nil, now: Timestamp
    ) -> Bool {
        add(CancelRecord(requestID: id, scope: scope, reason: reason), at: moment, now: now)
    }

    fileprivate func cancellation(of id: String, published: Timestamp) -> Cancellation? {
        cancellation(of: RequestName(id: id), published: published)
    }
}
