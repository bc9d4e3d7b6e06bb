import Synchronization
import TestSupport
import Testing

@testable import Kafka

@Suite struct BrokerReachTests {
    enum Step: Sendable {
        case question(at: Int)
        case request(Int16, at: Int)
        case response(Int16)
        case answer
    }

    /// Numbers of Kafka's protocol.
    private static let (fetch, metadata, join, sync, greeting, handshake, login) = (
        Int16(1), Int16(3), Int16(11), Int16(14), Int16(18), Int16(17), Int16(36)
    )

    /// Steps at seconds, and the silence at the second 100.
    @Test(
        arguments: [
            ([], 0), ([.question(at: 10)], 90), ([.question(at: 10), .question(at: 60)], 90), ([.question(at: 10), .answer], 0),
            ([.answer, .question(at: 99)], 1), ([.question(at: 10), .answer, .question(at: 70)], 30), ([.question(at: 120)], 0),
            ([.request(fetch, at: 40)], 60), ([.request(fetch, at: 40), .response(fetch)], 0),
            ([.request(fetch, at: 40), .request(metadata, at: 50), .response(metadata)], 0),
            // Members that others wait for.
            ([.request(join, at: 10)], 0), ([.request(sync, at: 10)], 0), ([.question(at: 10), .response(join)], 0),
            // A broker that lets no client in.
            ([.request(greeting, at: 10), .response(greeting)], 90), ([.question(at: 10), .response(handshake)], 90),
            ([.question(at: 10), .response(login)], 90), ([.question(at: 10), .response(greeting), .response(metadata)], 0),
        ] as [([Step], Int)])
    func theSilenceCountsFromTheFirstQuestionWithoutAnAnswer(steps: [Step], seconds: Int) {
        let start = ContinuousClock.now
        var reach = BrokerReach()
        for step in steps {
            switch step {
            case .question(let second): reach.noteQuestion(at: start + .seconds(second))
            case .request(let kind, let second): reach.noteRequest(kind: kind, at: start + .seconds(second))
            case .response(let kind): reach.noteResponse(kind: kind)
            case .answer: reach.noteAnswer()
            }
        }
        #expect(reach.silence(at: start + .seconds(100)) == .seconds(seconds))
    }
}

/// The silence of brokers as clients hear it, by a clock that only the test moves.
@Suite(.tags(.c, .threads)) struct WatchedSilenceTests {
    private final class Clock: Sendable {
        private let moment = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { moment.withLock(\.self) }

        func advance(by duration: Duration) { moment.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let watch: BrokerWatch

    init() {
        watch = BrokerWatch { [clock] in
            clock.now
        } say: { _ in
        }
    }

    private func admin(_ configuration: KafkaConfiguration) throws -> TopicAdmin {
        var configuration = configuration
        configuration.watch = watch
        // The time after which a connection is made anew.
        configuration.properties.append(.init(key: "socket.timeout.ms", value: "1000"))
        return try TopicAdmin(configuration)
    }

    @Test func itGrowsFromTheFirstQuestionToTheFirstAnswerAlsoWhenTheWatchHasEnded() throws {
        #expect(watch.silence == .zero)
        let away = try admin(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"))
        clock.advance(by: .seconds(30))
        _ = try? away.describe(topics: [], timeout: .milliseconds(300))
        watch.end()
        #expect(watch.silence == .seconds(30))
        let cluster = try MockCluster()
        defer { cluster.close() }
        _ = try admin(cluster.configuration).describe(topics: [], timeout: farDeadline)
        #expect(watch.silence == .zero)
    }

    @Test func itGrowsWhileABrokerThatAnsweredStandsStillAndEndsWhenItGoesOn() throws {
        let cluster = try MockCluster()
        defer { cluster.close() }
        let admin = try admin(cluster.configuration)
        _ = try admin.describe(topics: [], timeout: farDeadline)
        cluster.setBroker(1, roundTripTime: .seconds(3600))
        _ = try? admin.describe(topics: [], timeout: .milliseconds(300))
        clock.advance(by: .seconds(20))
        #expect(watch.silence == .seconds(20))
        cluster.setBroker(1, roundTripTime: .zero)
        let hasAnswered = eventually {
            (try? admin.describe(topics: [], timeout: .milliseconds(300))) != nil && watch.silence == .zero
        }
        #expect(hasAnswered)
    }

    @Test func itGrowsWhenTheBrokerIsGoneAndEndsWhenItIsBack() throws {
        let cluster = try MockCluster()
        defer { cluster.close() }
        let admin = try admin(cluster.configuration)
        _ = try admin.describe(topics: [], timeout: farDeadline)
        #expect(watch.silence == .zero)
        cluster.setBroker(1, isUp: false)
        #expect(throws: KafkaError.self) { try admin.describe(topics: [], timeout: .milliseconds(300)) }
        clock.advance(by: .seconds(20))
        #expect(watch.silence == .seconds(20))
        cluster.setBroker(1, isUp: true)
        _ = try admin.describe(topics: [], timeout: farDeadline)
        #expect(watch.silence == .zero)
    }
}
