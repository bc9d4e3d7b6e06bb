@testable import Page
import Basics
import TestSupport
import Testing

/// The life of sessions, and those that go when there are too many.
@Suite struct SessionsTests {
    private struct Key: Identifiable {
        let id: String
    }

    private typealias Kept = Sessions<Key>

    private static func digest(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func itEndsEightHoursAfterItsBeginningHoweverMuchItIsUsed() {
        var sessions = Kept()
        sessions.begin(Self.digest(1), of: Key(id: "a"), now: Self.time(0))
        for minute in stride(from: 20, to: 480, by: 20) as StrideTo<Int64> {
            #expect(sessions.use(Self.digest(1), now: Self.time(minute * 60))?.key.id == "a")
        }
        #expect(sessions.use(Self.digest(1), now: Self.time(8 * 3600 - 1)) != nil)
        #expect(sessions.use(Self.digest(1), now: Self.time(8 * 3600)) == nil && sessions.count == 0)
    }

    @Test func itEndsHalfAnHourAfterItsLastUse() {
        var sessions = Kept()
        sessions.begin(Self.digest(1), of: Key(id: "a"), now: Self.time(0))
        #expect(sessions.use(Self.digest(1), now: Self.time(1799)) != nil)
        #expect(sessions.use(Self.digest(1), now: Self.time(1799 + 1799)) != nil)
        #expect(sessions.use(Self.digest(1), now: Self.time(1799 + 1799 + 1800)) == nil)
        #expect(sessions.use(Self.digest(1), now: Self.time(1800)) == nil, "what is over stays so")
    }

    @Test func whatWasEndedIsGoneAndOthersStay() {
        var sessions = Kept()
        for number in 0..<3 { sessions.begin(Self.digest(number), of: Key(id: "a"), now: Self.time(0)) }
        sessions.end(Self.digest(1))
        sessions.end(Self.digest(7))
        #expect((0..<3).map { sessions.use(Self.digest($0), now: Self.time(1)) != nil } == [true, false, true])
    }

    @Test func theSeventeenthOfAKeyTakesThePlaceOfTheOneThatRestsLongest() {
        var sessions = Kept()
        sessions.begin(Self.digest(99), of: Key(id: "other"), now: Self.time(0))
        for number in 0..<16 { sessions.begin(Self.digest(number), of: Key(id: "a"), now: Self.time(Int64(number))) }
        _ = sessions.use(Self.digest(0), now: Self.time(20))
        sessions.begin(Self.digest(16), of: Key(id: "a"), now: Self.time(21))
        #expect(sessions.count == 17)
        #expect(sessions.use(Self.digest(1), now: Self.time(22)) == nil)
        for number in [0, 2, 16, 99] { #expect(sessions.use(Self.digest(number), now: Self.time(22)) != nil) }
    }

    @Test func beyond1024TheOneThatRestsLongestGoes() {
        var sessions = Kept()
        for number in 0..<1024 {
            sessions.begin(Self.digest(number), of: Key(id: "\(number / 16)"), now: Self.time(0) + Int64(number))
        }
        #expect(sessions.count == 1024)
        _ = sessions.use(Self.digest(0), now: Self.time(1))
        sessions.begin(Self.digest(1024), of: Key(id: "new"), now: Self.time(2))
        #expect(sessions.count == 1024 && sessions.use(Self.digest(1), now: Self.time(3)) == nil)
        #expect(
            sessions.use(Self.digest(0), now: Self.time(3)) != nil && sessions.use(Self.digest(1024), now: Self.time(3)) != nil)
    }

    @Test func beyond1024WhicheverKeyHasMostLosesOne() {
        var sessions = Kept()
        sessions.begin(Self.digest(0), of: Key(id: "quiet"), now: Self.time(0))
        for number in 1..<1024 {
            sessions.begin(Self.digest(number), of: Key(id: "\(number / 16)"), now: Self.time(1) + Int64(number))
        }
        #expect(sessions.count == 1024)
        sessions.begin(Self.digest(1024), of: Key(id: "new"), now: Self.time(2))
        #expect(sessions.count == 1024 && sessions.use(Self.digest(0), now: Self.time(3)) != nil)
        #expect(sessions.use(Self.digest(16), now: Self.time(3)) == nil, "the first of a key with 16")
    }

    @Test func thoseThatAreOverMakeRoomFirst() {
        var sessions = Kept()
        for number in 0..<16 { sessions.begin(Self.digest(number), of: Key(id: "a"), now: Self.time(number < 8 ? 0 : 1000)) }
        sessions.begin(Self.digest(16), of: Key(id: "a"), now: Self.time(1800))
        #expect(sessions.count == 9)
        for number in 8...16 { #expect(sessions.use(Self.digest(number), now: Self.time(1801)) != nil) }
    }

    /// A list that is searched from end to end.
    private struct Model {
        var all: [(digest: [UInt8], key: String, began: Int64, used: Int64)] = []

        mutating func clean(_ now: Int64) { all.removeAll { now >= $0.began + 28_800 || now >= $0.used + 1800 } }

        mutating func begin(_ digest: [UInt8], _ key: String, _ now: Int64) {
            clean(now)
            let ofKey = all.filter { $0.key == key }
            if ofKey.count >= 16, let oldest = ofKey.min(by: { $0.used < $1.used }) {
                all.removeAll { $0.digest == oldest.digest }
            }
            all.append((digest, key, now, now))
        }

        mutating func use(_ digest: [UInt8], _ now: Int64) -> String? {
            clean(now)
            guard let place = all.firstIndex(where: { $0.digest == digest }) else { return nil }
            all[place].used = now
            return all[place].key
        }
    }

    @Test(arguments: 1...20) func itDoesWhatAListWould(seed: Int) {
        var random = SeededRandom(seed)
        var (sessions, model) = (Kept(), Model())
        var (now, begun) = (Int64(0), 0)
        for _ in 0..<4000 {
            // No two events at once: of two that rest equally long either may go.
            now += Int64.random(in: 1...20, using: &random)
            let digest = Self.digest(Int.random(in: 0...max(0, begun), using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let key = "\(Int.random(in: 0..<3, using: &random))"
                begun += 1
                sessions.begin(Self.digest(begun), of: Key(id: key), now: Self.time(now))
                model.begin(Self.digest(begun), key, now)
            case 2:
                sessions.end(digest)
                model.all.removeAll { $0.digest == digest }
            default: #expect(sessions.use(digest, now: Self.time(now))?.key.id == model.use(digest, now))
            }
        }
    }
}

/// The name of a session's cookie.
@Suite struct SessionCookieTests {
    @Test(arguments: [
        ("127.0.0.1:8081", false, "pushfan-8081"), ("localhost", false, "pushfan-80"), ("[::1]:9", false, "pushfan-9"),
        ("[::1]", false, "pushfan-80"), ("host:", false, "pushfan-80"), ("host:123456", false, "pushfan-80"),
        ("host:8;0", false, "pushfan-80"), (nil, false, "pushfan-80"), ("127.0.0.1:8081", true, "__Host-pushfan"),
    ]) func theNameHasThePortInClearText(host: String?, isSecure: Bool, name: String) {
        #expect(SessionCookie.name(at: host, isSecure: isSecure) == name)
    }
}
