extension TagExpression {
    /// A step in the composition of a value: a tag, or an operator with what was made of its operands.
    package enum CompositionStep<Value> {
        case tag(HubTag)
        case not(Value)
        case and([Value])
        case or([Value])
    }

    /// Makes a value of the condition, from the tags outwards.
    ///
    /// - Parameter compose: Makes the value of a step.
    /// - Returns: The value of the whole condition.
    /// - Throws: What `compose` throws.
    package func composed<Value, Failure>(
        by compose: (CompositionStep<Value>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var stack: [Value] = []
        for node in nodes {
            let count: Int
            let step: CompositionStep<Value>
            switch node {
            case .tag(let tag): (count, step) = (0, .tag(tag))
            case .not: (count, step) = (1, stack.last.map { .not($0) } ?? .or([]))
            case .and(let operands): (count, step) = (operands, .and(Array(stack.suffix(operands))))
            case .or(let operands): (count, step) = (operands, .or(Array(stack.suffix(operands))))
            }
            stack.removeLast(min(count, stack.count))
            stack.append(try compose(step))
        }
        if let value = stack.last { return value }
        // No expression is without a tag.
        return try compose(.or([]))
    }
}
