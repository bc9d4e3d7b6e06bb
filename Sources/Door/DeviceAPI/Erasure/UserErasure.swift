import FanOut
import HubREST
import PushModel

/// The removal of all devices of a user from the hubs that can have them, one hub after the other. What one hub refuses keeps no other.
///
/// Facts in, calls out, as of a `DeviceErasure`.
struct UserErasure: Sendable {
    /// The next thing to do.
    enum Step: Sendable, Equatable {
        /// Make this call at the hub of that place.
        case ask(RegistrationCall, hub: Int)
        /// Wait so many milliseconds.
        case wait(Int64)
        case end
    }

    private let user: String
    private let hubs: [String]
    private let startedAt: Timestamp
    private var erasures: [DeviceErasure]
    private var endings: [DeviceErasure.Ending] = []

    /// Begins with nothing known. `user` is the name as it was given, and `tag` the one of the user's devices.
    init(of user: String, tag: UserTag, at hubs: [String], startedAt: Timestamp) {
        (self.user, self.hubs, self.startedAt) = (user, hubs, startedAt)
        erasures = hubs.map { _ in DeviceErasure(of: DeviceUser(tag)) }
    }

    /// The next step at the beginning, and after a wait.
    mutating func next() -> Step {
        endings.count < erasures.count ? step(erasures[endings.count].next()) : .end
    }

    /// The next step after a hub's reply to the call of the step before.
    mutating func next(after reply: Result<RegistrationReply, RegistrationFailure>) -> Step {
        endings.count < erasures.count ? step(erasures[endings.count].next(after: reply)) : .end
    }

    private mutating func step(_ step: DeviceErasure.Step) -> Step {
        switch step {
        case .ask(let call): return .ask(call, hub: endings.count)
        case .wait(let milliseconds): return .wait(milliseconds)
        case .end(let ending):
            endings.append(ending)
            return next()
        }
    }

    /// The report on it, at this moment.
    func report(at now: Timestamp) -> ErasureReport {
        var report = ErasureReport(user: user, startedAt: startedAt)
        for erasure in erasures { report.progress += erasure.progress }
        guard endings.count == erasures.count else { return report }
        report.endedAt = now
        let problems = zip(hubs, endings).filter { $1 != .done }.map { "hub \($0): \($1)" }
        if !problems.isEmpty { report.problem = problems.joined(separator: "; ") }
        return report
    }
}

/// The progress of the removal of a user's devices.
struct ErasureReport: Sendable, Equatable {
    let user: String
    let startedAt: Timestamp
    var progress = DeviceErasure.Progress()
    /// Nil as long as it goes on.
    var endedAt: Timestamp?
    /// The reason for which it failed. It may be repeated.
    var problem: String?

    /// A word for it.
    var state: String { endedAt == nil ? "running" : problem == nil ? "done" : "failed" }

    /// The report as the API gives it.
    var json: [UInt8] {
        JSONObject([
            "user": user, "state": state, "found": progress.found, "removed": progress.removed, "left": progress.left,
            "started_at": startedAt.text, "ended_at": endedAt?.text, "problem": problem,
        ]).bytes
    }
}
