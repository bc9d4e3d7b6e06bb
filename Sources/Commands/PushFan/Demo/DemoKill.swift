import HubEmulator

/// Publishes ten thousand requests, kills a worker in the middle, and counts their outcomes.
struct DemoKill {
    static let count = 10_000
    private static let prefix = "order-"
    /// Nothing came for so long: there is nothing more.
    private static let quiet = Duration.milliseconds(500)

    /// The final counts.
    struct Ending {
        var results = 0
        var repeatedResults = 0
        var repeatedCalls = 0
        var rungTwice = 0

        var lost: Int { DemoKill.count - results }
    }

    let stage: DemoStage
    let text: DemoText

    func play() throws -> Ending {
        try text.heading("3  \(Self.count) requests, two workers, and one is killed in the middle, on purpose")
        let victim = try stage.addWorker()
        try text.step("joined", meaning: "worker demo-2, process \(victim.pid), shares the work with demo-1")
        let start = ContinuousClock.now
        // As far away as a real hub often is.
        stage.hub.arm([try Fault(parsing: "delay=10ms")])
        try stage.publish(Self.requests)
        try text.step("published", meaning: "\(Self.count) requests for one phone; the hub takes 10 ms for each call")
        var ending = try follow(victim)
        stage.hub.arm([])
        let phone = stage.hub.devices(handle: DemoDevice.crowded.emulated.handle).first
        ending.repeatedCalls = max(0, (phone?.rungCount ?? 0) - ending.results)
        ending.rungTwice = max(0, (phone?.visible.count ?? 0) - ending.results)
        try stage.forgetRings()
        try report(ending, after: start.duration(to: .now))
        return ending
    }

    private static var requests: [String] {
        (1...count).map { number in
            #"{"schema_version":1,"id":"\#(prefix)\#(number)","source":"/demo","audience":{"users":["cleo"]},"#
                + #""platforms":["apple"],"message":{"title":"Order \#(number)","body":"It is on its way"}}"#
        }
    }

    /// Reads results until each request has one and no more come. Kills a worker when a third of them is there.
    private func follow(_ victim: DemoProcess) throws -> Ending {
        var ids: Set<String> = []
        var ending = Ending()
        var isKilled = false
        var news = ContinuousClock.now
        while news.duration(to: .now) < (ids.count < Self.count ? DemoPatience.limit : Self.quiet) {
            guard let id = stage.nextResult()?.id, id.hasPrefix(Self.prefix) else { continue }
            news = .now
            if !ids.insert(id).inserted { ending.repeatedResults += 1 }
            guard !isKilled, ids.count >= Self.count / 3 else { continue }
            isKilled = true
            victim.kill()
            try text.step("killed", meaning: "demo-2, with SIGKILL at result \(ids.count), on purpose")
            try text.step("meanwhile", meaning: "demo-1 goes on, and gets demo-2's partitions when its session has run out")
        }
        ending.results = ids.count
        return ending
    }

    private func report(_ ending: Ending, after time: Duration) throws {
        let seconds = Double(time.components.seconds * 10 + time.components.attoseconds / 100_000_000_000_000_000) / 10
        try text.step("counted", meaning: "results \(ending.results), lost \(ending.lost), after \(seconds) s")
        try text.step("", meaning: "hub calls repeated \(ending.repeatedCalls): in flight or not committed at the kill")
        try text.step("", meaning: "rung twice \(ending.rungTwice): the phone replaces the first by its collapse id")
        try text.say(
            "The embedded broker only pretends to do transactions, so this ran with at_least_once: "
                + "\(ending.repeatedResults) results were written twice, too. On a real Kafka a result and its offset are "
                + "one transaction, and each request has one result.")
    }
}
