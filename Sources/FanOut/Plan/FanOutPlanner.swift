public import PushModel

/// Turns an audience into hub calls: 20 tags joined by OR in each, for every platform that the content is for.
public struct FanOutPlanner: Sendable {
    /// What the planner needs to know beside the request.
    public struct Configuration: Sendable, Equatable {
        /// The platforms that a `message` goes to when the request names none; default apple, fcmv1 and windows.
        public var defaultPlatforms: PlatformSet = [PlatformSet(.apple), PlatformSet(.fcmv1), PlatformSet(.windows)]
        /// What stands before and after a user's name in the user's tag; default `username:` and nothing.
        public var userTag: (prefix: String, suffix: String) = ("username:", "")
        /// The most calls that one request may become, default 16.
        public var maximumCalls = 16

        /// The defaults.
        public init() {}

        /// Two configurations that plan alike are equal.
        public static func == (left: Self, right: Self) -> Bool {
            left.defaultPlatforms == right.defaultPlatforms && left.userTag == right.userTag
                && left.maximumCalls == right.maximumCalls
        }
    }

    /// Handles that one direct batch carries at most (hub-protocol section 3.8).
    public static let maximumHandlesPerBatch = 1000

    private let configuration: Configuration

    /// A planner.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Plans `request` in place of what `plan` held; after a fault the plan has no calls.
    ///
    /// - Throws: The fault of an audience that cannot be addressed, or that needs no call, or more calls than are allowed.
    public func plan(_ request: borrowing PushRequest, into plan: inout FanOutPlan) throws(RequestFault) {
        plan.removeAll()
        do throws(RequestFault) {
            try addCalls(for: request, to: &plan)
            try checkCallCount(plan)
        } catch {
            plan.removeAll()
            throw error
        }
    }

    private func addCalls(for request: borrowing PushRequest, to plan: inout FanOutPlan) throws(RequestFault) {
        switch request.audience {
        case .none:
            throw RequestFault(.schemaInvalid, "/audience", "An audience must be named.")
        case .broadcast: plan.targets.append(.broadcast)
        case .users(let list): try addTargets(list, Pattern(user: configuration.userTag), request, &plan)
        case .installations(let list):
            try addTargets(list, Pattern(prefix: "$InstallationId:{", suffix: "}", countsAffixes: false), request, &plan)
        case .categories(let list): try addTargets(list, Pattern(), request, &plan)
        case .tagExpression(let text): plan.targets.append(.tags(try expression(text, request, &plan)))
        case .devices(let list):
            // A device has one platform, so these are calls already.
            return try addDeviceCalls(list, request, to: &plan)
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

    private func checkCallCount(_ plan: borrowing FanOutPlan) throws(RequestFault) {
        guard !plan.calls.isEmpty else {
            throw RequestFault(.schemaInvalid, "/platforms", "There is no platform that this request could be sent to.")
        }
        guard plan.calls.count > configuration.maximumCalls else { return }
        throw RequestFault(
            .tagLimitExceeded, "/audience",
            "This audience needs \(plan.calls.count) hub calls; one request may need \(configuration.maximumCalls).")
    }
}

extension FanOutPlanner {
    /// What surrounds every name of a list to make it a tag.
    private struct Pattern {
        var prefix = ""
        var suffix = ""
        /// The length of a tag is limited; that of an installation id inside its braces is the id's own matter.
        var countsAffixes = true

        init(prefix: String = "", suffix: String = "", countsAffixes: Bool = true) {
            self.prefix = prefix
            self.suffix = suffix
            self.countsAffixes = countsAffixes
        }

        /// The pattern of a user's tag, which may be the hub's own `$UserId:{…}`.
        init(user: (prefix: String, suffix: String)) {
            self.init(prefix: user.prefix, suffix: user.suffix, countsAffixes: !user.prefix.hasPrefix("$"))
        }

        func count(_ name: Int) -> Int { countsAffixes ? prefix.utf8.count + name + suffix.utf8.count : name }
    }

    /// Packs a list of names into expressions of at most 20 tags joined by OR, in the list's order.
    private func addTargets(
        _ list: PushRequest.Node, _ pattern: Pattern, _ request: borrowing PushRequest, _ plan: inout FanOutPlan
    ) throws(RequestFault) {
        let count = request.document.childCount(of: list)
        var elements = request.document.children(of: list)
        var start = 0
        var position = 0
        while let (_, element) = elements.next(in: request.document) {
            let place = position % TagExpression.maxTagsJoinedByOr
            let left = min(count - position + place, TagExpression.maxTagsJoinedByOr)
            if place == 0 {
                start = plan.bytes.count
                if left > 1 { plan.bytes.append("(") }
            } else {
                plan.bytes.append(" || ")
            }
            try append(element, pattern, request, &plan)
            position += 1
            guard place == left - 1 else { continue }
            if left > 1 { plan.bytes.append(")") }
            if let tags = FanOutPlan.Tags(start: start, end: plan.bytes.count) { plan.targets.append(.tags(tags)) }
        }
    }

    private func append(
        _ element: PushRequest.Node, _ pattern: Pattern, _ request: borrowing PushRequest, _ plan: inout FanOutPlan
    ) throws(RequestFault) {
        let name = request.document.text(of: element)
        guard pattern.count(name.count) <= HubTag.maxLength else {
            throw RequestFault(
                .tagExpressionInvalid, request.document.pointer(to: element),
                "The tag would have \(pattern.count(name.count)) characters; \(HubTag.maxLength) are allowed.")
        }
        plan.bytes.append(pattern.prefix)
        plan.bytes.append(request.document.span(name))
        plan.bytes.append(pattern.suffix)
    }

    /// Parses a tag expression, checks it against the hub's limits and writes it with all its parentheses.
    private func expression(
        _ text: PushRequest.Text, _ request: borrowing PushRequest, _ plan: inout FanOutPlan
    ) throws(RequestFault) -> FanOutPlan.Tags {
        let pointer = "/audience/tag_expression"
        let expression: TagExpression
        do {
            expression = try TagExpression(parsing: request.document.string(text))
        } catch {
            throw RequestFault(isLimit(error) ? .tagLimitExceeded : .tagExpressionInvalid, pointer, error.description)
        }
        let start = plan.bytes.count
        plan.bytes.append(expression.description)
        guard let tags = FanOutPlan.Tags(start: start, end: plan.bytes.count) else {
            throw RequestFault(.tagExpressionInvalid, pointer, "The expression names no tag.")
        }
        return tags
    }

    private func isLimit(_ error: TagExpressionError) -> Bool {
        if case .tooManyTags = error.reason { true } else { false }
    }

    /// One direct call for a single handle of a platform, batches for more.
    private func addDeviceCalls(
        _ list: PushRequest.Node, _ request: borrowing PushRequest, to plan: inout FanOutPlan
    ) throws(RequestFault) {
        guard request.template == nil else {
            throw RequestFault(.schemaInvalid, "/template", "A template cannot be sent to device handles.")
        }
        var handles = [[JSONDocument.Text]](repeating: [], count: Platform.allCases.count)
        var elements = request.document.children(of: list)
        while let (_, element) = elements.next(in: request.document) {
            guard let name = request.document.member("platform", of: element),
                let platform = Platform(name: request.document.string(request.document.text(of: name))),
                let handle = request.document.member("handle", of: element)
            else { continue }
            handles[Int(platform.rawValue)].append(request.document.text(of: handle))
        }
        for platform in Platform.allCases {
            var rest = handles[Int(platform.rawValue)][...]
            var chunk = 0
            while !rest.isEmpty {
                let batch = Array(rest.prefix(Self.maximumHandlesPerBatch))
                let target: FanOutPlan.Target = batch.count == 1 ? .device(batch[0]) : .devices(batch)
                plan.calls.append(.init(platform: platform, target: target, chunk: chunk))
                rest = rest.dropFirst(batch.count)
                chunk += 1
            }
        }
    }
}
