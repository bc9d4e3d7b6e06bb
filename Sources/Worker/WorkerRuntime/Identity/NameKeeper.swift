import Basics
import Delivery
import EventLoop
import Foundation
import Kafka
import Observability

/// Keeps a loop's name: waits at the start until no other process has it, and settles what being fenced means. What to do is decided by
/// `NameWatch` and `NameDispute`.
///
/// Lives on the loop's thread, before and between its loops.
struct NameKeeper {
    private let name: String
    private let probe: NameProbe
    /// The name among the processes beside this one.
    private let address: String
    private var lock: NameLock?
    private let log: Log
    private let health: WorkerHealth
    private let control: WorkerControl
    private let clock: WorkerClock
    private var dispute: NameDispute
    private var generator = QuickRandom()
    private var lastError: KafkaError?

    /// Nil where names are not kept: the worker's run is not known, or it has no name in its group.
    init?(_ configuration: WorkerConfiguration, services: WorkerServices, health: WorkerHealth, control: WorkerControl) {
        guard let own = configuration.incarnation, configuration.guarantee == .exactlyOnce else { return nil }
        name = configuration.instanceID
        probe = NameProbe(configuration, own: own)
        address = own.address(of: name, in: configuration.groupID)
        log = services.log
        self.health = health
        self.control = control
        clock = services.clock
        dispute = NameDispute(session: configuration.sessionTimeout.wholeNanoseconds)
    }

    /// Waits until the name is free. Returns false if the worker was asked to stop meanwhile.
    mutating func awaitName() -> Bool {
        var watch = NameWatch()
        var reported: NameHolder?
        while true {
            let holder = sight()
            // What is wrong with the settings is the loop's to say.
            if lastError?.isConfiguration == true { return true }
            let jitter = jitter()
            let action =
                holder.map { watch.noteHolder($0, now: clock.monotonic, jitter: jitter) }
                ?? watch.noteNoAnswer(now: clock.monotonic, jitter: jitter)
            guard case .check(let moment) = action else { return true }
            if let holder, holder != reported {
                reported = holder
                log.warning(
                    .fenced,
                    """
                    another process has this worker's name; waiting until it is gone: stop it, or give this worker its own \
                    PUSHFAN_WORKER_ID
                    """, [.worker: .string(name)])
            }
            health.brokerFailed(holder == nil ? unanswered : taken)
            guard pause(until: moment) else { return false }
        }
    }

    /// Finds out why the loop was fenced, which was the member `memberID`, and waits until it may join again. Throws `takenOver` if
    /// another process has its name, `fenced` if the other had it before the loop `hasServed`, and `interrupted` if the worker was asked
    /// to stop meanwhile.
    mutating func regain(after reason: String, as memberID: String?, hasServed: Bool) throws(WorkerFailure) {
        health.lostName("the brokers take this worker for an outdated one; finding out whether another process has its name")
        var action = dispute.fenced(as: memberID, now: clock.monotonic, jitter: jitter())
        while case .check(let moment) = action {
            guard pause(until: moment) else { throw .interrupted(reason) }
            let asked = clock.monotonic
            do throws(KafkaError) {
                action = dispute.noteMember(try probe.member(), asked: asked, now: clock.monotonic)
            } catch {
                action = dispute.noteNoAnswer(now: clock.monotonic)
            }
            turn()
        }
        guard action == .rejoin else { throw hasServed ? .takenOver(reason) : .fenced(reason) }
        log.warning(
            .fenced, "no other process has this worker's name; joining again with a new client",
            [.worker: .string(name), .reason: .string(reason)])
    }

    /// Looks once. Returns nil if brokers did not say, and `lastError` is why.
    private mutating func sight() -> NameHolder? {
        turn()
        defer { turn() }
        lastError = nil
        lock = lock ?? NameLock(address)
        do throws(KafkaError) {
            return try probe(isAlone: lock != nil)
        } catch {
            lastError = error
            return nil
        }
    }

    /// Lets time pass. Returns false if the worker was asked to stop meanwhile.
    private func pause(until moment: MonotonicTime) -> Bool {
        while control.request == .none, clock.monotonic < moment {
            turn()
            Thread.sleep(forTimeInterval: 0.05)
        }
        return control.request == .none
    }

    private func turn() { health.noteTurn(at: clock.monotonic) }

    private mutating func jitter() -> Double { Double.random(in: 0...1, using: &generator) }

    private var taken: String {
        "another process has the name '\(name)'; waiting until it is gone: stop it, or give this worker its own PUSHFAN_WORKER_ID"
    }

    private var unanswered: String { "brokers do not say who has the name '\(name)': \(lastError?.description ?? "")" }
}
