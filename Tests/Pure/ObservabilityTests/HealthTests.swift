import Observability
import TestSupport
import Testing

@Suite(.tags(.threads)) struct HealthTests {
    private func text(_ report: HealthReport, verbose: Bool = true) -> String {
        String(decoding: report.body(verbose: verbose), as: UTF8.self)
    }

    @Test(arguments: HealthProbe.allCases) func processWithoutChecksIsWell(_ probe: HealthProbe) {
        let report = Health().report(probe, now: 0)
        #expect(report.status == 200)
        #expect(text(report, verbose: false) == "ok\n")
    }

    @Test func probesHaveTheirPaths() {
        #expect(HealthProbe.allCases.map(\.path) == ["/livez", "/readyz", "/startupz"])
    }

    @Test func aNoteStandsBesideACheckThatPasses() {
        let health = Health()
        let group = health.check("group", for: .ready, until: "not a member")
        group.note("6 records wait\nelsewhere")
        #expect(text(health.report(.ready, now: 0)) == "ok accepting_work\nfailing group: not a member\n")
        group.pass()
        let report = health.report(.ready, now: 0)
        #expect(report.status == 200 && text(report, verbose: false) == "ok\n")
        #expect(text(report) == "ok accepting_work\nok group: 6 records wait elsewhere\n")
        group.note(nil)
        #expect(text(health.report(.ready, now: 0)) == "ok accepting_work\nok group\n")
    }

    @Test func whatALackingCheckLacksIsShownAndTheProcessIsReady() {
        let health = Health()
        let kafka = health.check("kafka", for: .ready, until: "not asked yet")
        kafka.degrade("a topic\nis missing")
        #expect(text(health.report(.ready, now: 0), verbose: false) == "failing kafka: not asked yet\n")
        kafka.pass()
        for verbose in [false, true] {
            let report = health.report(.ready, now: 0)
            #expect(report.status == 200)
            let others = verbose ? "ok accepting_work\n" : ""
            #expect(text(report, verbose: verbose) == others + "degraded kafka: a topic is missing\n")
        }
        kafka.degrade(nil)
        #expect(text(health.report(.ready, now: 0), verbose: false) == "ok\n")
    }

    @Test func readinessNamesWhatIsMissing() {
        let health = Health()
        let settings = health.check("configuration", for: .startup, until: "not read yet")
        let group = health.check("consumer_group", for: .ready, until: "has not joined the group pushfan yet")
        settings.pass()
        let report = health.report(.ready, now: 0)
        #expect(report.status == 503)
        #expect(
            text(report) == """
                ok accepting_work
                ok configuration
                failing consumer_group: has not joined the group pushfan yet

                """)
        #expect(text(report, verbose: false) == "failing consumer_group: has not joined the group pushfan yet\n")
        group.pass()
        #expect(health.report(.ready, now: 0).passes)
        #expect(text(health.report(.ready, now: 0)) == "ok accepting_work\nok configuration\nok consumer_group\n")
    }

    @Test func processThatHasNotStartedIsNotReady() {
        let health = Health()
        let metadata = health.check("metadata", for: .startup, until: "no broker has answered yet")
        #expect(health.report(.startup, now: 0).status == 503)
        #expect(health.report(.ready, now: 0).status == 503)
        #expect(health.report(.live, now: 0).status == 200)
        metadata.pass()
        #expect(health.report(.startup, now: 0).status == 200)
    }

    @Test func startHappensOnce() {
        let health = Health()
        let metadata = health.check("metadata", for: .startup, until: "no broker has answered yet")
        #expect(!metadata.fail("still none"))
        #expect(text(health.report(.startup, now: 0)) == "failing metadata: still none\n")
        #expect(metadata.pass())
        #expect(!metadata.fail("the broker went away"))
        #expect(health.report(.startup, now: 0).passes)
    }

    @Test func changeIsToldOnce() {
        let check = Health().check("hub", for: .ready, until: "not tried yet")
        #expect(check.pass())
        #expect(!check.pass())
        #expect(check.fail("circuit open"))
        #expect(!check.fail("circuit still open"))
        #expect(check.pass())
    }

    @Test func outageOfKafkaOrHubLeavesTheProcessAlive() {
        let health = Health()
        health.check("consumer_group", for: .ready, until: "not joined").fail("no broker answers")
        health.check("hub", for: .ready, until: "not tried").fail("cannot be reached")
        #expect(health.report(.ready, now: 0).status == 503)
        #expect(health.report(.live, now: 0).status == 200)
    }

    static let turns: [(now: Int64, isAlive: Bool)] = [
        (0, true), (9_999_999_999, true), (10_000_000_000, true), (10_000_000_001, false), (.max, false), (-1, true),
    ]

    @Test(arguments: turns) func loopThatStandsStillIsNotAlive(_ turn: (now: Int64, isAlive: Bool)) {
        let health = Health()
        _ = health.heartbeat("loop", limit: .seconds(10), now: 0)
        #expect(health.report(.live, now: turn.now).passes == turn.isAlive)
        #expect(health.report(.ready, now: turn.now).passes)
    }

    @Test func loopThatTurnsAgainIsAlive() {
        let health = Health()
        let loop = health.heartbeat("loop", limit: .seconds(1), now: 0)
        #expect(text(health.report(.live, now: 5_000_000_000)) == "failing loop: has not turned for 5 s\n")
        loop.noteTurn(at: 4_500_000_000)
        #expect(text(health.report(.live, now: 5_000_000_000)) == "ok loop\n")
    }

    @Test func drainingProcessIsAliveAndNotReady() {
        let health = Health()
        health.beginDraining()
        health.beginDraining()
        #expect(health.report(.ready, now: 0).status == 503)
        #expect(text(health.report(.ready, now: 0)) == "failing accepting_work: the process is draining and will stop\n")
        #expect(health.report(.live, now: 0).passes)
        #expect(health.report(.startup, now: 0).passes)
    }

    @Test func reasonCannotForgeALine() {
        let health = Health()
        health.check("hub", for: .ready, until: "").fail("bad\nok hub\r\u{1B}[0m")
        #expect(text(health.report(.ready, now: 0), verbose: false) == "failing hub: bad ok hub  [0m\n")
    }

    @Test func checksMayBeSetFromManyThreads() async {
        let health = Health()
        let checks = (0..<8).map { health.check("c\($0)", for: .ready, until: "new") }
        await withTaskGroup(of: Void.self) { group in
            for check in checks {
                group.addTask { for _ in 0..<500 { check.fail("busy"); check.pass() } }
            }
            group.addTask { for _ in 0..<200 { _ = health.report(.ready, now: 0).body(verbose: true) } }
        }
        #expect(health.report(.ready, now: 0).passes)
    }
}
