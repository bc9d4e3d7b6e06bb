import Delivery
import HubREST
import PushModel
import Testing

/// What is asked and removed, until a hub has no device of a user any more.
struct DeviceErasureTests {
    /// A hub in memory, whose lists can be late, and which can refuse.
    private struct Hub {
        /// The lists for which it goes on to show what was removed.
        var lateLists = 0
        /// The answers in place of its own, by the number of the call.
        var failures: [Int: RegistrationFailure] = [:]
        /// The answer to each removal of this device.
        var refusal: (id: String, failure: RegistrationFailure)?
        var pageSize = 100

        private(set) var (calls, waits): ([RegistrationCall], [Int64]) = ([], [])
        private let devices: [DeviceRegistration]
        private let ofInstallation: [String: [String]]
        /// The last list that shows a registration that is removed.
        private var lastList: [String: Int] = [:]
        private var lists = 0
        private var list: [DeviceRegistration] = []

        init(_ devices: [DeviceRegistration]) {
            self.devices = devices
            ofInstallation = Dictionary(grouping: devices) { $0.installationID ?? "" }.mapValues { $0.map(\.id) }
        }

        /// The registrations that it has.
        var left: [String] { devices.map(\.id).filter { lastList[$0] == nil } }

        mutating func run(_ erasure: inout DeviceErasure) -> DeviceErasure.Ending {
            var step = erasure.next()
            while true {
                switch step {
                case .ask(let call): step = erasure.next(after: reply(to: call))
                case .wait(let milliseconds):
                    waits.append(milliseconds)
                    step = erasure.next()
                case .end(let ending): return ending
                }
            }
        }

        private mutating func reply(to call: RegistrationCall) -> Result<RegistrationReply, RegistrationFailure> {
            calls.append(call)
            if let failure = failures[calls.count] { return .failure(failure) }
            switch call {
            case .listTagged(let tag, let count, let token): return .success(.page(page(tag, count: count, token: token)))
            case .deleteInstallation(let id):
                if let refusal, refusal.id == id { return .failure(refusal.failure) }
                for registration in ofInstallation[id] ?? [] { remove(registration) }
            case .deleteRegistration(let id, _): remove(id)
            default: Issue.record("\(call)")
            }
            return .success(.done)
        }

        private mutating func page(_ tag: String, count: Int, token: RegistrationPage.Token?) -> RegistrationPage {
            if token == nil {
                lists += 1
                let tag = tag.lowercased()
                list = devices.filter { device in
                    lastList[device.id].map { $0 >= lists } ?? true && device.tags.contains { $0.lowercased() == tag }
                }
            }
            let start = token.flatMap { Int($0.text) } ?? 0
            let end = min(start + min(count, pageSize), list.count)
            guard start < end else { return RegistrationPage(registrations: []) }
            let next = end < list.count ? RegistrationPage.Token("\(end)") : nil
            return RegistrationPage(registrations: Array(list[start..<end]), next: next)
        }

        private mutating func remove(_ registration: String) {
            if lastList[registration] == nil { lastList[registration] = lists + lateLists }
        }
    }

    private static func phone(
        _ id: String, of user: String = "alice", registration: String? = nil, kind: DeviceRegistration.Kind = .native
    ) -> DeviceRegistration {
        DeviceRegistration(
            id: registration ?? "r-\(id)", platform: .apple, kind: kind, handle: "62BC",
            tags: ["username:\(user)", "$InstallationId:{\(id)}", "$UserId:{\(user)}"])
    }

    private static func old(_ id: String, tags: [String]) -> DeviceRegistration {
        DeviceRegistration(id: id, platform: .fcmv1, handle: "5E", tags: tags)
    }

    private static func failure(_ status: Int?, after wait: Int64? = nil, mayHelp: Bool) -> RegistrationFailure {
        var failure = RegistrationFailure(.refused, code: .hubThrottled, isWorthRetrying: mayHelp)
        (failure.status, failure.retryAfter) = (status, wait)
        return failure
    }

    private func erasure() -> DeviceErasure { DeviceErasure(of: DeviceUser(tag: "username:alice", userID: "alice")) }

    @Test(
        arguments: [
            ([], 0, []),
            ([phone("a"), phone("b", of: "bob")], 1, ["r-b"]),
            // An installation's registrations are one device.
            ([phone("a"), phone("a", registration: "t", kind: .template(name: "t"))], 1, []),
            ([old("1-2-3", tags: ["USERNAME:Alice"]), old("1-2-4", tags: ["username:bob"])], 1, ["1-2-4"]),
            // By either of the two tags.
            ([old("1-2-3", tags: ["$UserId:{alice}"]), old("1-2-4", tags: ["username:alice"])], 2, []),
        ] as [([DeviceRegistration], Int, [String])])
    func noDeviceOfTheUserIsLeft(devices: [DeviceRegistration], found: Int, left: [String]) {
        var (hub, erasure) = (Hub(devices), erasure())
        #expect(hub.run(&erasure) == .done)
        #expect(hub.left == left)
        #expect(erasure.progress.found == found && erasure.progress.removed == found && erasure.progress.left == 0)
    }

    @Test func aNameThatNoTagCanHaveIsLookedForByItsFormAlone() {
        var (hub, erasure) = (Hub([]), DeviceErasure(of: DeviceUser(tag: "username:x.c3", userID: "ä")))
        #expect(hub.run(&erasure) == .done)
        #expect(hub.calls.allSatisfy { $0 == .listTagged(tag: "username:x.c3", count: 100, token: nil) } && hub.calls.count == 2)
    }

    @Test(arguments: [1, 100, 7])
    func tenThousandDevicesAreRemovedOnceEach(pageSize: Int) {
        let count = pageSize == 100 ? 10_000 : 500
        var (hub, erasure) = (Hub((0..<count).map { Self.phone("\($0)") }), erasure())
        hub.pageSize = pageSize
        #expect(hub.run(&erasure) == .done)
        #expect(hub.left.isEmpty && erasure.progress.removed == count)
        let removals = hub.calls.filter { if case .deleteInstallation = $0 { true } else { false } }
        #expect(removals.count == count)
    }

    @Test(arguments: [1, 2, 6])
    func aHubThatShowsRemovedDevicesForAWhileIsAskedAgain(lateLists: Int) {
        var (hub, erasure) = (Hub([Self.phone("a"), Self.phone("b")]), erasure())
        hub.lateLists = lateLists
        #expect(hub.run(&erasure) == .done)
        #expect(erasure.progress.removed == 2 && erasure.progress.left == 0)
        #expect(hub.waits.allSatisfy { $0 <= 15_000 })
    }

    @Test func aHubThatNeverStopsShowingThemEndsIt() {
        var (hub, erasure) = (Hub([Self.phone("a")]), erasure())
        hub.lateLists = 1000
        #expect(hub.run(&erasure) == .stillShown)
        #expect(erasure.progress.found == 1 && erasure.progress.left == 1)
        #expect(hub.waits.reduce(0, +) < 150_000 && hub.calls.count < 60)
    }

    /// The wait is never shorter than what the hub asks for.
    @Test(arguments: [(nil, 1000), (7000, 7000), (200, 1000)] as [(Int64?, Int64)])
    func aHubThatThrottlesInTheMiddleIsWaitedFor(asked: Int64?, waited: Int64) {
        var (hub, erasure) = (Hub((0..<10).map { Self.phone("\($0)") }), erasure())
        hub.failures = [5: Self.failure(429, after: asked, mayHelp: true)]
        #expect(hub.run(&erasure) == .done)
        #expect(hub.waits.first == waited && hub.left.isEmpty && erasure.progress.removed == 10)
        #expect(hub.calls[4] == hub.calls[5])
    }

    @Test(
        arguments: [
            (failure(503, mayHelp: true), 8), (failure(429, after: 3_600_000, mayHelp: true), 1),
            (failure(403, mayHelp: false), 1), (failure(nil, mayHelp: false), 1),
        ] as [(RegistrationFailure, Int)])
    func aHubThatFailsForGoodEndsItAndItMayBeRepeated(failure: RegistrationFailure, tries: Int) {
        var (hub, erasure) = (Hub((0..<10).map { Self.phone("\($0)") }), erasure())
        hub.failures = Dictionary(uniqueKeysWithValues: (5..<100).map { ($0, failure) })
        #expect(hub.run(&erasure) == .failed(failure))
        #expect(hub.calls.count == 4 + tries)
        #expect(erasure.progress.found == 10 && erasure.progress.removed == 3 && erasure.progress.left == 7)
        hub.failures = [:]
        var again = self.erasure()
        #expect(hub.run(&again) == .done)
        #expect(hub.left.isEmpty && again.progress.removed == 7)
    }

    @Test func whatTheHubRefusesForOneDeviceKeepsNoOther() {
        var (hub, erasure) = (Hub((0..<10).map { Self.phone("\($0)") }), erasure())
        let refusal = Self.failure(400, mayHelp: false)
        hub.refusal = ("3", refusal)
        #expect(hub.run(&erasure) == .failed(refusal))
        #expect(hub.left == ["r-3"] && erasure.progress.left == 1)
    }

    /// A proxy or a hub that passes over the tag would have everybody's devices removed.
    @Test func aListOfOtherDevicesRemovesNothing() {
        var erasure = erasure()
        _ = erasure.next()
        let page = RegistrationPage(registrations: [Self.phone("a"), Self.phone("b", of: "bob")])
        guard case .end(.failed(let failure)) = erasure.next(after: .success(.page(page))) else {
            Issue.record("it goes on")
            return
        }
        #expect(failure.cause == .unreadable(.unexpected("Tags")) && erasure.progress.found == 0)
    }

    /// It is shown in four passes: removed in the first, late in the second, removed again in the third, late in the fourth.
    @Test func aDeviceThatIsShownOnIsRemovedAgain() {
        var (erasure, lists, removals) = (erasure(), 0, 0)
        var step = erasure.next()
        while true {
            switch step {
            case .ask(.listTagged):
                lists += 1
                let isShown = lists <= 8 && !lists.isMultiple(of: 2)
                step = erasure.next(after: .success(.page(RegistrationPage(registrations: isShown ? [Self.phone("a")] : []))))
            case .ask:
                removals += 1
                step = erasure.next(after: .success(.done))
            case .wait: step = erasure.next()
            case .end(let ending):
                #expect(ending == .done && removals == 2 && erasure.progress.removed == 1)
                return
            }
        }
    }

    /// Makes all calls, with the reply that `reply` has for each and the number of the pass, which has two lists.
    private func run(
        _ erasure: inout DeviceErasure,
        reply: (RegistrationCall, Int) -> Result<RegistrationReply, RegistrationFailure>
    ) -> DeviceErasure.Ending {
        var (step, lists) = (erasure.next(), 0)
        while true {
            switch step {
            case .ask(let call):
                if case .listTagged = call { lists += 1 }
                step = erasure.next(after: reply(call, (lists + 1) / 2))
            case .wait: step = erasure.next()
            case .end(let ending): return ending
            }
        }
    }

    private static func page(_ registrations: [DeviceRegistration]) -> Result<RegistrationReply, RegistrationFailure> {
        .success(.page(RegistrationPage(registrations: registrations)))
    }

    /// At the bound, one empty pass alone shows nothing.
    @Test(
        arguments: [
            (12, 13, .stillShown), (13, 14, .stillShown), (12, 14, .done), (11, 13, .done),
        ] as [(Int, Int, DeviceErasure.Ending)])
    func aHubMustHaveShownNothingTwice(from: Int, to: Int, ending: DeviceErasure.Ending) {
        var erasure = erasure()
        let told = run(&erasure) { call, pass in
            guard case .listTagged(let tag, _, _) = call else { return .success(.done) }
            let isEmpty = tag != "username:alice" || pass >= from && pass < to
            return Self.page(isEmpty ? [] : [Self.phone("a")])
        }
        #expect(told == ending)
    }

    @Test func aDeviceThatIsAnothersByNowIsLeft() {
        var (erasure, removals) = (erasure(), 0)
        let ending = run(&erasure) { call, pass in
            switch call {
            case .listTagged: return Self.page(pass < 3 ? [Self.phone("a")] : [])
            default:
                removals += 1
                return .success(.installation(Self.installation(tags: ["username:bob"])))
            }
        }
        #expect(ending == .done && removals == 2 && erasure.progress == DeviceErasure.Progress())
    }

    private static func installation(tags: [String], userID: String? = nil, templates: String? = nil) -> Installation {
        var installation = Installation(
            id: "a", platform: .known(.apple), pushChannel: "62bc", tags: tags, userID: userID)
        installation.templates = templates.flatMap { JSONObjectText($0) }
        return installation
    }

    @Test(
        arguments: [
            (nil, true), (installation(tags: []), false), (installation(tags: ["username:bob"], userID: "bob"), false),
            (installation(tags: ["UserName:Alice"]), true), (installation(tags: ["username:bob"], userID: "ALICE"), true),
            (installation(tags: [], templates: #"{"t":{"body":"{}","tags":["username:alice"]}}"#), true),
            (installation(tags: [], templates: #"{"t":{"body":"{}","tags":["username:alice2"]}}"#), false),
        ] as [(Installation?, Bool)])
    func anInstallationIsReadBeforeItIsRemoved(found: Installation?, isRemoved: Bool) throws {
        var calls: [RegistrationCall] = []
        let user = DeviceUser(tag: "username:alice", userID: "alice")
        let reply = try user.perform(.deleteInstallation(id: "a")) { (call) throws(RegistrationFailure) in
            calls.append(call)
            guard case .getInstallation = call else { return .done }
            return found.map { .installation($0) } ?? .absent
        }
        #expect(calls == [.getInstallation(id: "a")] + (isRemoved ? [.deleteInstallation(id: "a")] : []))
        #expect(isRemoved ? reply == .done : reply == found.map { .installation($0) })
    }

    /// Its version is named, and one that was changed since is looked at again.
    @Test func aRegistrationIsRemovedAsItWasListed() {
        var (erasure, removals) = (erasure(), [RegistrationCall]())
        let ending = run(&erasure) { call, pass in
            guard case .listTagged(let tag, _, _) = call else {
                removals.append(call)
                return pass == 1 ? .failure(Self.failure(412, mayHelp: false)) : .success(.done)
            }
            guard tag == "username:alice", pass < 3 else { return Self.page([]) }
            var taken = Self.old("1-2-3", tags: ["username:alice"])
            taken.etag = "\(pass)"
            return Self.page(pass == 1 ? [taken, Self.old("1-2-4", tags: ["username:alice"])] : [taken])
        }
        #expect(ending == .done && erasure.progress.removed == 1 && erasure.progress.left == 0)
        #expect(
            removals.count == 3 && removals.contains(.deleteRegistration(id: "1-2-3", etag: "1"))
                && removals.last == .deleteRegistration(id: "1-2-3", etag: "2")
                && removals.contains(.deleteRegistration(id: "1-2-4", etag: nil)))
    }

    @Test func noDescriptionNamesTheUser() {
        #expect("\(erasure())" == "DeviceErasure" && !String(reflecting: erasure()).contains("alice"))
    }
}
