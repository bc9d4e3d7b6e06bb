import Basics
import DeviceHubs
import FanOut
import GatewayAPI
import HubREST
import PushModel

/// Decides what has to be asked and told the hub for one call about one installation: facts in, calls out, at the end an answer.
///
/// It makes no call itself. Whoever uses it makes the calls in the order in which they are asked for, and hands back what came of each.
/// Calls of the API on one id come one at a time.
///
/// What is new is written before what is old is removed, so that a failure between the two leaves a device that rings.
struct DeviceDesk: Sendable {
    /// The thing that the call asks for.
    enum Purpose: Sendable {
        case show
        case put(DeviceBody)
        case change(DevicePatch)
        case remove
        case addTag(String)
        case removeTag(String)
    }

    /// One call to the hub, or to all hubs of a spread, which are one here. Each may be made again without harm.
    enum Call: Sendable, Equatable {
        case read
        /// Lists the registrations of a handle.
        case find(handle: String, platform: Platform)
        /// Lists the installations that this gateway gave the handle to before this one. No hub is asked.
        case findRivals(handle: String, platform: Platform)
        case write(Installation)
        /// Changes tags at the hub itself, and what the installation is then.
        case patch([InstallationChange], result: Installation)
        case remove
        /// Removes another installation that has the handle, unless that has changed meanwhile.
        case removeDuplicate(id: String, handle: String, platform: Platform)
        case removeRegistration(id: String, etag: String?)
    }

    enum Reply: Sendable, Equatable {
        /// To `read`: what each hub has under the id, the home's first.
        case installations([Installation])
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
        /// The device as it is now, and those that lost their handle to it.
        case shown(Installation, moved: [Moved])
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
    private var stage = Stage.reading
    private var queue: [Call] = []
    private var current: Call?
    /// The copies that the hubs have under the id. Each copy is judged, since all are written over or removed.
    private var copies: [Installation] = []
    private var registrations: [DeviceRegistration] = []
    /// The device in its new form.
    private var wanted: Installation?
    private var moved: [Moved] = []

    init(_ purpose: Purpose, on id: String, for rights: DeviceRights) {
        (self.purpose, self.id, self.rights) = (purpose, id, rights)
    }

    /// The user whose device it is, as far as the call says it.
    var user: UserTag? {
        switch purpose {
        case .put(let body): body.user
        case .change(let patch): patch.user ?? rights.user
        case .show, .remove, .addTag, .removeTag: rights.user
        }
    }

    /// The first step.
    mutating func start() -> Step {
        if case .remove = purpose, rights.user == nil {
            (stage, queue) = (.clearing, [.remove])
        } else {
            queue = [.read]
        }
        return following()
    }

    /// The next step after what came of the call of the step before.
    mutating func next(after reply: Reply) -> Step {
        switch (current, reply) {
        case (.removeRegistration, .failed(let failure)) where failure.status == 412: break
        // It was removed since it was read.
        case (.patch, .failed(let failure)) where failure.cause == .absent: return .end(.refused(.notFound))
        case (_, .failed(let failure)): return .end(.failed(failure))
        case (.read, .installations(let all)): copies = all
        case (.find, .registrations(let list)), (.findRivals, .registrations(let list)): registrations = list
        case (.write, .done), (.patch, .done), (.remove, .done), (.removeDuplicate, .done),
            (.removeRegistration, .done):
            break
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

    private func owner(of installation: Installation) -> DeviceOwner? { DeviceOwner(of: installation, by: rights.rules.users) }

    /// Goes on to the next stage, or ends.
    private mutating func advance() -> Ending? {
        switch stage {
        case .reading: return judge()
        case .finding:
            stage = .writing
            guard let wanted else { return .done }
            queue = [.write(wanted)] + removals() + asking { .findRivals(handle: $0, platform: $1) }
        case .writing:
            stage = .clearing
            queue = removals()
        case .clearing:
            guard let wanted else { return .done }
            return .shown(wanted, moved: moved)
        }
        return nil
    }

    /// The call about the handle that is written.
    private func asking(_ call: (String, Platform) -> Call) -> [Call] {
        guard let wanted, case .known(let platform) = wanted.platform else { return [] }
        return [call(wanted.pushChannel, platform)]
    }

    /// The calls that remove what else has the handle.
    private mutating func removals() -> [Call] {
        guard let wanted, case .known(let platform) = wanted.platform else { return [] }
        let handle = wanted.pushChannel
        let duplicates = HandleDuplicates(in: registrations, of: handle, beside: id)
        registrations = []
        var calls = duplicates.natives.map { Call.removeRegistration(id: $0.id, etag: $0.etag) }
        for registration in duplicates.installations {
            guard let other = registration.installationID else { continue }
            calls.append(.removeDuplicate(id: other, handle: handle, platform: platform))
            let owner = DeviceOwner(tags: registration.tags, userID: registration.userID, by: rights.rules.users)
            // Of others a user learns no name.
            let one = Moved(id: other, user: rights.user == nil ? owner?.name : nil)
            if !moved.contains(where: { $0.id == one.id }) { moved.append(one) }
        }
        return calls
    }
}

// MARK: - Judgement

extension DeviceDesk {
    /// Decides by what the hubs have under the id.
    private mutating func judge() -> Ending? {
        if case .put(let body) = purpose { return write(body) }
        guard let found = copies.first else {
            if case .remove = purpose { return .done }
            return .refused(.notFound)
        }
        guard copies.allSatisfy({ rights.admit(owner(of: $0)) }) else { return .refused(.notFound) }
        switch purpose {
        case .addTag(let tag): return changeTags([.addTag(tag)], of: found) { _ in "" }
        case .removeTag(let tag): return changeTags([.removeTag(tag)], of: found) { _ in "" }
        case .change(let patch) where patch.hasTagsAlone: return changeTags(patch.changes, of: found) { "/\($0)/path" }
        case .change(let patch): return change(found, by: patch)
        case .remove:
            (stage, queue) = (.clearing, [.remove])
            return nil
        case .show, .put: return .shown(found, moved: [])
        }
    }

    /// True if the caller may write over a device: it is the caller's, or the caller holds the device that has it.
    private func mayWrite(_ body: DeviceBody, over installation: Installation) -> Bool {
        if rights.admit(owner(of: installation)) { return true }
        guard case .known(let platform) = installation.platform else { return false }
        return platform == body.platform
            && DeviceToken.identity(of: installation.pushChannel, on: platform)
                == DeviceToken.identity(of: body.handle, on: body.platform)
    }

    private mutating func write(_ body: DeviceBody) -> Ending? {
        guard copies.allSatisfy({ mayWrite(body, over: $0) }) else { return .refused(.notFound) }
        let owner = body.user.map { DeviceOwner($0) }
        // Of another user nothing is kept: tiles have tags and texts of their own.
        let kept = copies.first { self.owner(of: $0)?.folded == owner?.folded }
        var installation = Installation(id: id, platform: .known(body.platform), pushChannel: body.handle)
        (installation.secondaryTiles, installation.pushVariables) = (kept?.secondaryTiles, kept?.pushVariables)
        installation.templates = body.templates.hubText
        installation.expirationTime = body.expiresAt?.text
        let held = kept.map(rights.held) ?? []
        let heldFolded = Set(held.map(UserTag.folded))
        let unknown = body.claims.filter { !heldFolded.contains(UserTag.folded($0.key)) }.values.sorted()
        guard unknown.isEmpty else {
            return .refused(.invalid(unknown.map { RequestFault(.schemaInvalid, at: $0, message: TagRules.reservation) }))
        }
        installation.set(tags: body.tags.keeping(held), owner: owner)
        var draft = DeviceDraft(installation, owner: owner, for: rights)
        draft.checkCounts()
        guard draft.faults.isEmpty else { return .refused(.invalid(draft.faults)) }
        wanted = installation
        stage = .finding
        queue = asking { .find(handle: $0, platform: $1) }
        return nil
    }

    /// Has the hub change tags by itself, as two gateways may do it at once.
    private mutating func changeTags(
        _ changes: [DevicePatch.Change], of found: Installation, at pointer: (Int) -> String
    ) -> Ending? {
        let owner = owner(of: found)
        var draft = DeviceDraft(found, owner: owner, for: rights)
        var calls: [InstallationChange] = []
        for (index, change) in changes.enumerated() {
            let before = draft.tags
            draft.apply(change, at: pointer(index))
            // The hub may not show yet that another gateway has added or removed it.
            switch change {
            case .removeTag(let tag):
                let old = before.first { UserTag.folded($0) == UserTag.folded(tag) }
                calls.append(.removing(tag: old ?? tag))
            case .addTag(let tag) where UserTag.folded(tag) != owner?.folded && !isKept(tag): calls.append(.adding(tag: tag))
            default: break
            }
        }
        draft.checkCounts()
        guard draft.faults.isEmpty else { return .refused(.invalid(draft.faults)) }
        wanted = draft.installation
        (stage, queue) = (.clearing, calls.isEmpty ? [] : [.patch(calls, result: draft.installation)])
        return nil
    }

    /// True if a user names a tag that is a back end's to set: it is there, or the draft has refused it.
    private func isKept(_ tag: String) -> Bool { rights.user != nil && rights.rules.isReserved(tag) }

    private mutating func change(_ found: Installation, by patch: DevicePatch) -> Ending? {
        var draft = DeviceDraft(found, owner: owner(of: found), for: rights)
        for (index, change) in patch.changes.enumerated() { draft.apply(change, at: "/\(index)") }
        draft.checkCounts()
        guard draft.faults.isEmpty else { return .refused(.invalid(draft.faults)) }
        wanted = draft.installation
        stage = .finding
        // Another handle, or another user, is a reason to ask for those that have the handle.
        if draft.installation.pushChannel != found.pushChannel || draft.installation.userID != found.userID {
            queue = asking { .find(handle: $0, platform: $1) }
        }
        return nil
    }
}

extension DeviceDesk.Call: Concealed {
    /// The kind of the call, because a handle is a secret.
    var description: String {
        switch self {
        case .read: "read"
        case .find: "find"
        case .findRivals: "find rivals"
        case .write: "write"
        case .patch: "patch"
        case .remove: "remove"
        case .removeDuplicate: "remove a duplicate"
        case .removeRegistration: "remove a registration"
        }
    }
}

extension DeviceDesk: Concealed {
    /// The name alone.
    var description: String { "DeviceDesk" }
}
