import Console
import Kafka
import Observability
import Settings
import Synchronization
import TestSupport
import Testing

/// No broker: commands and services say so before they give up, in one line, in plain words.
@Suite struct BrokerNoticeTests {
    @Test(arguments: [
        "topics check", "topics create", "results list", "results show x", "results tail", "failed", "status", "doctor",
        "enqueue --user a --title x",
    ])
    func aCommandSaysThatNoBrokerAnswers(line: String) {
        var harness = Harness()
        harness.instant = passingSeconds()
        let outcome = harness.run(line + " --bootstrap 127.0.0.1:1 --timeout 300ms")
        let name = line.split(separator: " -").first.map(String.init)?.replacing(" x", with: "") ?? ""
        let said =
            "pushfan \(name): no broker answers at 127.0.0.1:1 (connection refused); trying on; is `kafka.bootstrap_servers` right?"
        #expect(outcome.messages.split(separator: "\n").first.map(String.init) == said, "\(outcome.messages)")
        for word in ["_TRANSPORT", "bootstrap:", "ipv4#", "identical error"] { #expect(!outcome.messages.contains(word)) }
    }

    @Test func aCommandThatGivesUpNamesTheReason() {
        let outcome = Harness().run("enqueue --user a --title x --bootstrap 127.0.0.1:1 --timeout 300ms")
        #expect(outcome.code == .unreachable)
        #expect(
            outcome.messages.hasPrefix(
                "pushfan enqueue: cannot write to push.requests.v1: no broker answers at 127.0.0.1:1 (connection refused)\n"))
        #expect(!outcome.messages.contains("trying on"), "its time is over before 2 s")
    }

    @Test func aBrokerThatAnswersInTimeIsNotMentioned() throws {
        let broker = try Broker()
        let outcome = broker.harness.run("enqueue --user a --title x")
        #expect(outcome.code == .done && !outcome.messages.contains("broker"), "\(outcome.messages)")
    }

    @Test func aServicesLogSaysItInOneLine() throws {
        let lines = Sink()
        let log = Log(format: .json, level: .info, now: { 0 }, sink: lines.add)
        var configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.watch = log.brokerWatch(now: passingSeconds())
        defer { configuration.watch?.end() }
        let admin = try TopicAdmin(configuration)
        let isSaid = eventually {
            _ = try? admin.describe(topics: [], timeout: .milliseconds(300))
            return !lines.text.isEmpty
        }
        #expect(isSaid)
        let first = lines.text.split(separator: "\n").first ?? ""
        for part in [
            "broker_connection", "no broker answers; trying on", "127.0.0.1:1", "connection refused; is `kafka.bootstrap",
        ] {
            #expect(first.contains(part), "\(first)")
        }
    }

    /// A clock that goes on by a second at every look.
    private func passingSeconds() -> @Sendable () -> ContinuousClock.Instant {
        let clock = PassingClock()
        return { clock.next() }
    }
}

private final class PassingClock: Sendable {
    private let now = Mutex(ContinuousClock.now)

    func next() -> ContinuousClock.Instant {
        now.withLock { now in
            now += .seconds(1)
            return now
        }
    }
}
