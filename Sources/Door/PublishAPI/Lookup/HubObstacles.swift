package import GatewayAPI
package import Groups
import Intake
import JobSupport
import PushModel
import Results

/// The hubs as workers report them, and as settings have them.
package struct HubObstacles: Sendable {
    /// The hubs as workers report them at present.
    var hubs: @Sendable () -> [WorkerPage.Hub] = { [] }
    /// The names of the hubs that requests go to.
    var names: HubNames?
    /// The settings of each hub that say if outcomes are tracked of requests that do not say.
    var choices: [String?: Bool] = [:]

    package init() {}

    /// Those of a gateway with these settings.
    package init(_ configuration: GatewayConfiguration, hubs: @escaping @Sendable () -> [WorkerPage.Hub]) {
        let own = configuration.worker.hubs
        self.hubs = hubs
        names = HubNames(configuration.worker.routes, names: own.map(\.name))
        choices = Dictionary(own.compactMap { hub in hub.tracksOutcomes.map { (hub.name, $0) } }) { first, _ in first }
    }

    /// Takes the facts of a request about its calls, and if `isTold`, the obstacle at the hub that keeps them back.
    func take(_ request: borrowing PushRequest, into story: inout RequestStory, at now: Timestamp, isTold: Bool) {
        let name = names?.name(of: request)
        story.take(request, tracksByDefault: tracking(name), now: now)
        guard isTold, let name, story.ending == nil else { return }
        switch story.standing {
        case .inWork, .delayed, .inParts, .behindItsKey:
            story.hub = RequestStory.HubObstacle(of: name, in: hubs(), now: now)
        case .unconfirmed, .open, .published, .done, .unknown, .deadLetter: return
        }
    }

    /// The choice for a hub, or of all hubs if they have the same. Nil where that is not known.
    private func tracking(_ name: String?) -> Bool? {
        if let name, let choice = choices[name] { return choice }
        let all = Set(choices.values)
        return all.count == 1 ? all.first : nil
    }
}
