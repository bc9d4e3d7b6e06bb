import DeviceHubs
import FanOut
import HubREST
import PushModel

/// A device that is being changed: what a hub has, with the changes of a patch, each checked as it comes.
struct DeviceDraft {
    private(set) var installation: Installation
    /// The tags, without the user's and the hub's own.
    private(set) var tags: [String]
    private(set) var faults: [RequestFault] = []
    private var owner: DeviceOwner?
    private let rules: TagRules
    /// The tags that stay, and the same in lower case.
    private let held: [String]
    private let heldFolded: Set<String>
    private let isUsers: Bool
    private var place = ""

    init(_ installation: Installation, owner: DeviceOwner?, for rights: DeviceRights) {
        (self.installation, self.owner, rules) = (installation, owner, rights.rules)
        (held, isUsers) = (rights.held(by: installation), rights.user != nil)
        heldFolded = Set(held.map(UserTag.folded))
        tags = installation.plainTags(beside: owner, of: rules.users)
    }

    /// Makes a change, or notes what is wrong with it. The pointer is that of its operation.
    mutating func apply(_ change: DevicePatch.Change, at pointer: String) {
        place = pointer
        switch change {
        case .addTag(let tag):
            if let fault = rules.fault(of: tag, beside: owner?.folded, holding: heldFolded) { return note(fault) }
            if !tags.contains(where: { UserTag.folded($0) == UserTag.folded(tag) }), UserTag.folded(tag) != owner?.folded {
                tags.append(tag)
            }
        case .removeTag(let tag):
            if UserTag.folded(tag) == owner?.folded { return note("The user's tag stays as long as the user.") }
            if isUsers, rules.isReserved(tag) { return note(TagRules.reservation) }
            tags.removeAll { UserTag.folded($0) == UserTag.folded(tag) }
        case .setTags(let list):
            let checked = rules.check(list, beside: owner?.folded, holding: heldFolded, at: place + "/value")
            for fault in checked.faults { faults.note(fault) }
            tags = checked.tags.keeping(held)
        case .handle(let handle): setHandle(handle.text)
        case .user(let user): owner = user.map { DeviceOwner($0) }
        case .expiry(let moment): installation.expirationTime = moment?.text
        case .templates(let templates): installation.templates = templates.hubText
        case .template(let name, let template): setTemplates { $0.all[name] = template }
        case .body(let name, let body): changeTemplate(name) { $0.body = body }
        case .headers(let name, let headers): changeTemplate(name) { $0.headers = headers }
        case .templateTags(let name, let list): changeTemplate(name) { $0.tags = list }
        }
        installation.set(tags: tags, owner: owner)
    }

    /// Notes what there is too much of, once all changes are made.
    mutating func checkCounts() {
        place = ""
        if tags.count > TagRules.maximumCount {
            note("A device has \(TagRules.maximumCount) tags at most beside its user's.")
        }
        let templates = DeviceTemplates(installation.templates)
        if templates.all.count > DeviceTemplates.maximumCount {
            note("At most \(DeviceTemplates.maximumCount) templates are allowed.")
        }
        if templates.isCrowded(beside: tags.count) { note(DeviceTemplates.crowd) }
    }

    private mutating func setHandle(_ text: String) {
        guard case .known(let platform) = installation.platform else {
            return note("The handle of this platform cannot be changed.")
        }
        do throws(DeviceToken.Problem) {
            installation.pushChannel = try DeviceToken.normalForm(text, on: platform)
            installation.isChannelExpired = false
        } catch {
            note(error.description, at: "/value")
        }
    }

    private mutating func changeTemplate(_ name: String, by body: (inout DeviceTemplates.Template) -> Void) {
        let templates = DeviceTemplates(installation.templates)
        guard var template = templates.all[name] else { return note("The device has no such template.", at: "/path") }
        body(&template)
        setTemplates { $0.all[name] = template }
    }

    private mutating func setTemplates(_ body: (inout DeviceTemplates) -> Void) {
        var templates = DeviceTemplates(installation.templates)
        body(&templates)
        installation.templates = templates.hubText
    }

    private mutating func note(_ message: String, at end: String = "") {
        faults.note(RequestFault(.schemaInvalid, at: place + end, message: message))
    }
}

extension [String] {
    /// The tags, with those of others that are missing.
    func keeping(_ others: [String]) -> [String] {
        let own = Set(map(UserTag.folded))
        return self + others.filter { !own.contains(UserTag.folded($0)) }
    }
}

extension Installation {
    /// The tags without the user's, and without those that the hub makes.
    func plainTags(beside owner: DeviceOwner?, of pattern: UserTag.Pattern) -> [String] {
        tags.filter { $0.utf8.first != UInt8(ascii: "$") && UserTag.folded($0) != owner?.folded }
    }

    /// Gives it tags and a user, whose tag comes first.
    mutating func set(tags: [String], owner: DeviceOwner?) {
        self.tags = (owner.map { [$0.tag] } ?? []) + tags.filter { UserTag.folded($0) != owner?.folded }
        userID = owner?.form
    }
}
