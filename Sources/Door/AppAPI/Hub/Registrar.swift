import Basics
import DeviceHubs
import FanOut
import GatewayAPI
package import HubREST
package import PushModel

/// Decides what has to be asked and told the hub for one call of `/api/register`: facts in, calls out, at the end an answer.
///
/// It makes no call itself. Whoever uses it makes the calls in the order in which they are asked for, and hands back what the hub said.
/// Calls of the API on one id come one at a time:
///
///     var step = registrar.start()
///     while case .ask(let call) = step { step = registrar.next(after: perform(call)) }
///
/// An installation belongs to the user whose tag it has. Whoever else brings the handle that it has now holds the device, and takes it
/// over. What is new is written before what is old is removed, so that a failure between the two leaves a device that rings.
package struct Registrar: Sendable {
    /// One call to the hub, by a method of `RegistrationClient`. Each may be made again without harm.
    package enum Call: Sendable, Equatable {
        /// `registrations(of:on:)`.
        case find(handle: String, platform: Platform?)
        /// `copies(of:)`.
        case read(id: String)
        /// `put(_:)`.
        case write(Installation)
        /// `deleteInstallation(_:)`.
        case removeInstallation(id: String)
        /// `deleteRegistration(_:etag:)`.
        case removeRegistration(id: String, etag: String?)
    }

    /// What the hub said to a call.
    package enum Reply: Sendable, Equatable {
        /// To `find`.
        case registrations([DeviceRegistration])
        /// To `read`: what each hub has under the id, the home's first.
        case installations([Installation])
        /// It is written or removed.
        case done
        /// The call failed.
        case failed(RegistrationFailure)
    }

    /// How the call of the API ends.
    package enum Ending: Sendable, Equatable {
        /// The id for the device.
        case id(String)
        /// It is registered, or removed.
        case done
        /// The id cannot be, or is another user's.
        case notFound
        /// The hub did not do what was needed.
        case failed(RegistrationFailure)
    }

    /// What comes next.
    package enum Step: Sendable, Equatable {
        /// Make this call.
        case ask(Call)
        /// Answer.
        case end(Ending)
    }

    private enum Purpose: Sendable {
        case create(newID: String, HandleQuery?)
        case put(id: String, RegisterBody)
        case remove(id: String)
    }

    private let purpose: Purpose
    private let user: UserTag
    private let rules: TagRules
    /// The copies that the hubs have under the id, once it was read. Each copy is judged, since all are written over or removed.
    private var copies: [Installation] = []
    /// The calls that are left, once it is decided how it ends.
    private var left: [Call] = []
    private var ending: Ending?
    private var isRemovingRegistration = false

    private init(_ purpose: Purpose, user: UserTag, rules: TagRules) {
        self.purpose = purpose
        self.user = user
        self.rules = rules
    }

    /// `POST /api/register`: finds the id that a device has by its handle, or gives it a new one, a random UUID.
    static func creating(
        for handle: HandleQuery?, newID: String, user: UserTag, rules: TagRules
    ) -> Registrar {
        Registrar(.create(newID: newID, handle), user: user, rules: rules)
    }

    /// `PUT /api/register/{id}`: registers a device, or changes it. The id has its percent escapes decoded.
    static func writing(_ id: String, body: RegisterBody, user: UserTag, rules: TagRules) -> Registrar {
        Registrar(.put(id: id, body), user: user, rules: rules)
    }

    /// `DELETE /api/register/{id}`. The id has its percent escapes decoded.
    static func removing(_ id: String, user: UserTag, rules: TagRules) -> Registrar {
        Registrar(.remove(id: id), user: user, rules: rules)
    }

    /// The first step.
    package func start() -> Step {
        switch purpose {
        case .create(let newID, nil): .end(.id(newID))
        case .create(_, let handle?): .ask(.find(handle: handle.text, platform: handle.platform))
        case .put(let id, _): InstallationID.isPossible(id) ? .ask(.read(id: id)) : .end(.notFound)
        // What cannot be there is not there any more.
        case .remove(let id): InstallationID.isPossible(id) ? .ask(.read(id: id)) : .end(.done)
        }
    }

    /// The next step after the hub's reply to the call of the step before.
    package mutating func next(after reply: Reply) -> Step {
        if case .failed(let failure) = reply {
            // A registration that was changed since it was listed is not the one that was to be removed.
            guard isRemovingRegistration, failure.status == 412 else { return .end(.failed(failure)) }
        }
        if ending != nil { return following() }
        switch (purpose, reply) {
        case (.create(let newID, let handle?), .registrations(let list)):
            choose(among: list, of: handle, else: newID)
        case (.put(_, let body), .installations(let all)):
            guard all.allSatisfy({ mayWrite(body, over: $0) }) else { return .end(.notFound) }
            copies = all
            return .ask(.find(handle: body.handle, platform: body.platform))
        case (.put(let id, let body), .registrations(let list)):
            write(body, as: id, beside: list)
        case (.remove(let id), .installations(let all)):
            guard !all.isEmpty else { return .end(.done) }
            guard all.allSatisfy(isOwner) else { return .end(.notFound) }
            left = [.removeInstallation(id: id)]
            ending = .done
        default:
            // The reply to another call.
            return .end(.failed(RegistrationFailure(.unreadable(.otherDocument), code: .internal)))
        }
        return following()
    }

    private mutating func following() -> Step {
        guard !left.isEmpty else { return .end(ending ?? .done) }
        let call = left.removeFirst()
        if case .removeRegistration = call { isRemovingRegistration = true } else { isRemovingRegistration = false }
        return .ask(call)
    }
}

// MARK: - POST

extension Registrar {
    /// Keeps one installation of the handle, the user's own if there is one, else the hub's first, and removes the others.
    private mutating func choose(among list: [DeviceRegistration], of handle: HandleQuery, else newID: String) {
        let known = list.filter { HandleDuplicates.has($0, handle: handle.text) }
        let usable = known.filter { registration in registration.installationID.map(Self.isSendable) ?? false }
        let own = usable.first { registration in registration.tags.contains { UserTag.isSame($0, as: user) } }
        let kept = (own ?? usable.first)?.installationID
        left = Self.removals(known, of: handle.text, beside: kept)
        ending = .id(kept ?? newID)
    }

    /// Whether an app can put the id into a path as it stands: the tutorials' apps escape nothing.
    private static func isSendable(_ id: String) -> Bool {
        InstallationID.isPossible(id) && id.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
    }

    /// The calls that remove what makes the device ring twice.
    private static func removals(_ list: [DeviceRegistration], of handle: String, beside id: String?) -> [Call] {
        let duplicates = HandleDuplicates(in: list, of: handle, beside: id)
        return duplicates.installations.compactMap { $0.installationID.map { .removeInstallation(id: $0) } }
            + duplicates.natives.map { .removeRegistration(id: $0.id, etag: $0.etag) }
    }
}

// MARK: - PUT and DELETE

extension Registrar {
    private func isOwner(of installation: Installation) -> Bool {
        installation.tags.contains { UserTag.isSame($0, as: user) }
    }

    /// True if the user may write over what has the id: the user has it, or holds the device that has it.
    private func mayWrite(_ body: RegisterBody, over installation: Installation) -> Bool {
        if isOwner(of: installation) { return true }
        let theirs = installation.knownPlatform ?? body.platform
        return DeviceToken.identity(of: installation.pushChannel, on: theirs)
            == DeviceToken.identity(of: body.handle, on: body.platform)
    }

    private mutating func write(_ body: RegisterBody, as id: String, beside list: [DeviceRegistration]) {
        // Of another user nothing is kept: templates have tags and texts of their own.
        var kept = copies.first(where: isOwner) ?? copies.first
        if let found = kept, !isOwner(of: found), found.tags.contains(where: { rules.users.fits($0) }) { kept = nil }
        var wanted = kept ?? Installation(id: id, platform: .known(body.platform), pushChannel: body.handle)
        wanted.platform = .known(body.platform)
        wanted.pushChannel = body.handle
        // The tags that a back end has set stay.
        let held = (kept?.tags ?? []).filter(rules.isReserved)
        wanted.tags = [user.text] + body.tags + held
        wanted.userID = user.form
        if let templates = body.templates { wanted.templates = templates.hubText }
        wanted.isChannelExpired = false
        let isThere = kept.map { Self.isSame($0, as: wanted) } ?? false
        left = isThere ? [] : [.write(wanted)]
        left += Self.removals(list, of: body.handle, beside: id)
        ending = .done
    }

    /// Whether the hub has all that would be written. The order and the case of tags make no difference to it.
    private static func isSame(_ found: Installation, as wanted: Installation) -> Bool {
        guard found.platform == wanted.platform, found.userID == wanted.userID, !found.isChannelExpired,
            DeviceTemplates(found.templates) == DeviceTemplates(wanted.templates)
        else { return false }
        let isBrowser = wanted.platform == .known(.browser)
        let channel = isBrowser ? DeviceToken.identity(of: found.pushChannel, on: .browser) : found.pushChannel
        let tags = found.tags.filter { $0.utf8.first != UInt8(ascii: "$") }
        return channel == wanted.pushChannel && Set(tags.map(UserTag.folded)) == Set(wanted.tags.map(UserTag.folded))
    }
}

extension Installation {
    fileprivate var knownPlatform: Platform? {
        guard case .known(let platform) = platform else { return nil }
        return platform
    }
}

extension Registrar.Call: Concealed {
    /// What it does; the handle is a secret.
    package var description: String {
        switch self {
        case .find: "find"
        case .read: "read"
        case .write: "write"
        case .removeInstallation: "remove an installation"
        case .removeRegistration: "remove a registration"
        }
    }
}

extension Registrar: Concealed {
    /// The name alone.
    package var description: String { "Registrar" }
}
