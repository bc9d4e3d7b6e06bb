/// A step of a random history, as a failing history is made short.
protocol ShrinkableStep {
    /// The same step with smaller numbers, the best first.
    var simpler: [Self] { get }
}

/// The shortest history found that still fails: ever smaller pieces are left out (delta debugging), numbers are made small, and
/// at last steps are left out by twos, until nothing of that helps.
func shrunken<Step: ShrinkableStep>(_ steps: [Step], fails: ([Step]) -> Bool) -> [Step] {
    var steps = steps
    while true {
        let before = steps.count
        leaveOutPieces(&steps, fails)
        makeNumbersSmall(&steps, fails)
        if steps.count == before && !leaveOutTwo(&steps, fails) { return steps }
    }
}

private func leaveOutPieces<Step>(_ steps: inout [Step], _ fails: ([Step]) -> Bool) {
    var size = max(1, steps.count / 2)
    while size > 0 {
        // From the end, because what comes after the failure goes first.
        var end = steps.count
        while end > 0 {
            let start = max(0, end - size)
            let shorter = Array(steps[..<start] + steps[end...])
            if fails(shorter) { steps = shorter }
            end = start
        }
        size /= 2
    }
}

private func makeNumbersSmall<Step: ShrinkableStep>(_ steps: inout [Step], _ fails: ([Step]) -> Bool) {
    for index in steps.indices {
        for step in steps[index].simpler {
            var simpler = steps
            simpler[index] = step
            guard fails(simpler) else { continue }
            steps = simpler
            break
        }
    }
}

/// One step is often there only to undo another.
private func leaveOutTwo<Step>(_ steps: inout [Step], _ fails: ([Step]) -> Bool) -> Bool {
    for second in steps.indices.reversed() {
        for first in 0..<second {
            var shorter = steps
            shorter.remove(at: second)
            shorter.remove(at: first)
            guard fails(shorter) else { continue }
            steps = shorter
            return true
        }
    }
    return false
}
