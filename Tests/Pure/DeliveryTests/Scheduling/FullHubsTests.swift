import Basics
import Delivery
import Testing

/// The time for which a hub without room holds up others, and what comes then.
struct FullHubsTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// A hub is full at 0 s. Its room at each second from then on, by `f` for full, `.` for neither, and `h` for half free, and whether
    /// deferral goes on there in the end.
    @Test(
        arguments: [
            // It begins after 5 s, not before.
            ("fffff", true), ("ffff", false), ("......", true), ("f.f.f", true),
            // What is half free for a moment is no end, neither before it begins nor behind that.
            ("fhfhf", true), ("h.h.hf", true), ("fffffhfhfhf", true), ("fffffh.h", true),
            // Half free twice running is an end, and the time begins again.
            ("hh", false), ("fhhff", false), ("ffffhh", false), ("fffffhh", false), ("hhffff", false), ("hhffffff", true),
        ])
    func deferralBeginsBehindFiveSecondsAndEndsWhenHalfIsFree(course: String, isDeferring: Bool) {
        var full = FullHubs()
        full.noteFull(3, now: Self.start)
        var now = Self.start
        for room in course {
            now += 1_000_000_000
            full.update(now: now, isHalfFree: { _ in room == "h" }, holdsUpOthers: { $0 == 3 })
            if room == "f" { full.noteFull(3, now: now) }
        }
        #expect(full.isDeferring(3) == isDeferring)
        #expect(!full.isDeferring(0) && !full.isDeferring(99))
    }

    /// It begins when others would wait, however late that is, and goes on when they do not any more.
    @Test func deferralIsForOthers() {
        var full = FullHubs()
        full.noteFull(1, now: Self.start)
        for second in 1...20 {
            let now = Self.start + Int64(second) * 1_000_000_000
            full.update(now: now, isHalfFree: { _ in false }, holdsUpOthers: { _ in second == 10 })
            #expect(full.isDeferring(1) == (second >= 10))
        }
    }

    @Test func eachHubHasATimeOfItsOwn() {
        var full = FullHubs()
        full.noteFull(5, now: Self.start)
        full.noteFull(2, now: Self.start + 3_000_000_000)
        var asked: [Int] = []
        full.update(now: Self.start + FullHubs.patience, isHalfFree: { _ in false }) { hub in
            asked.append(hub)
            return true
        }
        #expect(full.isFull(5) && full.isFull(2) && !full.isFull(0))
        #expect(asked == [5] && full.isDeferring(5) && !full.isDeferring(2) && full.numbers.sorted() == [2, 5])
        for _ in 0..<2 { full.update(now: Self.start, isHalfFree: { $0 == 5 }, holdsUpOthers: { _ in false }) }
        #expect(full.numbers == [2] && !full.isDeferring(5))
    }
}
