public import PushModel

/// The parts in which a request is sent that goes to several hubs of a spread: each is for one hub, and has no more calls than one
/// request may make.
///
/// Users, installations and devices go to their own hubs. What names none of them, a broadcast, categories or an expression, goes to
/// every hub, because each may have some of the devices that it means. The same request always has the same parts.
public struct SpreadParts: Sendable {
    /// One part.
    private struct Part: Sendable {
        var hub: Int
        var content: Content
    }

    private enum Content: Sendable {
        /// Names of the list.
        case names(Range<Int>)
        /// Handles of the list.
        case handles(Range<Int>)
        /// A part of the plan for one hub.
        case part(Int)
    }

    private var parts: [Part] = []
    private var names: [JSONDocument.Text] = []
    private var handles: [FanOutPlan.Device] = []
    private let expansion: Expansion
    /// The calls of all parts.
    public private(set) var callCount = 0

    /// The number of parts.
    public var count: Int { parts.count }

    fileprivate init(
        _ plan: borrowing FanOutPlan, for request: borrowing PushRequest, over spread: HubSpread, expansion: Expansion,
        callsPerPiece: Int, maximumCalls: Int
    ) {
        self.expansion = expansion
        switch request.audience {
        case .none: break
        case .users(let list), .installations(let list):
            for (hub, texts) in Self.divide(plan.texts(of: list, in: request), for: request, over: spread).enumerated() {
                add(texts, to: hub, callsPerPiece: callsPerPiece, maximumCalls: maximumCalls)
            }
        case .categories(let list):
            let texts = plan.texts(of: list, in: request)
            for hub in spread.hubs.indices { add(texts, to: hub, callsPerPiece: callsPerPiece, maximumCalls: maximumCalls) }
        case .devices: addDevices(plan, for: request, over: spread)
        case .broadcast, .tagExpression:
            for hub in spread.hubs.indices {
                for part in 0..<expansion.count { parts.append(Part(hub: hub, content: .part(part))) }
            }
            callCount = expansion.callCount * spread.hubs.count
        }
    }

    /// Adds names of a list that one hub is called for.
    private mutating func add(_ texts: [JSONDocument.Text], to hub: Int, callsPerPiece: Int, maximumCalls: Int) {
        let size = TagExpression.maxTagsJoinedByOr
        let perPart = Expansion.unitsPerPart(callsPerUnit: callsPerPiece, maximumCalls: maximumCalls) * size
        for start in stride(from: 0, to: texts.count, by: perPart) {
            let end = min(start + perPart, texts.count)
            parts.append(Part(hub: hub, content: .names(names.count..<names.count + end - start)))
            names += texts[start..<end]
            callCount += (end - start + size - 1) / size * callsPerPiece
        }
    }

    private static func divide(
        _ texts: [JSONDocument.Text], for request: borrowing PushRequest, over spread: HubSpread
    ) -> [[JSONDocument.Text]] {
        var divided = [[JSONDocument.Text]](repeating: [], count: spread.hubs.count)
        for text in texts { divided[spread.hub(of: request.document.span(text))].append(text) }
        return divided
    }

    private mutating func addDevices(
        _ plan: borrowing FanOutPlan, for request: borrowing PushRequest, over spread: HubSpread
    ) {
        var divided = [[FanOutPlan.Device]](repeating: [], count: spread.hubs.count)
        for device in plan.devices(of: plan.calls.indices) {
            divided[spread.hub(of: request.document.span(device.handle))].append(device)
        }
        // A part of one call's handles has one call for each platform at most, whatever stands in it.
        let perPart = FanOutPlanner.maximumHandlesPerBatch
        for (hub, list) in divided.enumerated() {
            for start in stride(from: 0, to: list.count, by: perPart) {
                let part = list[start..<min(start + perPart, list.count)]
                parts.append(Part(hub: hub, content: .handles(handles.count..<handles.count + part.count)))
                handles += part
                callCount += Set(part.map(\.platform)).count
            }
        }
    }

    /// The hub that a part is for, as a place in the spread.
    public func hub(of part: Int) -> Int { parts[part].hub }

    /// Writes whom a part reaches, as the `audience` of a request.
    ///
    /// - Parameters:
    ///   - part: From 0, below `count`.
    ///   - plan: The plan for one hub.
    ///   - request: The request that was planned.
    ///   - json: Gets the object.
    public func appendAudience(
        of part: Int, in plan: borrowing FanOutPlan, for request: borrowing PushRequest, to json: inout ByteWriter
    ) {
        switch parts[part].content {
        case .part(let number): plan.appendAudience(of: number, in: expansion, for: request, to: &json)
        case .names(let range):
            let kind: StaticString =
                switch request.audience {
                case .installations: "installations"
                case .categories: "categories"
                default: "users"
                }
            json.append(kind, names: names[range], in: request.document)
        case .handles(let range): json.append(devices: handles[range], in: request.document)
        }
    }
}

extension FanOutPlan {
    /// The names of a list, each once if there are many: one that stands twice goes to one hub, where it does no harm in one call.
    fileprivate func texts(of list: PushRequest.Node, in request: borrowing PushRequest) -> [JSONDocument.Text] {
        guard names.texts.isEmpty else { return names.texts }
        var texts: [JSONDocument.Text] = []
        var elements = request.document.children(of: list)
        while let (_, element) = elements.next(in: request.document) { texts.append(request.document.text(of: element)) }
        return texts
    }
}

extension FanOutPlanner {
    /// The parts in which a request is sent to the hubs of a spread.
    ///
    /// - Parameters:
    ///   - plan: Its plan for one hub.
    ///   - request: What was planned.
    ///   - spread: The hubs.
    /// - Returns: The parts, by hub.
    public func parts(
        of plan: borrowing FanOutPlan, for request: borrowing PushRequest, over spread: HubSpread
    ) -> SpreadParts {
        let expansion = expansion(of: plan, for: request)
        let calls = plan.calls.count / max(1, plan.pieceCount)
        return SpreadParts(
            plan, for: request, over: spread, expansion: expansion, callsPerPiece: max(1, calls), maximumCalls: maximumCalls)
    }
}

extension HubSpread {
    /// The one hub that a whole request goes to, as a place in `hubs`, or nil when it goes to several.
    public func onlyHub(of request: borrowing PushRequest) -> Int? {
        if hubs.count == 1 { return 0 }
        let list: PushRequest.Node
        var isOfDevices = false
        switch request.audience {
        case .users(let names), .installations(let names): list = names
        case .devices(let devices):
            list = devices
            isOfDevices = true
        case .none, .broadcast, .categories, .tagExpression: return nil
        }
        var only: Int?
        var elements = request.document.children(of: list)
        while let (_, element) = elements.next(in: request.document) {
            let named = isOfDevices ? request.document.member("handle", of: element) : element
            guard let named else { continue }
            let hub = hub(of: request.document.span(request.document.text(of: named)))
            if let only, only != hub { return nil }
            only = hub
        }
        return only
    }
}
