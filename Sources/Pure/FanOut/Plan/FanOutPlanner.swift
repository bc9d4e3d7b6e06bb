public import PushModel

/// Turns an audience into the fewest hub calls that reach it, for every platform that the content is for.
///
/// Names become tags, 20 joined by OR in each call; handles go 1,000 at a time; an expression beyond the hub's limits is split
/// (`SplitExpression`). What stands twice in a list, for tags in whatever case, is sent once. Whether a device could be in two calls
/// all the same is said by `FanOutPlan.mayReachTwice`.
public struct FanOutPlanner: Sendable {
    /// The things that the planner needs to know beside the request.
    public struct Configuration: Sendable, Equatable {
        /// The platforms that a `message` goes to when the request names none. Default apple, fcmv1 and windows.
        public var defaultPlatforms: PlatformSet = [PlatformSet(.apple), PlatformSet(.fcmv1), PlatformSet(.windows)]
        /// The text before and after a user's name in the user's tag. Default `username:` and nothing.
        public var userTag: (prefix: String, suffix: String) = ("username:", "")
        /// The most calls that one request makes itself, at least the number of platforms. Default 16. One that needs more is
        /// sent in parts (`Expansion`).
        public var maximumCalls = 16

        /// The defaults.
        public init() {}

        /// Two configurations that plan alike are equal.
        public static func == (left: Self, right: Self) -> Bool {
            left.defaultPlatforms == right.defaultPlatforms && left.userTag == right.userTag
                && left.maximumCalls == right.maximumCalls
        }
    }

    /// Handles that one direct batch carries at most (page HubProtocol, "Direct batches").
    public static let maximumHandlesPerBatch = 1000

    /// Audiences that are lists of names.
    public enum NameKind: Sendable, CaseIterable {
        /// Users, whose tags have a pattern.
        case users
        /// Ids of installations, whose tags the hub makes.
        case installations
        /// Tags as they are.
        case categories
    }

    let configuration: Configuration
    let users: TagPattern
    let installations = TagPattern(prefix: "$InstallationId:{", suffix: "}")
    let categories = TagPattern()

    /// A planner.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        users = TagPattern(prefix: configuration.userTag.prefix, suffix: configuration.userTag.suffix, areUsers: true)
    }

    /// The calls of a list that is too long to be held, with their tags as `plan` would make them.
    ///
    /// - Parameter kind: What the names are.
    /// - Returns: A stream without names.
    public func stream(of kind: NameKind) -> TagStream {
        switch kind {
        case .users: TagStream(users)
        case .installations: TagStream(installations)
        case .categories: TagStream(categories)
        }
    }

    /// Plans `request` in place of what `plan` held. Throws the fault of an audience that cannot be addressed, or needs no call,
    /// and leaves no calls.
    public func plan(_ request: borrowing PushRequest, into plan: inout FanOutPlan) throws(RequestFault) {
        plan.removeAll()
        do throws(RequestFault) {
            try addCalls(for: request, to: &plan)
            try checkPlatforms(plan)
        } catch {
            plan.removeAll()
            throw error
        }
    }

    private func addCalls(for request: borrowing PushRequest, to plan: inout FanOutPlan) throws(RequestFault) {
        switch request.audience {
        case .none:
            throw RequestFault(.schemaInvalid, at: "/audience", message: "An audience must be named.")
        case .broadcast: plan.targets.append(.broadcast)
        case .users(let list): try addTargets(list, pattern: users, for: request, to: &plan)
        case .installations(let list): try addTargets(list, pattern: installations, for: request, to: &plan)
        case .categories(let list): try addTargets(list, pattern: categories, for: request, to: &plan)
        case .tagExpression(let text): try addExpression(text, for: request, to: &plan)
        case .devices(let list):
            // A device has one platform, so these are calls already.
            return try addDeviceCalls(list, for: request, to: &plan)
        }
        addCallsToTargets(for: request, to: &plan)
    }

    /// The platforms that `request` is for: those it names, else those its content is for.
    public func platforms(of request: borrowing PushRequest) -> PlatformSet {
        guard request.platforms.isEmpty else { return request.platforms }
        var platforms: PlatformSet = request.message == nil ? [] : configuration.defaultPlatforms
        for platform in Platform.allCases where request.payloads != nil && request.payload(for: platform) != nil {
            platforms.insert(PlatformSet(platform))
        }
        return platforms
    }

    /// Calls every target on every platform.
    private func addCallsToTargets(for request: borrowing PushRequest, to plan: inout FanOutPlan) {
        let targets = plan.targets
        if request.template != nil {
            for (chunk, target) in targets.enumerated() { plan.calls.append(.init(platform: nil, target: target, chunk: chunk)) }
        } else {
            let platforms = platforms(of: request)
            for platform in Platform.allCases where platforms.contains(platform) {
                for (chunk, target) in targets.enumerated() {
                    plan.calls.append(.init(platform: platform, target: target, chunk: chunk))
                }
            }
        }
    }

    private func checkPlatforms(_ plan: borrowing FanOutPlan) throws(RequestFault) {
        guard !plan.calls.isEmpty else {
            throw RequestFault(
                .schemaInvalid, at: "/platforms", message: "There is no platform that this request could be sent to.")
        }
    }
}
