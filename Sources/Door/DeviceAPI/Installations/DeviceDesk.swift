import Basics
import DeviceHubs
import FanOut
import GatewayAPI
import HubREST
import PushModel

/// Decides what has to be asked and told the hubs for one call about one installation: facts in, calls out, at the end an answer.
///
/// It makes no call itself. Whoever uses it makes the calls in the order in which they are asked for, and hands back what came of each.
/// Calls of the API on one id come one at a time.
///
/// What is new is written before what is old is removed, so that a failure between the two leaves a device that rings.
struct DeviceDesk: Sendable {
    /// The thing that is to be done.
    enum Purpose: Sendable {
        case show
        case put(DeviceBody)
        case change(DevicePatch)
        case remove
        case addTag(String)
        case removeTag(String)
    }

    /// One call to one of the hubs. Each may be made again without harm.
    struct Call: Sendable, Equatable {
        /// The hub's place among the candidates.
        let hub: Int
        let act: Act
    }

    enum Act: Sendable, Equatable {
        case read
        /// Lists the registrations of a handle.
        case find(handle: String, platform: Platform)
        /// Lists the installations that this gateway gave the handle to before this one. No hub is asked.
        case findRivals(handle: String, platform: Platform)
        case write(Installation)
        /// Changes tags at the hub itself, and what the installation is then.
        case patch([InstallationChange], result: Installation)
        case removeInstallation(id: String)
        case removeRegistration(id: String, etag: String?)
    }

    enum Reply: Sendable, Equatable {
        /// To `read`; nil when there is none.
        case installation(Installation?)
        /// To `find` and `findRivals`.
        case registrations([DeviceRegistration])
        case done
        case failed(RegistrationFailure)
    }

    /// A device that lost its handle to this one.
    struct Moved: Sendable, Equatable {
        let id: String
        let user: String?
    }

    enum Ending: Sendable, Equatable {
        /// The device as it is now, and its hub.
        case shown(Installation, hub: Int, moved: [Moved])
        case done
        case refused(APIProblem)
        case failed(RegistrationFailure)
    }

    enum Step: Sendable, Equatable {
        case ask(Call)
        case end(Ending)
    }

    private enum Stage: Sendable {
        case reading, finding, writing, clearing
    }

    private let purpose: Purpose
    private let id: String
    private let rights: DeviceRights
    private let hubCount: Int
    /// The place of the hub at which a user's device is.
    private let home: @Sendable (UserTag?) -> Int
    private var stage = Stage.reading
    private var queue: [Call] = []
    private var current: Call?
    private var found: [(hub: Int, installation: Installation)] = []
    private var registrations: [(hub: Int, list: [DeviceRegistration])] = []
    /// What is written, and where.
    private var wanted: (hub: Int, installation: Installation)?
    private var moved: [Moved] = []

    /// Decides about a call. The hubs are those among which the device can be.
    init(
        _ purpose: Purpose, on id: String, for rights: DeviceRights, hubs hubCount: Int = 1,
        home: @escaping @Sendable (UserTag?) -> Int = { _ in 0 }
    ) {
        (self.purpose, self.id, self.rights, self.hubCount, self.home) = (purpose, id, rights, hubCount, home)
    }

    /// Whether an installation can have this id: the hub makes a tag of it, and dots alone are no segment of a path (RFC 3986, 5.2.4).
    static func isPossible(_ id: String) -> Bool {
        (try? HubTag.installation(id)) != nil && id.contains { $0 != "." }
    }

    /// The first step.
    mutating func start() -> Step {
        var owner = rights.user
        if case .put(let body) = purpose { owner = body.user }
        let first = home(owner)
        let hubs = [first] + (0..<hubCount).filter { $0 != first }
        if case .remove = purpose, rights.user == nil {
            stage = .clearing
            queue = hubs.map { Call(hub: $0, act: .removeInstallation(id: id)) }
        } else {
            queue = hubs.map { Call(hub: $0, act: .read) }
        }
        return following()
    }

    /// The next step after what came of the call of the step before.
    mutating func next(after reply: Reply) -> Step {
        switch (current?.act, reply) {
        case (.removeRegistration, .failed(let failure)) where failure.status == 412: break
        // It was removed since it was read.
        case (.patch, .failed(let failure)) where failure.cause == .absent: return .end(.refused(.notFound))
        case (_, .failed(let failure)): return .end(.failed(failure))
        case (.read, .installation(let installation)): note(installation)
        case (.find, .registrations(let list)), (.findRivals, .registrations(let list)):
            registrations.append((current?.hub ?? 0, list))
        case (.write, .done), (.patch, .done), (.removeInstallation, .done), (.removeRegistration, .done): break
        // The reply to another call.
        default: return .end(.failed(RegistrationFailure(.unreadable(.otherDocument), code: .internal)))
        }
        return following()
    }

    private mutating func following() -> Step {
        while queue.isEmpty {
            if let ending = advance() { return .end(ending) }
        }
        let call = queue.removeFirst()
        current = call
        return .ask(call)
    }

    private mutating func note(_ installation: Installation?) {
        guard let installation, let hub = current?.hub else { return }
        found.append((hub, installation))
        // One that is the caller's decides. A device that is written, or removed, must be gone from the other hubs.
        switch purpose {
        case .put, .remove: break
        case .show, .change, .addTag, .removeTag: if rights.admit(owner(of: installation)) { queue = [] }
        }
    }

    private func owner(of installation: Installation) -> DeviceOwner? { DeviceOwner(of: installation, by: rights.rules.users) }

    /// Goes on to the next stage, or ends.
    private mutating func advance() -> Ending? {
        switch stage {
        case .reading: return judge()
        case .finding:
            stage = .writing
            guard let wanted else { return .done }
            queue = [Call(hub: wanted.hub, act: .write(wanted.installation))]
            queue += outdated(beside: wanted.hub).map { Call(hub: $0, act: .removeInstallation(id: id)) }
            queue += removals()
            queue += asking { .findRivals(handle: $0, platform: $1) }
        case .writing:
            stage = .clearing
            queue = removals()
        case .clearing:
            guard let wanted else { return .done }
            return .shown(wanted.installation, hub: wanted.hub, moved: moved)
        }
        return nil
    }

    /// The other hubs that have the device. A patch is no reason to remove what is not the caller's.
    private func outdated(beside hub: Int) -> [Int] {
        var isPut = false
        if case .put = purpose { isPut = true }
        return found.filter { $0.hub != hub && (isPut || rights.admit(owner(of: $0.installation))) }.map(\.hub)
    }

    /// A call to each hub about the handle that is written.
    private func asking(_ act: (String, Platform) -> Act) -> [Call] {
        guard let installation = wanted?.installation, case .known(let platform) = installation.platform else { return [] }
        return (0..<hubCount).map { Call(hub: $0, act: act(installation.pushChannel, platform)) }
    }

    /// The calls that remove what else has the handle.
    private mutating func removals() -> [Call] {
        guard let handle = wanted?.installation.pushChannel else { return [] }
        var calls: [Call] = []
        for (hub, list) in registrations {
            let duplicates = HandleDuplicates(in: list, of: handle, beside: id)
            for registration in duplicates.installations {
                guard let other = registration.installationID else { continue }
                calls.append(Call(hub: hub, act: .removeInstallation(id: other)))
                let owner = DeviceOwner(tags: registration.tags, userID: registration.userID, by: rights.rules.users)
                let one = Moved(id: other, user: rights.user == nil ? owner?.name : nil)
                if !moved.contains(where: { $0.id == one.id }) { moved.append(one) }
            }
            calls += duplicates.natives.map { Call(hub: hub, act: .removeRegistration(id: $0.id, etag: $0.etag)) }
        }
        registrations = []
        return calls
    }
}

// MARK: - Judgement

extension DeviceDesk {
    /// Decides by what the hubs have under the id.
    private mutating func judge() -> Ending? {
        if case .put(let body) = purpose { return write(body) }
        if case .remove = purpose {
            guard found.allSatisfy({ rights.admit(owner(of: $0.installation)) }) else { return .refused(.notFound) }
            stage = .clearing
            queue = found.map { Call(hub: $0.hub, act: .removeInstallation(id: id)) }
            return nil
        }
        guard let own = found.first(where: { rights.admit(owner(of: $0.installation)) }) else { return .refused(.notFound) }
        switch purpose {
        case .addTag(let tag): return changeTags([.addTag(tag)], of: own, at: { _ in "" })
        case .removeTag(let tag): return changeTags([.removeTag(tag)], of: own, at: { _ in "" })
        case .change(let patch) where patch.hasTagsAlone: return changeTags(patch.changes, of: own) { "/\($0)/path" }
        case .change(let patch): return change(own, by: patch)
        case .show, .put, .remove: return .shown(own.installation, hub: own.hub, moved: [])
        }
    }

    /// Whether the caller may write over a device: it is the caller's, or the caller holds the device that has it.
    private func mayWrite(_ body: DeviceBody, over installation: Installation) -> Bool {
        if rights.admit(owner(of: installation)) { return true }
        guard case .known(let platform) = installation.platform else { return false }
        return platform == body.platform
            && DeviceToken.identity(of: installation.pushChannel, on: platform)
                == DeviceToken.identity(of: body.handle, on: body.platform)
    }

    private mutating func write(_ body: DeviceBody) -> Ending? {
        guard found.allSatisfy({ mayWrite(body, over: $0.installation) }) else { return .refused(.notFound) }
        let hub = home(body.user)
        let owner = body.user.map { DeviceOwner($0) }
        // Of another user nothing is kept: tiles have tags and texts of their own.
        let kept = found.first { self.owner(of: $0.installation)?.folded == owner?.folded }?.installation
        var installation = Installation(id: id, platform: .known(body.platform), pushChannel: body.handle)
        (installation.secondaryTiles, installation.pushVariables) = (kept?.secondaryTiles, kept?.pushVariables)
        installation.templates = body.templates.hubText
        installation.expirationTime = body.expiresAt?.text
        installation.set(tags: body.tags, owner: owner)
        wanted = (hub, installation)
        stage = .finding
        queue = asking { .find(handle: $0, platform: $1) }
        return nil
    }

    /// Has the hub change tags by itself, as two gateways may do it at once.
    private mutating func changeTags(
        _ changes: [DevicePatch.Change], of own: (hub: Int, installation: Installation), at pointer: (Int) -> String
    ) -> Ending? {
        let owner = owner(of: own.installation)
        var draft = DeviceDraft(own.installation, owner: owner, rules: rights.rules)
        var calls: [InstallationChange] = []
        for (index, change) in changes.enumerated() {
            let before = draft.tags
            draft.apply(change, at: pointer(index))
            if case .removeTag(let tag) = change, let old = before.first(where: { UserTag.folded($0) == UserTag.folded(tag) }) {
                calls.append(.removing(tag: old))
            }
            // The hub may not show yet that another gateway has removed it.
            if case .addTag(let tag) = change, UserTag.folded(tag) != owner?.folded { calls.append(.adding(tag: tag)) }
        }
        draft.checkCounts()
        guard draft.faults.isEmpty else { return .refused(.invalid(draft.faults)) }
        let result = draft.installation
        wanted = (own.hub, result)
        stage = .clearing
        queue = calls.isEmpty ? [] : [Call(hub: own.hub, act: .patch(calls, result: result))]
        return nil
    }

    private mutating func change(_ own: (hub: Int, installation: Installation), by patch: DevicePatch) -> Ending? {
        var draft = DeviceDraft(own.installation, owner: owner(of: own.installation), rules: rights.rules)
        for (index, change) in patch.changes.enumerated() { draft.apply(change, at: "/\(index)") }
        draft.checkCounts()
        guard draft.faults.isEmpty else { return .refused(.invalid(draft.faults)) }
        let installation = draft.installation
        wanted = (draft.newUser.map { home($0) } ?? own.hub, installation)
        stage = .finding
        // Who has the handle is asked where it, or its user, is another.
        if installation.pushChannel != own.installation.pushChannel || draft.newUser != nil {
            queue = asking { .find(handle: $0, platform: $1) }
        }
        return nil
    }
}

extension DeviceDesk.Act: Concealed {
    /// What it does; the handle is a secret.
    var description: String {
        switch self {
        case .read: "read"
        case .find: "find"
        case .findRivals: "find rivals"
        case .write: "write"
        case .patch: "patch"
        case .removeInstallation: "remove an installation"
        case .removeRegistration: "remove a registration"
        }
    }
}

extension DeviceDesk: Concealed {
    /// The name alone.
    var description: String { "DeviceDesk" }
}
