package import DeviceHubs
import EventLoop
package import FanOut
import GatewayAPI
import HTTPServing
import Keys
import PushModel

/// Answers calls about devices: a value decides, and its calls are made on a lane of the hub.
package struct DeviceEndpoints: Sendable {
    let users: UserTags
    let rules: TagRules
    let hubs: DeviceHubs

    /// Makes endpoints by the rules for users' tags, of which a back end may set the reserved ones.
    package init(users: UserTags, rules: TagRules, hubs: DeviceHubs) {
        (self.users, self.rules, self.hubs) = (users, rules, hubs)
    }

    /// Answers a call, now or later. Waits for nothing.
    package func answer(_ call: DeviceCall) {
        do throws(APIProblem) {
            switch call.operation {
            case .listUserInstallations, .eraseUser, .showErasure: throw APIProblem.notFound
            case .putInstallation, .changeInstallation, .showInstallation, .removeInstallation, .addInstallationTag,
                .removeInstallationTag:
                try answerInstallation(call)
            }
        } catch {
            call.reply.answer(error)
        }
    }

    private func answerInstallation(_ call: DeviceCall) throws(APIProblem) {
        let rights = try rights(of: call)
        let query = try APIOperation.device(call.operation).row.query(of: call.request)
        guard let id = call.parameters.first, InstallationID.isPossible(id) else { throw APIProblem.impossibleInstallation }
        let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
        let purpose = try DeviceDesk.Purpose(of: call, for: rights, now: now)
        let desk = DeviceDesk(purpose, on: id, for: rights)
        let hub =
            switch call.origin {
            case .backEnd(let holder):
                try hubs.home(of: desk.user, id: id, named: query["hub"], for: .backEnd(holder.publisher))
            case .user(let caller): try hubs.home(of: desk.user, id: id, named: query["hub"], for: .user(caller))
            }
        let isPut = hub.lanes.put(for: id) { caller in
            let ending = caller.run(desk, on: id)
            call.reply.answer(call.answer(to: ending, for: rights, at: caller.hubName(of: id)))
        }
        guard isPut else { throw APIProblem.overloaded(after: 1000) }
    }

    /// The rights of the caller. A token of a user may have less than the user.
    private func rights(of call: DeviceCall) throws(APIProblem) -> DeviceRights {
        let tag = { @Sendable [users] (name: String) in users.tag(of: name) }
        switch call.origin {
        case .backEnd(let holder):
            let free = TagRules(users: rules.users)
            let showsHandles = holder.publisher.scopes.contains(.handles)
            return DeviceRights(user: nil, showsHandles: showsHandles, rules: free, tag: tag)
        case .user(let caller):
            if let scopes = caller.scopes, !scopes.contains(.register) { throw APIProblem.forbiddenScope(.register) }
            let showsHandles = caller.scopes?.contains(.handles) ?? true
            return DeviceRights(user: tag(caller.name), showsHandles: showsHandles, rules: rules, tag: tag)
        }
    }
}

extension DeviceCall {
    /// The answer to the call once it has ended.
    func answer(to ending: DeviceDesk.Ending, for rights: DeviceRights, at hub: String) -> APIAnswer {
        switch ending {
        case .done: return APIAnswer(status: 204)
        case .refused(let problem): return APIAnswer(problem)
        case .failed(let failure): return APIAnswer(APIProblem(failure))
        case .shown(let installation, let moved):
            let device = DeviceAnswer(installation, at: hub, for: rights, moved: moved)
            switch operation {
            case .addInstallationTag, .removeInstallationTag: return APIAnswer(status: 204)
            case .showInstallation where !request.headers.wants(device.tag): return device.unchanged
            default: return device.answer
            }
        }
    }
}

extension DeviceDesk.Purpose {
    /// Reads what a call asks for.
    init(of call: DeviceCall, for rights: DeviceRights, now: Timestamp) throws(APIProblem) {
        let contentType = call.request.headers.single("Content-Type")
        let tag = call.parameters.count > 1 ? call.parameters[1] : ""
        switch call.operation {
        case .putInstallation:
            self = .put(try DeviceBody(call.request.body, contentType: contentType, for: rights, now: now))
        case .changeInstallation:
            self = .change(try DevicePatch(call.request.body, contentType: contentType, for: rights, now: now))
        case .removeInstallation: self = .remove
        case .addInstallationTag: self = .addTag(tag)
        case .removeInstallationTag: self = .removeTag(tag)
        case .showInstallation, .listUserInstallations, .eraseUser, .showErasure: self = .show
        }
    }
}

extension APIProblem {
    /// 400: no installation can have the id.
    static let impossibleInstallation = APIProblem.invalid(
        "An installation's id has 1 to 120 letters, digits and `_ @ # . : - =`, and is more than dots.")
}
