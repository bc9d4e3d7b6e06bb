import Basics
package import DeviceHubs
import FanOut
package import GatewayAPI
import HTTPServing
import HubREST
import Keys

/// Lists the devices of a user for a back end, and removes them all. Waits for nothing.
package struct UserEndpoints: Sendable {
    private let hubs: DeviceHubs
    private let users: UserTags
    private let held: HeldAnswers
    private let desk: ErasureDesk

    /// Endpoints that remove nothing yet.
    package init(hubs: DeviceHubs, users: UserTags, held: HeldAnswers, services: GatewayServices) {
        (self.hubs, self.users, self.held) = (hubs, users, held)
        desk = ErasureDesk(log: services.log, now: services.now)
    }

    /// Goes on with erasures that have waited, and forgets devices that were written a minute ago. To be called several times a second.
    package func tick() {
        desk.tick()
        hubs.trimMemory()
    }

    /// Answers those who wait for the end of an erasure, and those who come later at once.
    package func endWaits() { desk.endWaits() }

    /// Answers a call, now or later.
    package func answer(_ call: DeviceCall) {
        do throws(APIProblem) {
            // The rows admit keys alone.
            guard case .backEnd(let holder) = call.origin, let user = call.parameters.first else { throw .notFound }
            guard UserName.isAddressable(user) else { throw .invalid(UserName.refusal) }
            let query = try APIOperation.device(call.operation).row.query(of: call.request)
            let name = query["hub"]
            let candidates = try hubs.candidates(named: name, for: .backEnd(holder.publisher))
            let tag = users.tag(of: user)
            let key = ErasureBook.Key(tenant: holder.publisher.tenant, hub: name, tag: tag.folded)
            switch call.operation {
            case .listUserInstallations:
                let devices = UserDevices(of: user, tag: tag, showsHandles: holder.publisher.scopes.contains(.handles))
                let listing = try UserListing(
                    devices, of: DeviceUser(tag), at: candidates.map(\.name), from: query["cursor"])
                list(listing, at: candidates, of: tag, reply: call.reply)
            case .eraseUser:
                let report = try desk.begin(
                    user, tag: tag, as: key, at: candidates.map { self.hub($0, of: tag) }, for: holder.claimant)
                let location =
                    "/v1/users/\(PathSegment.text(of: user))/erasure" + (name.map { "?hub=\(PercentEncoding.encoded($0))" } ?? "")
                accept(report, as: key, at: location, by: holder, to: call)
            case .showErasure:
                guard let report = desk.report(of: key) else { throw .noErasure }
                call.reply.answer(APIAnswer(status: 200, json: report.json, headers: ["Cache-Control": "no-store"]))
            default: throw .notFound
            }
        } catch {
            call.reply.answer(error)
        }
    }

    // MARK: Erasures

    /// A hub, whose calls on one installation keep their order with those of others. What was written in the last minute is known.
    private func hub(_ hub: DeviceHubs.Hub, of tag: UserTag) -> ErasureHub {
        let user = DeviceUser(tag)
        return ErasureHub(name: hub.name) { call, then in
            var lane = tag.text
            if case .deleteInstallation(let id) = call { lane = id }
            return hub.lanes.put(for: lane) { caller in
                caller.goesByMemory = true
                then(
                    Result { () throws(RegistrationFailure) in
                        try user.perform(call) { (call) throws(RegistrationFailure) in try caller.perform(call) }
                    })
            }
        }
    }

    /// Answers 202, as soon as the erasure has ended where the caller prefers to wait and its share of answers that wait has room.
    private func accept(
        _ report: ErasureReport, as key: ErasureBook.Key, at location: String, by holder: KeyHolder, to call: DeviceCall
    ) {
        let headers: HTTPFields = ["Location": location, "Cache-Control": "no-store"]
        let seconds = call.request.headers.preferredWait ?? 0
        let (reply, claimant) = (call.reply, holder.claimant)
        guard seconds > 0, report.endedAt == nil, held.take(for: claimant) == nil else {
            return reply.answer(APIAnswer(status: 202, json: report.json, headers: headers))
        }
        let release = reply.rights.hold(holder)({ reply.answer($0) })
        desk.wait(for: key, seconds: seconds) { [held] report in
            release()
            held.giveBack(of: claimant)
            var answer = APIAnswer(status: 202, json: report.json, headers: headers)
            answer.headers.append("Preference-Applied", value: "wait=\(seconds)")
            reply.answer(answer)
        }
    }

    // MARK: The list

    /// Makes the calls of a page, and answers when there is none left. The first that fails is the answer.
    private func list(_ listing: UserListing, at hubs: [DeviceHubs.Hub], of tag: UserTag, reply: Reply) {
        guard let (call, hub) = listing.call else {
            return reply.answer(APIAnswer(status: 200, json: listing.json, headers: ["Cache-Control": "no-store"]))
        }
        let isPut = hubs[hub].lanes.put(for: tag.text) { caller in
            var listing = listing
            do throws(RegistrationFailure) {
                listing.take(try caller.perform(call))
            } catch {
                return reply.answer(.unlisted(error))
            }
            list(listing, at: hubs, of: tag, reply: reply)
        }
        if !isPut { reply.answer(APIProblem.overloaded(after: 1000)) }
    }
}

extension DeviceUser {
    /// The user of a tag.
    init(_ tag: UserTag) { self.init(tag: tag.text, userID: tag.form) }
}

extension APIProblem {
    /// 404: no erasure of the user is remembered.
    static let noErasure = APIProblem(
        404, code: .notFound,
        detail: "This gateway remembers no erasure of this user. The call that begins one may be repeated.")

    /// The problem of a list that a hub does not give.
    static func unlisted(_ failure: RegistrationFailure) -> APIProblem {
        var problem = APIProblem(failure)
        if failure.status == 401 || failure.status == 403 { problem.detail += " A list by tag needs the right Manage." }
        return problem
    }
}
