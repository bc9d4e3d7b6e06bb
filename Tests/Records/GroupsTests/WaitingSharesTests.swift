import Testing

@testable import Groups

@Suite struct WaitingSharesTests {
    private static func shares(_ counts: [(source: String?, tenant: String?, count: Int)]) -> WaitingShares {
        var shares = WaitingShares()
        for (source, tenant, count) in counts { for _ in 0..<count { shares.add(source: source, tenant: tenant) } }
        return shares
    }

    @Test func theFirstFiveStandByThemselvesAndTheRestTogether() {
        let shares = Self.shares([
            ("g", nil, 1), ("b", "acme", 3), ("a", nil, 3), ("f", nil, 2), (nil, "acme", 4), ("c", nil, 9), ("e", nil, 2),
            ("d", nil, 5),
        ])
        let sources = shares.bySource
        #expect(sources.first.map(\.name) == ["c", "d", "a", "b", "e"] && sources.first.map(\.requests) == [9, 5, 3, 3, 2])
        #expect(shares.requests == 29 && sources.others == 3 && sources.unnamed == 4)
        #expect(sources.text == "c 9, d 5, a 3, b 3, e 2, others 3, none 4")
        #expect(shares.byTenant.text == "acme 7, none 22")
    }

    @Test func nothingIsSaidWhereNoRequestNamesOne() {
        #expect(WaitingShares().bySource.text == nil)
        let shares = Self.shares([(nil, "acme", 2)])
        #expect(shares.bySource.text == nil && shares.bySource.unnamed == 2 && shares.byTenant.text == "acme 2")
    }

    @Test func thoseOfSeveralPartitionsAreSummedUp() {
        var sum = Self.shares([("shop", nil, 2), ("billing", "acme", 1)])
        sum.add(Self.shares([("shop", "acme", 3), (nil, nil, 1)]))
        #expect(sum == Self.shares([("shop", nil, 2), ("shop", "acme", 3), ("billing", "acme", 1), (nil, nil, 1)]))
        #expect(sum.requests == 7 && sum.bySource.text == "shop 5, billing 1, none 1" && sum.byTenant.text == "acme 4, none 3")
    }

    /// Publishers name their sources as they like.
    @Test(arguments: [
        ("shop-1.eu/orders:a@b", "shop-1.eu/orders:a@b 1"), ("billing 9000, others", "'billing 9000, others' 1"),
        ("none", "none 1"), ("\u{1B}[2J", "$'\\x1b[2J' 1"), ("a\u{202E}b", "$'a\\u202eb' 1"),
        (String(repeating: "x", count: 40), String(repeating: "x", count: 40) + " 1"),
        (String(repeating: "x", count: 41), String(repeating: "x", count: 40) + "… 1"),
    ])
    func aNameIsNotTakenForOtherWordsOfTheLine(name: String, text: String) {
        let ranking = Self.shares([(name, nil, 1)]).bySource
        #expect(ranking.text == text && ranking.first.map(\.name) == [name])
    }
}
