import PushModel

extension StatusReport {
    /// The wait from which requests are behind, and not just in work: 10 s in milliseconds.
    private static let behindAge: Int64 = 10_000

    /// The shares of sources and tenants in the requests of lanes that were read.
    package var shares: WaitingShares {
        lanes.reduce(into: WaitingShares()) { all, lane in
            if let counted = lane.counted { all.add(counted.shares) }
        }
    }

    /// The end of the backlog in lanes at the present rates. What is delayed or held does not count. Nil if nothing waits there, or workers
    /// do not say how much ends.
    package var outlook: BacklogOutlook? {
        finishedPerSecond.flatMap {
            BacklogOutlook(
                waiting: lag, isAtMost: lanes.contains(where: \.mayBeFewer), finishedPerSecond: $0,
                publishedPerSecond: publishedPerSecond)
        }
    }

    /// The requests that all workers finish in a second, or nil where not all of it is known.
    private var finishedPerSecond: Double? {
        let pages = workers.filter { !$0.isStale }.map { try? $0.page.get() }
        let rates = loops.map { Double($0.finishedPerSecond) }
        guard !rates.isEmpty, pages.allSatisfy({ $0?.omittedLoops == 0 }) else { return nil }
        return rates.reduce(0) { sum, rate in sum.flatMap { sum in rate.map { sum + $0 } } }
    }

    /// The largest sources and tenants, and the end of the backlog, a line for each. Empty while nothing in lanes waits for long.
    package var causes: [String] {
        guard lanes.contains(where: { age(of: $0) ?? 0 >= Self.behindAge }) else { return [] }
        let shares = shares
        let sample = lanes.contains(where: \.mayBeFewer) ? " (of the first \(shares.requests) read)" : ""
        let rankings = [("sources", shares.bySource), ("tenants", shares.byTenant)]
        return rankings.compactMap { name, ranking in ranking.text.map { "\(name): \($0)\(sample)" } }
            + [outlook?.text].compactMap(\.self)
    }

    /// Adds the shares and the end of the backlog to its JSON.
    func addCauses(to object: inout JSONObject) {
        let shares = shares
        var json = JSONObject(["requests": Int(shares.requests)])
        json.add("sources", raw: Self.json(shares.bySource))
        json.add("tenants", raw: Self.json(shares.byTenant))
        object.add("waiting_by", raw: json.bytes)
        if let outlook { object.add("outlook", raw: Self.json(outlook)) }
    }

    private static func json(_ ranking: WaitingShares.Ranking) -> [UInt8] {
        var json = JSONObject()
        json.add("first", array: ranking.first.map { JSONObject(["name": $0.name, "requests": Int($0.requests)]).bytes })
        json.add(["others": Int(ranking.others), "unnamed": Int(ranking.unnamed)])
        return json.bytes
    }

    private static func json(_ outlook: BacklogOutlook) -> [UInt8] {
        var json = JSONObject()
        switch outlook.trend {
        case .ends(let after): json.add(["trend": "ends", "done_in_ms": Int(after), "at_most": outlook.isAtMost])
        case .grows: json.add("trend", value: "grows")
        case .stays: json.add("trend", value: "stays")
        case .stands: json.add("trend", value: "stands")
        }
        json.add("finished_per_second", raw: Array("\(outlook.finishedPerSecond)".utf8))
        if let published = outlook.publishedPerSecond { json.add("published_per_second", raw: Array("\(published)".utf8)) }
        return json.bytes
    }
}
