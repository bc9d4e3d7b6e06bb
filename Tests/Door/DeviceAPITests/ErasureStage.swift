import Basics
import FanOut
import GatewayAPI
import HubREST
import Observability
import PushModel
import Synchronization

@testable import DeviceAPI

/// A desk of erasures, its clock, and hubs whose replies come when a test says so.
final class ErasureStage: Sendable {
    /// A hub in memory.
    final class Hub: Sendable {
        struct State {
            /// The installations by the folded tag of their user.
            var devices: [String: [String]] = [:]
            var failure: RegistrationFailure?
            var isFull = false
            var calls: [RegistrationCall] = []
            var replies: [@Sendable () -> Void] = []
            /// The most calls that were in flight at a time.
            var mostAtOnce = 0
        }

        let name: String
        let state = Mutex(State())

        init(_ name: String) { self.name = name }

        var inUse: ErasureHub { ErasureHub(name: name) { [self] call, then in ask(call, then) } }

        func give(_ ids: [String], to tag: UserTag) { state.withLock { $0.devices[tag.folded] = ids } }

        func fail(_ failure: RegistrationFailure?) { state.withLock { $0.failure = failure } }

        var calls: [RegistrationCall] { state.withLock { $0.calls } }
        var deviceCount: Int { state.withLock { $0.devices.values.reduce(0) { $0 + $1.count } } }

        private func ask(
            _ call: RegistrationCall, _ then: @escaping @Sendable (Result<RegistrationReply, RegistrationFailure>) -> Void
        ) -> Bool {
            state.withLock { state in
                guard !state.isFull else { return false }
                state.calls.append(call)
                let reply = Self.reply(to: call, in: &state)
                state.replies.append { then(reply) }
                state.mostAtOnce = max(state.mostAtOnce, state.replies.count)
                return true
            }
        }

        private static func reply(
            to call: RegistrationCall, in state: inout State
        ) -> Result<RegistrationReply, RegistrationFailure> {
            if let failure = state.failure { return .failure(failure) }
            switch call {
            case .listTagged(let tag, _, _):
                let registrations = (state.devices[tag.lowercased()] ?? []).map { id in
                    DeviceRegistration(id: "r-\(id)", platform: .apple, handle: "62BC", tags: [tag, "$InstallationId:{\(id)}"])
                }
                return .success(.page(RegistrationPage(registrations: registrations)))
            case .deleteInstallation(let id):
                for tag in state.devices.keys { state.devices[tag]?.removeAll { $0 == id } }
                return .success(.done)
            default: return .success(.done)
            }
        }

        /// Gives the replies to all calls in flight. Returns how many.
        func answer() -> Int {
            let replies = state.withLock { state in
                defer { state.replies = [] }
                return state.replies
            }
            for reply in replies { reply() }
            return replies.count
        }
    }

    /// The last report that somebody who waits has got, and how many.
    final class Told: Sendable {
        private let reports = Mutex<[ErasureReport]>([])

        func add(_ report: ErasureReport) { reports.withLock { $0.append(report) } }

        var all: [ErasureReport] { reports.withLock { $0 } }
    }

    private let milliseconds = Mutex<Int64>(1_795_176_000_000)
    private let lines = Mutex<[String]>([])
    private let desks = Mutex<ErasureDesk?>(nil)
    let pattern: UserTag.Pattern

    init(_ limits: ErasureBook.Limits = ErasureBook.Limits()) throws {
        pattern = try UserTag.Pattern("username:{user}")
        let log = Log(
            format: .json, level: .debug, now: { 0 },
            sink: { [self] line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
        let desk = ErasureDesk(
            limits, log: log, now: { [self] in MonotonicTime(nanoseconds: now * 1_000_000) },
            wall: { [self] in Timestamp(milliseconds: now) })
        desks.withLock { $0 = desk }
    }

    var desk: ErasureDesk? { desks.withLock { $0 } }
    var now: Int64 { milliseconds.withLock { $0 } }
    var log: String { lines.withLock { $0.joined(separator: "\n") } }

    func key(_ user: String, tenant: String? = nil) -> ErasureBook.Key {
        ErasureBook.Key(tenant: tenant, hub: nil, tag: pattern.tag(of: user).folded)
    }

    @discardableResult
    func begin(
        _ user: String, at hubs: [Hub], by keyID: String = "k1", tenant: String? = nil
    ) throws(APIProblem) -> ErasureReport? {
        try desk?.begin(
            user, tag: pattern.tag(of: user), as: key(user, tenant: tenant), at: hubs.map(\.inUse),
            for: Claimant(keyID: keyID, tenant: tenant))
    }

    func report(of user: String) -> ErasureReport? { desk?.report(of: key(user)) }

    func wait(for user: String, seconds: Int) -> Told {
        let told = Told()
        desk?.wait(for: key(user), seconds: seconds) { told.add($0) }
        return told
    }

    /// Lets time pass, a tenth of a second at a time, with all replies that come meanwhile.
    func pass(seconds: Int, answering hubs: [Hub]) {
        for _ in 0..<(seconds * 10) {
            while hubs.reduce(0, { $0 + $1.answer() }) > 0 {}
            milliseconds.withLock { $0 += 100 }
            desk?.tick()
        }
    }

    /// Ends what refers to itself.
    func close() { desks.withLock { $0 = nil } }
}
