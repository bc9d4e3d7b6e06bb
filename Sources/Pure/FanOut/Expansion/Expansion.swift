public import PushModel

/// The way of a request that needs more calls than one may make: it is sent as requests of its own, its parts. Each has as many
/// calls as it may make and as many pieces of the audience as fit them.
///
/// The same request always has the same parts: every piece but the last is full, so that planning a part alone gives just its calls.
public struct Expansion: Sendable, Equatable {
    /// The number of units that are divided: the pieces of the audience, each for all platforms. For handles they are the calls.
    private let unitCount: Int
    private let unitsPerPart: Int
    private let callsPerUnit: Int

    /// The number of parts.
    public var count: Int { (unitCount + unitsPerPart - 1) / unitsPerPart }
    /// The calls of all parts.
    public var callCount: Int { unitCount * callsPerUnit }

    fileprivate init(unitCount: Int, callsPerUnit: Int, maximumCalls: Int, isApart: Bool) {
        self.unitCount = unitCount
        self.callsPerUnit = callsPerUnit
        unitsPerPart = isApart ? 1 : Self.unitsPerPart(callsPerUnit: callsPerUnit, maximumCalls: maximumCalls)
    }

    /// The pieces of an audience that one part is for.
    static func unitsPerPart(callsPerUnit: Int, maximumCalls: Int) -> Int { max(1, maximumCalls / max(1, callsPerUnit)) }

    /// The units that belong to a part.
    fileprivate func units(of part: Int) -> Range<Int> {
        let start = min(part * unitsPerPart, unitCount)
        return start..<min(start + unitsPerPart, unitCount)
    }
}

extension FanOutPlanner {
    /// True if a plan has more calls than one request makes itself.
    @inlinable public func isLarge(_ plan: borrowing FanOutPlan) -> Bool { plan.calls.count > maximumCalls }

    /// The most calls that one request makes itself.
    public var maximumCalls: Int { configuration.maximumCalls }

    /// The parts in which a request is sent that has a large plan.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - request: What was planned.
    /// - Returns: The parts; one that is the whole when the plan is not large.
    public func expansion(of plan: borrowing FanOutPlan, for request: borrowing PushRequest) -> Expansion {
        if case .devices = request.audience {
            return Expansion(unitCount: plan.calls.count, callsPerUnit: 1, maximumCalls: maximumCalls, isApart: false)
        }
        let pieces = plan.pieceCount
        // Two pieces of an expression that was split, put together, could be split otherwise.
        var isApart = false
        if case .tagExpression = request.audience { isApart = true }
        return Expansion(
            unitCount: pieces, callsPerUnit: plan.calls.count / max(1, pieces), maximumCalls: maximumCalls, isApart: isApart)
    }
}

extension FanOutPlan {
    /// The pieces of the audience: the calls of one platform. Of handles, every platform has its own.
    var pieceCount: Int { (calls.last?.chunk ?? -1) + 1 }

    /// Writes whom a part reaches, as the `audience` of a request.
    ///
    /// - Parameters:
    ///   - part: From 0, below the expansion's count.
    ///   - expansion: The expansion of this plan.
    ///   - request: The request that was planned.
    ///   - json: Gets the object.
    public func appendAudience(
        of part: Int, in expansion: Expansion, for request: borrowing PushRequest, to json: inout ByteWriter
    ) {
        let units = expansion.units(of: part)
        switch request.audience {
        case .none: json.append("{}")
        case .broadcast: json.append("{\"broadcast\":true}")
        case .users: append("users", pieces: units, for: request, to: &json)
        case .installations: append("installations", pieces: units, for: request, to: &json)
        case .categories: append("categories", pieces: units, for: request, to: &json)
        case .tagExpression:
            json.append("{\"tag_expression\":")
            // The calls of the first platform come first, one for each piece.
            if case .tags(let tags) = calls[units.lowerBound].target {
                json.append(json: span(tags))
            } else {
                json.append("\"\"")
            }
            json.append("}")
        case .devices: json.append(devices: devices(of: units), in: request.document)
        }
    }

    private func append(
        _ kind: StaticString, pieces: Range<Int>, for request: borrowing PushRequest, to json: inout ByteWriter
    ) {
        let size = TagExpression.maxTagsJoinedByOr
        let end = min(pieces.upperBound * size, names.texts.count)
        json.append(kind, names: names.texts[min(pieces.lowerBound * size, end)..<end], in: request.document)
    }
}
