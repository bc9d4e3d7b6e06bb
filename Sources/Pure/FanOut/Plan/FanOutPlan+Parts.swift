public import PushModel

/// Some of a plan's calls as requests of their own, for when only they must be made again.
extension FanOutPlan {
    /// Groups calls so that each group can be one request: the same parts of the audience on each of its platforms.
    ///
    /// - Parameters:
    ///   - indices: Indices of `calls`, ascending; those out of range are left out.
    ///   - request: The request that was planned.
    /// - Returns: The groups, ascending; planning each alone gives just its calls.
    public func groups(of indices: [Int], for request: borrowing PushRequest) -> [[Int]] {
        let indices = indices.filter(calls.indices.contains)
        if case .devices = request.audience { return indices.isEmpty ? [] : [indices] }
        var groups: [(chunks: [Int], calls: [Int])] = []
        for (position, index) in indices.enumerated() {
            let platform = calls[index].platform
            guard !indices[..<position].contains(where: { calls[$0].platform == platform }) else { continue }
            let own = indices.filter { calls[$0].platform == platform }
            for part in parts(of: own, for: request) {
                let chunks = part.map { calls[$0].chunk }
                if let known = groups.firstIndex(where: { $0.chunks == chunks }) {
                    groups[known].calls += part
                } else {
                    groups.append((chunks, part))
                }
            }
        }
        return groups.map { $0.calls.sorted() }
    }

    /// The calls of one platform: together when a request can say it, one by one where an expression was split.
    private func parts(of own: [Int], for request: borrowing PushRequest) -> [[Int]] {
        guard case .tagExpression = request.audience, own.count > 1, own.count < chunkCount else { return [own] }
        return own.map { [$0] }
    }

    private var chunkCount: Int { (calls.map(\.chunk).max() ?? -1) + 1 }

    /// The platforms of some calls, each once and in the plan's order. A template's calls have none.
    public func platforms(of indices: [Int]) -> [Platform] {
        Platform.allCases.filter { platform in indices.contains { calls[$0].platform == platform } }
    }

    /// Writes whom one of the groups reaches, as the `audience` of a request.
    ///
    /// - Parameters:
    ///   - group: One of `groups(of:_:)`.
    ///   - request: The request that was planned, as it was then.
    ///   - json: Gets the object.
    public func appendAudience(of group: [Int], for request: borrowing PushRequest, to json: inout ByteWriter) {
        let chunks = (0..<chunkCount).filter { chunk in group.contains { calls[$0].chunk == chunk } }
        let isWhole = chunks.count == chunkCount
        switch request.audience {
        case .none: json.append("{}")
        case .broadcast: json.append("{\"broadcast\":true}")
        case .users(let list): append(list, kind: "users", chunks: isWhole ? nil : chunks, for: request, to: &json)
        case .installations(let list):
            append(list, kind: "installations", chunks: isWhole ? nil : chunks, for: request, to: &json)
        case .categories(let list): append(list, kind: "categories", chunks: isWhole ? nil : chunks, for: request, to: &json)
        case .tagExpression(let text):
            json.append("{\"tag_expression\":")
            if !isWhole, let first = group.first, case .tags(let tags) = calls[first].target {
                json.append(json: span(tags))
            } else {
                json.append(json: request.document.span(text))
            }
            json.append("}")
        case .devices: json.append(devices: devices(of: group), in: request.document)
        }
    }

    /// The names of some parts of a list, in its order. Planning packs them into the same calls again, because every part but the
    /// last is full.
    private func append(
        _ list: PushRequest.Node, kind: StaticString, chunks: [Int]?, for request: borrowing PushRequest,
        to json: inout ByteWriter
    ) {
        if let chunks {
            let size = TagExpression.maxTagsJoinedByOr
            let texts = chunks.flatMap { names.texts.dropFirst($0 * size).prefix(size) }
            return json.append(kind, names: texts, in: request.document)
        }
        json.append("{")
        json.append(key: kind)
        json.append(verbatim: list, in: request.document)
        json.append("}")
    }
}
