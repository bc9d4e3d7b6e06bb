import Basics
import HubAuth
import Intake
import Settings

extension RequestReporter {
    /// A reporter with the settings of this machine, which stand for a worker's.
    init(_ settings: Settings, callTime: Duration = .milliseconds(100)) throws(CommandFailure) {
        do throws(HubAuthError) {
            try self.init(
                try settings.workerSketch(), topics: settings.kafka.topics.ofRequests, userAgent: "pushfan/\(Program.version)",
                callMilliseconds: callTime.wholeMilliseconds)
        } catch {
            throw CommandFailure(.configuration, "the hub's settings: \(error)")
        }
    }
}
