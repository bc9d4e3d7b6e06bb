internal import FanOut
public import PushModel

extension RequestTrial {
    /// What a request would become.
    public struct Preview: Sendable, Equatable {
        /// The content of the calls to one platform.
        public struct Content: Sendable, Equatable {
            /// The platform, or nil for a template.
            public let platform: Platform?
            /// The bytes of the content, which each call to that platform has.
            public let byteCount: Int
        }

        /// The content for each platform that it can be sent to, in the order of the calls.
        public internal(set) var contents: [Content] = []
        /// The calls with these contents.
        public internal(set) var callCount = 0
        /// Whether a device could be in two calls, and ring twice.
        public internal(set) var mayReachTwice = false
    }

    /// Plans as a worker does whose settings are the defaults. What names may be called depends on settings, and is left to the worker.
    private static let usualPlanner: FanOutPlanner = {
        var configuration = FanOutPlanner.Configuration()
        configuration.userTag = ("", "")
        return FanOutPlanner(configuration)
    }()

    /// Plans and formats a request as a worker does whose settings are the defaults.
    ///
    /// - Parameters:
    ///   - request: A request in which nothing was found.
    ///   - now: When it would be sent.
    /// - Returns: What it would become. Platforms that its content does not fit are left out.
    /// - Throws: The fault of an audience that cannot be addressed.
    public mutating func preview(of request: PushRequest, now: Timestamp) throws(RequestFault) -> Preview {
        var plan = FanOutPlan()
        try Self.usualPlanner.plan(request, into: &plan)
        var preview = Preview()
        preview.mayReachTwice = plan.mayReachTwice
        var counts: [(platform: Platform?, calls: Int)] = []
        for call in plan.calls {
            if counts.last?.platform != call.platform || counts.isEmpty { counts.append((call.platform, 0)) }
            counts[counts.count - 1].calls += 1
        }
        for (platform, calls) in counts {
            guard let byteCount = try? byteCount(of: request, for: platform, now) else { continue }
            preview.contents.append(Preview.Content(platform: platform, byteCount: byteCount))
            preview.callCount += calls
        }
        return preview
    }
}
