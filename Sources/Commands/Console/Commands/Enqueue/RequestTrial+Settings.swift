import FanOut
import Intake
import Settings

extension RequestTrial {
    /// A trial by the settings of this machine, which stand for a worker's.
    init(_ settings: Settings) {
        self.init(
            FanOutPlanner(settings.planning()), routes: settings.routes, hubNames: settings.allHubs.map(\.routeName))
    }
}
