package import DeviceHubs
package import FanOut
import Foundation
import GatewayAPI
import HTTPServing

/// Serves `/api/register`: a registrar decides, and its calls are made on a lane of the user's hub.
package struct RegisterRoute: Sendable {
    let users: UserTags
    let rules: TagRules
    let hubs: DeviceHubs

    package init(users: UserTags, rules: TagRules, hubs: DeviceHubs) {
        self.users = users
        self.rules = rules
        self.hubs = hubs
    }

    /// Answers a call of `/api/register`, now or later; waits for nothing.
    package func answer(_ call: APICall) {
        do throws(APIProblem) {
            let (registrar, key) = try self.registrar(for: call)
            // What needs no hub waits for no lane.
            if case .end(let ending) = registrar.start() { return call.reply.answer(APIAnswer(ending)) }
            let home = try hubs.home(of: users.tag(of: call.caller.name), id: key, for: .user(call.caller))
            let isPut = home.lanes.put(for: key) { caller in call.reply.answer(APIAnswer(caller.run(registrar))) }
            guard isPut else { throw APIProblem.overloaded(after: 1000) }
        } catch {
            call.reply.answer(error)
        }
    }

    /// What decides about a call, and what its lane is chosen by: calls on one id, and calls for one handle, keep their order.
    private func registrar(for call: APICall) throws(APIProblem) -> (Registrar, key: String) {
        let user = users.tag(of: call.caller.name)
        let request = call.request
        switch call.operation {
        case .newRegistration:
            let handle = try HandleQuery.read(request.percentDecodedQuery)
            let newID = UUID().uuidString.lowercased()
            return (Registrar.creating(for: handle, newID: newID, user: user, rules: rules), key: handle?.text ?? newID)
        case .putRegistration:
            let type = request.headers.single("Content-Type")
            let body = try RegisterBody(reading: request.body, contentType: type, of: user, by: rules)
            return (Registrar.writing(call.id, body: body, user: user, rules: rules), key: call.id)
        case .deleteRegistration:
            return (Registrar.removing(call.id, user: user, rules: rules), key: call.id)
        case .notify, .secureText: throw APIProblem.notFound
        }
    }
}
