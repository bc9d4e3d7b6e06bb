import Testing

@testable import Groups

/// What workers say of an order.
@Suite struct OrderReachTests {
    private static let start: Int64 = 5_000_000

    private static func reach(_ reports: [String], at now: Int64 = start) -> OrderReach {
        var fleet = Fleet()
        for (place, text) in reports.enumerated() {
            fleet.take(key: Array("w\(place)".utf8), value: Array(text.utf8), heardAt: start)
        }
        return fleet.reach(of: "h-1", at: now)
    }

    /// A report of each kind, and where its worker counts.
    @Test(
        arguments: [
            (#"{"loops":[{}]}"#, "ignorant"), (#"{"loops":[]}"#, "ignorant"), (#"{"loops":[{"orders":7}]}"#, "ignorant"),
            (#"{"loops":[{"orders":[]}]}"#, "pending"), (#"{"loops":[{"orders":[{"id":"h-2"}]}]}"#, "pending"),
            (#"{"loops":[{"orders":[{"id":7},3]}]}"#, "pending"), (#"{"loops":[{}],"orders":[]}"#, "pending"),
            (#"{"loops":[{"orders":[{"id":"h-2"},{"id":"h-1","waiting":3}]}]}"#, "obeying"),
            (#"{"loops":[{}],"orders":[{"id":"h-1"}]}"#, "obeying"),
            (#"{"loops":[{"orders":[{"id":"h-1"}]},{"orders":[]}]}"#, "pending"),
            (#"{"loops":[{"orders":[{"id":"h-1"}]},{"orders":[{"id":"h-1"}]}]}"#, "obeying"),
            (#"{"loops":[{"orders":[{"id":"h-1"}]},{}]}"#, "ignorant"),
        ])
    func aWorkerObeysWhatEachOfItsLoopsNames(report: String, list: String) {
        let reach = Self.reach([report])
        let lists = ["obeying": reach.obeying, "pending": reach.pending, "ignorant": reach.ignorant]
        #expect(lists[list] == ["w0"] && reach.count == 1)
        #expect(reach.blind.isEmpty)
    }

    @Test func whoDoesNotReadOrdersIsBlindUnlessItObeysThisOne() {
        let reach = Self.reach([
            #"{"loops":[{"orders":[],"cancellations_off":true}]}"#,
            #"{"loops":[{"orders":[{"id":"h-1"}],"cancellations_off":true}]}"#, #"{"loops":[{"orders":[]}]}"#,
        ])
        #expect(reach.blind == ["w0"] && reach.pending == ["w0", "w2"] && reach.obeying == ["w1"])
    }

    @Test func whoIsSilentDoesNotCount() {
        let reports = [#"{"loops":[{"orders":[]}]}"#]
        #expect(Self.reach(reports, at: Self.start + Fleet.staleAge).count == 1)
        #expect(Self.reach(reports, at: Self.start + Fleet.staleAge + 1).count == 0)
    }

    @Test func theHubsOfReportsAreKnown() {
        let report = #"{"loops":[{"orders":[],"hubs":[{"hub":"north"},{"hub":"south"}]}]}"#
        #expect(Self.reach([report]).hubs == ["north", "south"])
    }
}
