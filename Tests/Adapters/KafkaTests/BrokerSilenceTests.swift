import Synchronization
import TestSupport
import Testing

@testable import Kafka

@Suite struct BrokerSilenceTests {
    private static let start = ContinuousClock.now

    @Test func linesComeBeforeTwoSecondsAndThenAtGrowingIntervals() {
        var silence = BrokerSilence()
        let isFirst = silence.asked(at: Self.start)
        let isSecond = silence.asked(at: Self.start + .seconds(1))
        #expect(isFirst && !isSecond)
        silence.noteFailure(.connectionRefused)
        var moments: [Duration] = []
        for tenth in 0..<3000 {
            let moment = Duration.milliseconds(100 * tenth)
            if silence.notice(at: Self.start + moment) == .silent(.connectionRefused) { moments.append(moment) }
        }
        let waits = zip(moments.dropFirst(), moments).map { $0 - $1 }
        #expect(moments.first == .milliseconds(1500))
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    }

    @Test func nothingIsSaidOfABrokerThatAnswersInTime() {
        var silence = BrokerSilence()
        _ = silence.asked(at: Self.start)
        silence.noteFailure(.nameUnknown)
        let early = silence.notice(at: Self.start + .seconds(1))
        let answered = silence.answered()
        silence.noteFailure(.nameUnknown)
        let late = silence.notice(at: Self.start + .seconds(100))
        #expect(early == nil && answered == nil && late == nil)
    }

    @Test func nothingIsSaidOfAQuestionThatHasJustNotFailed() {
        var silence = BrokerSilence()
        _ = silence.asked(at: Self.start)
        let unproven = silence.notice(at: Self.start + .seconds(5))
        silence.noteFailure(nil)
        let proven = silence.notice(at: Self.start + .seconds(6))
        #expect(unproven == nil && proven == .silent(nil))
    }

    @Test func anAnswerIsSaidOnceAfterASilenceThatWasSaid() {
        var silence = BrokerSilence()
        _ = silence.asked(at: Self.start)
        silence.noteFailure(.timedOut)
        // A question without an answer does not make the cause unknown.
        silence.noteFailure(nil)
        let said = silence.notice(at: Self.start + .seconds(2))
        let first = silence.answered()
        let second = silence.answered()
        #expect(said == .silent(.timedOut) && first == .answered && second == nil)
    }

    @Test func anEndedOneIsSilent() {
        var silence = BrokerSilence()
        silence.end()
        let isFirst = silence.asked(at: Self.start)
        silence.noteFailure(.timedOut)
        let notice = silence.notice(at: Self.start + .seconds(9))
        let answer = silence.answered()
        #expect(!isFirst && notice == nil && answer == nil)
    }

    private static let lines: [(cause: BrokerFailure.Cause?, isAnswered: Bool, reason: String, question: String)] = [
        (nil, false, "no answer yet", "is `kafka.bootstrap_servers` right?"),
        (.connectionRefused, false, "connection refused", "is `kafka.bootstrap_servers` right?"),
        (.noRoute, false, "no way to that address", "is `kafka.bootstrap_servers` right?"),
        (.timedOut, false, "timed out", "is `kafka.bootstrap_servers` right?"),
        (.nameUnknown, false, "name unknown", "is `kafka.bootstrap_servers` right?"),
        (
            .closedByPeer, false, "closed by peer",
            "are `kafka.bootstrap_servers`, and `security.protocol` in `kafka.properties`, right?"
        ),
        (.notKafka, false, "what answers there is not Kafka", "is `kafka.bootstrap_servers` right?"),
        (.noTLS, true, "it does not speak TLS", "are the port, and `security.protocol` in `kafka.properties`, right?"),
        (
            .certificateNotTrusted, true, "certificate not trusted",
            "is `ssl.ca.location` in `kafka.properties` right, and the broker's name in its certificate?"
        ),
        (
            .certificateWanted, true, "it does not accept our certificate",
            "is `ssl.certificate.location` in `kafka.properties` right?"
        ),
        (.tlsFailed, true, "TLS cannot be agreed on", "are the `ssl` properties in `kafka.properties` right?"),
        (
            .closedAtLogin, true, "closed by peer at the login",
            "are user and password, or client id and secret, in `kafka.properties` right?"
        ),
        (
            .loginRefused, true, "login refused", "are user and password, or client id and secret, in `kafka.properties` right?"
        ),
        (
            .mechanismRefused, true, "login refused: it does not offer this SASL mechanism",
            "is `sasl.mechanism` in `kafka.properties` right?"
        ),
    ]

    @Test func theLineOfEachCauseSaysWhatIsWrongAndWhatToCheck() {
        for (cause, isAnswered, reason, question) in Self.lines {
            let beginning = isAnswered ? "no broker lets us in" : "no broker answers"
            let line = BrokerWatch.Notice(brokers: "b:1,c:2", event: .silent(cause)).line
            #expect(line == "\(beginning) at b:1,c:2 (\(reason)); trying on; \(question)")
        }
        #expect(Set(Self.lines.compactMap(\.cause)) == Set(BrokerFailure.Cause.allCases))
    }
}

/// A watch of clients whose first question goes to a port that refuses.
@Suite(.tags(.c, .threads)) struct BrokerWatchTests {
    /// A clock that goes on by a second at every look, and what was said.
    private final class Stage: Sendable {
        private let state = Mutex((now: ContinuousClock.now, lines: [String]()))

        var lines: [String] { state.withLock { $0.lines } }

        func watch() -> BrokerWatch {
            BrokerWatch { [self] in
                state.withLock { state in
                    state.now += .seconds(1)
                    return state.now
                }
            } say: { [self] notice in
                state.withLock { $0.lines.append(notice.line) }
            }
        }
    }

    @Test func aRefusedPortIsSaidAndSoIsTheBrokerThatAnswersAtLast() throws {
        let stage = Stage()
        var away = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        let watch = stage.watch()
        away.watch = watch
        let admin = try TopicAdmin(away)
        let isSaid = eventually {
            let error = #expect(throws: KafkaError.self) { try admin.describe(topics: [], timeout: .milliseconds(300)) }
            #expect(error?.isUnreachable == true && error?.brokerFailure?.cause == .connectionRefused)
            return !stage.lines.isEmpty
        }
        try #require(isSaid)
        #expect(stage.lines[0].hasPrefix("no broker answers at 127.0.0.1:1 (connection refused); "))
        let cluster = try MockCluster()
        defer { cluster.close() }
        var there = cluster.configuration
        there.watch = watch
        _ = try TopicAdmin(there).describe(topics: [], timeout: farDeadline)
        let lines = stage.lines
        #expect(lines.last == "a broker answers at 127.0.0.1:1 now" && lines.count { $0.contains(" now") } == 1)
        #expect(!watch.isWaiting)
    }

    @Test func anEndedWatchSaysNothing() throws {
        let stage = Stage()
        var away = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        away.watch = stage.watch()
        away.watch?.end()
        _ = try? TopicAdmin(away).describe(topics: [], timeout: .milliseconds(300))
        #expect(stage.lines.isEmpty)
    }
}
