import Basics
import CRDKafka
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Kafka
@testable import Publishing

/// What an embedded broker cannot play: clients that break for good, and a topic that gets more partitions.
@Suite(.tags(.threads)) struct BrokenClientTests {
    private static let fatal = KafkaError(RD_KAFKA_RESP_ERR__FATAL, isFatal: true)

    private func follower(_ script: Script, refreshInterval: Duration = .zero) -> ResultFollower {
        var configuration = ResultFollower.Configuration(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topic: "r")
        configuration.refreshInterval = refreshInterval
        return ResultFollower(configuration) { (start: TopicReader.Start) throws(KafkaError) -> any ResultSource in
            try script.open(start)
        }
    }

    @Test(arguments: [Step.error(fatal), .event(fatal), .refusedRefresh(fatal)])
    func aClientThatBreaksIsFollowedByOneThatGoesOnThere(step: Step) throws {
        let script = Script([.result("a", partition: 1, offset: 41), step, .result("b", partition: 0, offset: 7)])
        let endings = Endings()
        let follower = follower(script)
        defer { follower.close() }
        try follower.waitUntilReading()
        for id in ["a", "b"] { try follower.expect(id, until: .never, then: endings.note(id)) }
        script.begin()
        #expect(eventually { endings.idCount == 2 })
        #expect(script.starts == [.end, .offsets([0: 0, 1: 42])])
        #expect(follower.isReading)
    }

    @Test func aPartitionThatIsAddedIsReadFromItsBeginning() throws {
        let script = Script([.result("a", partition: 0, offset: 3), .newPartition, .result("b", partition: 2, offset: 0)])
        let endings = Endings()
        let follower = follower(script)
        defer { follower.close() }
        try follower.waitUntilReading()
        for id in ["a", "b"] { try follower.expect(id, until: .never, then: endings.note(id)) }
        script.begin()
        #expect(eventually { endings.idCount == 2 })
        #expect(script.starts == [.end])
        follower.openAgain()
        #expect(eventually { script.starts.count == 2 })
        #expect(script.starts.last == .offsets([0: 4, 1: 0, 2: 1]))
    }

    @Test func whatCannotBeOpenedIsTriedAgain() throws {
        let script = Script([], refusedOpenings: [Self.fatal, Self.fatal])
        let follower = follower(script)
        defer { follower.close() }
        #expect(
            eventually {
                do {
                    try follower.waitUntilReading()
                    return true
                } catch { return false }
            })
        #expect(script.starts == [.end, .end, .end])
        #expect(follower.problem == nil)
    }

    @Test func anErrorThatPassesIsToldAndTheClientIsKept() throws {
        let passing = KafkaError(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        let script = Script([.error(passing), .wait, .result("a", partition: 0, offset: 0)])
        let follower = follower(script, refreshInterval: farDeadline)
        let endings = Endings()
        defer { follower.close() }
        try follower.waitUntilReading()
        try follower.expect("a", until: .never, then: endings.note("a"))
        script.begin()
        #expect(eventually { script.isWaiting })
        #expect(follower.problem?.isAuthorization == true)
        script.begin()
        #expect(eventually { !endings.of("a").isEmpty })
        #expect(eventually { follower.problem == nil })
        #expect(script.starts == [.end])
    }
}

/// What a client does next.
enum Step: Sendable {
    case result(String, partition: Int32, offset: Int64)
    case error(KafkaError)
    case event(KafkaError)
    case refusedRefresh(KafkaError)
    case newPartition
    /// Nothing, until `Script.begin` is called again.
    case wait
}

/// The steps of all clients, one after another, and how each was opened.
final class Script: Sendable {
    private struct State {
        var steps: [Step]
        var refusedOpenings: [KafkaError]
        var starts: [TopicReader.Start] = []
        var hasBegun = false
    }

    private let state: Mutex<State>

    init(_ steps: [Step], refusedOpenings: [KafkaError] = []) {
        state = Mutex(State(steps: steps, refusedOpenings: refusedOpenings))
    }

    /// Where each client was to start.
    var starts: [TopicReader.Start] { state.withLock { $0.starts } }

    /// A step `wait` was reached.
    var isWaiting: Bool { state.withLock { !$0.hasBegun } }

    /// Lets the steps begin.
    func begin() { state.withLock { $0.hasBegun = true } }

    func open(_ start: TopicReader.Start) throws(KafkaError) -> any ResultSource {
        let refusal = state.withLock { state -> KafkaError? in
            state.starts.append(start)
            return state.refusedOpenings.popLast()
        }
        if let refusal { throw refusal }
        var positions: [Int32: Int64] = [0: 0, 1: 0]
        if case .offsets(let offsets) = start { positions = offsets }
        return ScriptedSource(self, positions)
    }

    /// Removes the next step, if `isWanted` says so.
    fileprivate func next(_ isWanted: (Step) -> Bool) -> Step? {
        state.withLock { state -> Step? in
            guard state.hasBegun, let step = state.steps.first else { return nil }
            if case .wait = step {
                state.hasBegun = false
                state.steps.removeFirst()
                return nil
            }
            guard isWanted(step) else { return nil }
            return state.steps.removeFirst()
        }
    }
}

/// A client that does what a script says.
private final class ScriptedSource: ResultSource {
    private let script: Script
    private(set) var positions: [Int32: Int64]
    private let nothing = DispatchSemaphore(value: 0)

    init(_ script: Script, _ positions: [Int32: Int64]) {
        self.script = script
        self.positions = positions
    }

    func read(
        timeout: Duration, body: (_ key: Span<UInt8>, _ value: Span<UInt8>, _ place: ResultPlace) -> Void
    ) -> ReadResult {
        let step = script.next { step in
            switch step {
            case .result, .error: true
            default: false
            }
        }
        switch step {
        case .result(let id, let partition, let offset):
            let (key, value) = (Array(id.utf8), Array(Results.json("sent1", of: id).utf8))
            positions[partition] = offset + 1
            body(key.span, value.span, ResultPlace(partition: partition, offset: offset, timestamp: 0))
            return .record
        case .error(let error):
            return .error(error)
        default:
            _ = nothing.wait(timeout: .now() + .milliseconds(1))
            return .empty
        }
    }

    func nextEvent() -> ClientEvent? {
        let step = script.next { step in
            if case .event = step { true } else { false }
        }
        if case .event(let error) = step { return .error(error) }
        return nil
    }

    func refreshPartitions(timeout: Duration) throws(KafkaError) -> Int {
        let step = script.next { step in
            switch step {
            case .refusedRefresh, .newPartition: true
            default: false
            }
        }
        switch step {
        case .refusedRefresh(let error): throw error
        case .newPartition:
            positions[Int32(positions.count)] = 0
            return 1
        default: return 0
        }
    }

    func close() {}
}
