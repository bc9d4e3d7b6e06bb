import TestSupport
import Testing

@testable import HTTPServing

struct IncomingBodyTests {
    private static func take(_ count: Int, by body: inout IncomingBody) -> IncomingBody.Fault? {
        take([UInt8](repeating: 0x61, count: count), by: &body)
    }

    private static func take(_ bytes: [UInt8], by body: inout IncomingBody) -> IncomingBody.Fault? {
        bytes.withUnsafeBytes { body.take($0) }
    }

    @Test func bytesTakeRoomAsTheyComeAndGiveItBackAtTheEnd() {
        let budget = BodyBudget(limit: 100, uncounted: 10)
        do {
            var body = IncomingBody(limit: 1000, budget: budget)
            for _ in 0..<2 { #expect(Self.take(50, by: &body) == nil) }
            #expect(budget.take(10) && !budget.take(1))
            #expect(Self.take(1, by: &body) == .noRoom)
            // Whoever has its bytes still holds them.
            #expect(body.giveBytes().count == 100 && !budget.take(1))
        }
        #expect(budget.take(90) && !budget.take(1))
    }

    @Test func theFirstBytesOfABodyAlwaysFindRoom() {
        let budget = BodyBudget(limit: 0, uncounted: 10)
        var body = IncomingBody(limit: 1000, budget: budget)
        #expect(Self.take(10, by: &body) == nil && Self.take(1, by: &body) == .noRoom)
    }

    @Test func whatIsReadPastTakesNoRoomAndCountsAllTheSame() {
        let budget = BodyBudget(limit: 100, uncounted: 0)
        var body = IncomingBody(limit: 300, budget: budget)
        #expect(Self.take(100, by: &body) == nil)
        body.readPast()
        #expect(budget.take(100))
        #expect(Self.take(200, by: &body) == nil && Self.take(1, by: &body) == .tooLarge)
        #expect(body.giveBytes().isEmpty)
    }

    /// For the sake of an answer eight times the limit, or 512 KiB, is read past.
    @Test(arguments: [(0, 8 << 16), (1 << 17, 1 << 20)]) func aBodyWithoutEndIsNotReadForEver(limit: Int, end: Int) {
        var body = IncomingBody(limit: limit, budget: BodyBudget(limit: .max, uncounted: 0))
        body.restrict(to: 10)
        #expect(Self.take(11, by: &body) == .tooLarge)
        #expect(Self.take(end - 12, by: &body) == .tooLarge && Self.take(1, by: &body) == .endless)
    }

    @Test func packedBytesTakeRoomAsWhatTheyBecomeAndSoDoesWhatUnpacksThem() {
        let budget = BodyBudget(limit: (40 << 10) + 249, uncounted: 10)
        do {
            var body = IncomingBody(limit: 259, budget: budget)
            body.unpack()
            #expect(budget.take((40 << 10) + 249))
            budget.giveBack((40 << 10) + 249)
            #expect(Self.take(GzipMaker.pack(0x61, repeats: 1), by: &body) == nil)
            #expect(!budget.take(1) && body.isComplete && body.giveBytes() == [UInt8](repeating: 0x61, count: 259))
            // Its bytes still count.
            #expect(budget.take(40 << 10) && !budget.take(1))
            budget.giveBack(40 << 10)
        }
        #expect(budget.take((40 << 10) + 249))
    }

    @Test func whatBecomesTooMuchOrFindsNoRoomOrIsBrokenIsNotKept() {
        let packed = GzipMaker.pack(0x61, repeats: 1)
        let (wide, narrow) = (BodyBudget(limit: .max, uncounted: 0), BodyBudget(limit: (40 << 10) + 258, uncounted: 0))
        for (limit, budget, bytes, fault) in [
            (258, wide, packed, IncomingBody.Fault.tooLarge), (259, narrow, packed, .noRoom), (259, wide, [1, 2, 3], .broken),
            (259, BodyBudget(limit: (40 << 10) - 1, uncounted: 0), packed, .noRoom),
        ] {
            var body = IncomingBody(limit: limit, budget: budget)
            body.unpack()
            #expect(Self.take(bytes, by: &body) == fault)
        }
        var body = IncomingBody(limit: 259, budget: wide)
        body.unpack()
        #expect(body.isComplete && Self.take(packed.dropLast(), by: &body) == nil && !body.isComplete)
    }

    @Test func aLimitIsOnlyLowered() {
        var body = IncomingBody(limit: 10, budget: BodyBudget(limit: .max, uncounted: 0))
        body.restrict(to: .max)
        #expect(body.limit == 10)
        body.restrict(to: 5)
        #expect(body.limit == 5)
    }
}
