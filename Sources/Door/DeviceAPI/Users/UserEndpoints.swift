import Basics
package import DeviceHubs
import FanOut
package import GatewayAPI
import HTTPServing
import HubREST
import Keys
import Synchronization

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

    /// Goes on with erasures that have waited. To be called several times a second.
    package func tick() { desk.tick() }

    /// Answers those who wait for the end of an erasure, and those who come later at once.
    package func endWaits() { desk.endWaits() }

    /// Answers a call, now or later.
    package func answer(_ call: DeviceCall) {
        do throws(APIProblem) {
            // The rows admit keys alone.
            guard case .backEnd(let holder) = call.origin, let user = call.parameters.first else { throw .notFound }
            guard UserName.isAddressable(user) else { throw .invalid(UserName.refusal) }
            let name = try APIOperation.device(call.operation).row.query(of: call.request)["hub"]
            let candidates = try hubs.candidates(named: name, for: .backEnd(holder.publisher))
            let tag = users.tag(of: user)
            let key = ErasureBook.Key(tenant: holder.publisher.tenant, hub: name, tag: tag.folded)
            switch call.operation {
            case .listUserInstallations: list(user, tag: tag, at: candidates, for: holder, reply: call.reply)
            case .eraseUser:
                let report = try desk.begin(
                    user, tag: tag, as: key, at: candidates.map { self.hub($0, of: tag) }, for: holder.claimant)
                let location =
                    "/v1/users/\(PathSegment.text(of: user))/erasure" + (name.map { "?hub=\(PercentEncoding.encoded($0))" } ?? "")
                try accept(report, as: key, at: location, by: holder, to: call)
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

    /// A hub, whose calls on one installation keep their order with those of others.
    private func hub(_ hub: DeviceHubs.Hub, of tag: UserTag) -> ErasureHub {
        ErasureHub(name: hub.name) { call, then in
            var lane = tag.text
            if case .deleteInstallation(let id) = call { lane = id }
            return hub.lanes.put(for: lane) { caller in
                then(Result { () throws(RegistrationFailure) in try caller.perform(call) })
            }
        }
    }

    /// Answers 202, as soon as the erasure has ended where the caller prefers to wait.
    private func accept(
        _ report: ErasureReport, as key: ErasureBook.Key, at location: String, by holder: KeyHolder, to call: DeviceCall
    ) throws(APIProblem) {
        let headers: HTTPFields = ["Location": location, "Cache-Control": "no-store"]
        let seconds = call.request.headers.preferredWait ?? 0
        guard seconds > 0, report.endedAt == nil else {
            return call.reply.answer(APIAnswer(status: 202, json: report.json, headers: headers))
        }
        let (reply, claimant) = (call.reply, holder.claimant)
        if let refusal = held.take(for: claimant) { throw refusal.problem(after: 1000) }
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

    /// Asks all hubs, each on a lane of its own, and answers when the last one has said what it has. The first that fails is the answer.
    private func list(_ user: String, tag: UserTag, at hubs: [DeviceHubs.Hub], for holder: KeyHolder, reply: Reply) {
        let showsHandles = holder.publisher.scopes.contains(.handles)
        let gathered = Gathered(hubs.count)
        for (place, hub) in hubs.enumerated() {
            let isPut = hub.lanes.put(for: tag.text) { caller in
                do throws(RegistrationFailure) {
                    var found = try caller.registrations(tagged: tag.text)
                    if let other = try? HubTag.user(tag.form).text { found += try caller.registrations(tagged: other) }
                    guard let all = gathered.add(found, at: place) else { return }
                    var devices = UserDevices(of: user, tag: tag, showsHandles: showsHandles)
                    for (hub, found) in zip(hubs, all) { devices.add(found, at: hub.name) }
                    reply.answer(APIAnswer(status: 200, json: devices.json, headers: ["Cache-Control": "no-store"]))
                } catch {
                    reply.answer(.unlisted(error))
                }
            }
            if !isPut { return reply.answer(APIProblem.overloaded(after: 1000)) }
        }
    }

    /// The lists of hubs, until all have given theirs.
    private final class Gathered: Sendable {
        private let lists: Mutex<[[DeviceRegistration]?]>

        init(_ count: Int) { lists = Mutex(Array(repeating: nil, count: count)) }

        /// Adds what one has said, and returns all of it if it was the last.
        func add(_ list: [DeviceRegistration], at place: Int) -> [[DeviceRegistration]]? {
            lists.withLock { lists in
                lists[place] = list
                let said = lists.compactMap(\.self)
                return said.count == lists.count ? said : nil
            }
        }
    }
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
