import PushModel

/// From the parts of an audience to whom each call reaches.
extension FanOutPlanner {
    /// Packs a list of names into expressions of at most 20 tags joined by OR, in the list's order.
    func addTargets(
        _ list: PushRequest.Node, pattern: borrowing TagPattern, for request: borrowing PushRequest, to plan: inout FanOutPlan
    ) throws(RequestFault) {
        // In one call a name may stand twice; between two it would ring twice.
        let isLong = request.document.childCount(of: list) > TagExpression.maxTagsJoinedByOr
        var joiner = TagJoiner()
        var elements = request.document.children(of: list)
        while let (_, element) = elements.next(in: request.document) {
            let name = request.document.text(of: element)
            let form: [UInt8]?
            do throws(RequestFault) {
                form = try pattern.form(of: request.document.span(name))
            } catch {
                throw RequestFault(error.code, at: request.document.pointer(to: element), message: error.message)
            }
            if isLong, !plan.names.insert(name, in: request.document, exactly: form != nil) { continue }
            if joiner.isFull, let tags = joiner.close(pattern, in: &plan.bytes) { plan.targets.append(.tags(tags)) }
            if let form {
                joiner.add(form.span, pattern: pattern, to: &plan.bytes)
            } else {
                joiner.add(request.document.span(name), pattern: pattern, to: &plan.bytes)
            }
        }
        if let tags = joiner.close(pattern, in: &plan.bytes) { plan.targets.append(.tags(tags)) }
        plan.mayReachTwice = plan.targets.count > 1 && pattern.mayRepeatOnDevice
    }

    /// Splits a tag expression as far as it has to be, and writes each part with all its parentheses.
    func addExpression(
        _ text: PushRequest.Text, for request: borrowing PushRequest, to plan: inout FanOutPlan
    ) throws(RequestFault) {
        let bytes = request.document.span(text)
        let split: SplitExpression
        do {
            split = try SplitExpression(parsing: bytes.indices.map { bytes[$0] })
        } catch {
            let code: ErrorCode = isLimit(error.reason) ? .tagLimitExceeded : .tagExpressionInvalid
            throw RequestFault(code, at: "/audience/tag_expression", message: error.description)
        }
        for part in split.parts {
            let start = plan.bytes.count
            plan.bytes.append(part.description)
            if let tags = FanOutPlan.Tags(start: start, end: plan.bytes.count) { plan.targets.append(.tags(tags)) }
        }
        plan.mayReachTwice = split.mayOverlap
    }

    private func isLimit(_ reason: TagExpressionError.SyntaxFault) -> Bool {
        switch reason {
        case .tooManyTags, .cannotBeSplit, .tooManyParts, .tooIntricate: true
        case .empty, .tooLong, .expectedTag, .expectedOperator, .singleOperatorCharacter, .unmatchedClosingParenthesis,
            .unclosedParenthesis, .invalidCharacter, .tag, .tooDeep, .reachesNobody:
            false
        }
    }

    /// One direct call for a single handle of a platform, batches for more.
    func addDeviceCalls(
        _ list: PushRequest.Node, for request: borrowing PushRequest, to plan: inout FanOutPlan
    ) throws(RequestFault) {
        guard request.template == nil else {
            throw RequestFault(.schemaInvalid, at: "/template", message: "A template cannot be sent to device handles.")
        }
        // All have their forms, which are the same for the same device.
        var handles = Platform.allCases.map { _ in DistinctTexts(ignoringCase: false) }
        var elements = request.document.children(of: list)
        while let (_, element) = elements.next(in: request.document) {
            guard let name = request.document.member("platform", of: element),
                let platform = Platform(name: request.document.string(request.document.text(of: name))),
                let handle = request.document.member("handle", of: element)
            else { continue }
            _ = handles[Int(platform.rawValue)].insert(request.document.text(of: handle), in: request.document)
        }
        for platform in Platform.allCases {
            let texts = handles[Int(platform.rawValue)].texts
            for (chunk, start) in stride(from: 0, to: texts.count, by: Self.maximumHandlesPerBatch).enumerated() {
                let batch = Array(texts[start..<min(start + Self.maximumHandlesPerBatch, texts.count)])
                let target: FanOutPlan.Target = batch.count == 1 ? .device(batch[0]) : .devices(batch)
                plan.calls.append(.init(platform: platform, target: target, chunk: chunk))
            }
        }
    }
}
