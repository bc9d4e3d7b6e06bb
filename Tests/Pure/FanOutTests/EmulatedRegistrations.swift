import FanOut
import PushModel
import TestSupport
import Testing

/// A device and what it is registered with; a device may be registered several times, as it is on a hub.
struct Registered {
    var platform: Platform
    var handle: String
    /// In lower case, as a hub keeps them.
    var tags: Set<String>

    /// What makes two registrations one device.
    var device: String { "\(platform.name) \(platform == .apple ? handle.uppercased() : handle)" }
}

/// Finds out whom calls reach, from what they say alone, as the emulator does.
struct EmulatedRegistrations {
    var all: [Registered] = []

    /// The registrations of the devices that an audience means.
    func devices(on platforms: PlatformSet, where isMeant: (Registered) -> Bool) -> Set<String> {
        Set(all.filter { platforms.contains($0.platform) && isMeant($0) }.map(\.device))
    }

    /// How many of the plan's calls reach each device; one call rings a device once.
    func rings(of planning: borrowing Planning) throws -> [String: Int] {
        var rings: [String: Int] = [:]
        for call in planning.plan.calls {
            let expression = try planning.tags(of: call).map { try TagExpression(parsing: $0) }
            let handles = planning.handles(of: call)
            var reached: Set<String> = []
            if let platform = call.platform, !handles.isEmpty {
                reached = Set(handles.map { Registered(platform: platform, handle: $0, tags: []).device })
            } else {
                for registered in all where call.platform ?? registered.platform == registered.platform {
                    if expression?.matches(registered.tags) ?? true { reached.insert(registered.device) }
                }
            }
            for device in reached { rings[device, default: 0] += 1 }
        }
        return rings
    }
}
