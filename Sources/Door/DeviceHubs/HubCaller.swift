import CurlHTTP
package import GatewayAPI
package import HubREST
import Observability
package import Outcomes
package import PushModel

/// Calls the hub about devices and notifications. Each method waits for its answer.
///
/// The hubs of a spread are one to its user: a device is looked for at all of them and written where the sender looks for it, and what
/// another hub has of it is removed afterwards. So a failure between the two leaves a device that rings.
///
/// Usable from one thread at a time: that of its lane.
package final class HubCaller {
    private let seats: [HubSeat]
    /// The connections to the hubs that were needed so far.
    private var lines: [Int: HubLine] = [:]
    private let services: GatewayServices
    private var reach: HubReach
    /// The hubs at which the work has found installations and registrations, by their ids.
    private var places: [String: Set<Int>] = [:]
    /// True if answers go by what this gateway wrote in the last minute, too, which a hub may not show yet. For the work that has begun.
    package var goesByMemory = false
    /// The ids for which the work has asked every hub.
    private var asked: Set<String> = []
    /// The installations that were read and are not at the home.
    private var strays: [String: Installation] = [:]

    /// Calls one of several hubs, unless work is for others of them. It fails if that one cannot be called with its settings.
    package init(_ seats: [HubSeat], home: Int, services: GatewayServices) throws {
        (self.seats, self.services) = (seats, services)
        reach = HubReach(home: home)
        lines[home] = try HubLine(seats[home], services: services)
    }

    /// The failure of each call of the work, or nil where they are made.
    private var refusal: RegistrationFailure?

    /// Begins a piece of work, whose calls all fail where one is refused.
    func begin(at reach: HubReach, refusing refusal: RegistrationFailure? = nil) {
        (self.reach, self.refusal) = (reach, refusal)
        (places, asked, strays) = ([:], [], [:])
        for line in lines.values { line.begin() }
        goesByMemory = false
    }

    /// Makes one call, and returns what the hub says.
    ///
    /// In a spread a device is changed where it is and removed everywhere. A page of a list is the home's.
    package func perform(_ call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        guard reach.spread != nil else { return try line(reach.home).perform(call) }
        switch call {
        case .getInstallation(let id): return try copies(of: id).first.map { .installation($0) } ?? .absent
        case .putInstallation(let installation): return try write(installation)
        case .patchInstallation: return try change(by: call)
        case .deleteInstallation(let id), .deleteRegistration(let id, _):
            // A hub may not show yet what it has.
            for hub in hubs(of: id) { _ = try line(hub).perform(call) }
            places[id] = []
            return .done
        case .listRegistrations, .listTagged: return try line(reach.home).perform(call)
        }
    }

    /// All registrations of one handle, in the hub's order. Several pages of them count as one call, and half a list is never
    /// returned. Without a platform it looks on all.
    package func registrations(of handle: String, on platform: Platform?) throws(RegistrationFailure) -> [DeviceRegistration] {
        try all { (line) throws(RegistrationFailure) in try line.registrations(of: handle, on: platform) }
    }

    /// Ends work that has registered a device: what was found of it at other hubs of a spread is brought home, or removed where it is there.
    /// An earlier call may have failed before it did so, or the spread may have been another one.
    package func bringHome() throws(RegistrationFailure) {
        for (id, installation) in strays where places[id]?.isEmpty == false && places[id]?.contains(reach.home) == false {
            _ = try write(installation)
        }
        for (id, hubs) in places where asked.contains(id) && hubs.contains(reach.home) {
            try remove(id, from: hubs.subtracting([reach.home]))
        }
    }

    /// The name of the hub that has an installation, as far as the work has found or written it, else of the one that is to have it.
    package func hubName(of id: String) -> String { seats[place(of: id)].name }

    private func place(of id: String) -> Int {
        let found = places[id] ?? []
        return found.contains(reach.home) ? reach.home : found.min() ?? reach.home
    }

    /// The hubs at which the work has found an id, else all of them.
    private func hubs(of id: String) -> [Int] {
        let found = places[id] ?? []
        return found.isEmpty ? reach.hubs : found.sorted()
    }

    /// What the hub tells of notifications, within a few seconds for all of them together; one that is missing was not told of.
    package func telemetry(of ids: [String]) -> [String: NotificationTelemetry] {
        (try? line(reach.home))?.telemetry(of: ids) ?? [:]
    }

    // MARK: Memory

    /// Has the hub change an installation that was read, and remembers what it is then.
    package func patch(_ installation: Installation, by changes: [InstallationChange]) throws(RegistrationFailure) {
        _ = try perform(.patchInstallation(id: installation.id, changes: changes))
        try line(place(of: installation.id)).keep(installation)
    }

    /// The installations that this gateway gave a handle to before it gave it to this one.
    package func rivals(
        of id: String, handle: String, on platform: Platform
    ) throws(RegistrationFailure) -> [DeviceRegistration] {
        var all: [DeviceRegistration] = []
        for hub in reach.hubs {
            let found = try line(hub).rivals(of: id, handle: handle, on: platform)
            for other in found.compactMap(\.installationID) { places[other, default: []].insert(hub) }
            all += found
        }
        return all
    }

    /// Removes an installation whose handle another one has, unless that has changed meanwhile. Where it has another handle, it stays.
    package func removeDuplicate(
        _ other: String, of id: String, handle: String, on platform: Platform
    ) throws(RegistrationFailure) {
        let names = reach.hubs.map { seats[$0].name }
        guard seats[reach.home].memory.mayRemove(other, for: id, at: names) else { return }
        for hub in hubs(of: other) {
            let line = try line(hub)
            var theirs = handle
            if case .installation(let found)? = try? line.perform(.getInstallation(id: other)) { theirs = found.pushChannel }
            if DeviceToken.identity(of: theirs, on: platform) == DeviceToken.identity(of: handle, on: platform) {
                _ = try line.perform(.deleteInstallation(id: other))
            }
        }
    }

    // MARK: Spreads

    /// All that the hubs have under an id, the home's first. They may belong to different users.
    package func copies(of id: String) throws(RegistrationFailure) -> [Installation] {
        var all: [Installation] = []
        for hub in reach.hubs {
            guard case .installation(let installation) = try line(hub).perform(.getInstallation(id: id)) else { continue }
            places[id, default: []].insert(hub)
            if all.isEmpty, hub != reach.home { strays[id] = installation }
            all.append(installation)
        }
        asked.insert(id)
        return all
    }

    private func write(_ installation: Installation) throws(RegistrationFailure) -> RegistrationReply {
        let id = installation.id
        if !asked.contains(id) { _ = try copies(of: id) }
        let found = places[id] ?? []
        let home = reach.home(of: installation) ?? (found.count == 1 ? found.first : nil) ?? reach.home
        let reply = try line(home).perform(.putInstallation(installation))
        places[id] = found.union([home])
        try remove(id, from: found.subtracting([home]))
        return reply
    }

    private func change(by call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        var absence: RegistrationFailure?
        for hub in reach.hubs {
            do throws(RegistrationFailure) {
                return try line(hub).perform(call)
            } catch {
                guard error.cause == .absent else { throw error }
                absence = error
            }
        }
        throw absence ?? RegistrationFailure(.absent, code: .hubNotFound)
    }

    private func remove(_ id: String, from hubs: Set<Int>) throws(RegistrationFailure) {
        for hub in hubs.sorted() {
            _ = try line(hub).perform(.deleteInstallation(id: id))
            places[id]?.remove(hub)
        }
    }

    private func all(
        _ list: (HubLine) throws(RegistrationFailure) -> [DeviceRegistration]
    ) throws(RegistrationFailure) -> [DeviceRegistration] {
        var all: [DeviceRegistration] = []
        for hub in reach.hubs {
            let found = try list(line(hub))
            for registration in found {
                let ids = [registration.id, registration.installationID].compactMap { $0 }
                for id in ids { places[id, default: []].insert(hub) }
            }
            all += found
        }
        return all
    }

    private func line(_ hub: Int) throws(RegistrationFailure) -> HubLine {
        if let refusal { throw refusal }
        if let line = lines[hub] {
            line.goesByMemory = goesByMemory
            return line
        }
        do {
            let line = try HubLine(seats[hub], services: services)
            lines[hub] = line
            line.goesByMemory = goesByMemory
            return line
        } catch {
            services.log.warning(.hubConnection, "a hub cannot be called", [.reason: .string("\(error)")])
            throw RegistrationFailure(.unanswered(.connect), code: .connectFailed, isWorthRetrying: true)
        }
    }
}
