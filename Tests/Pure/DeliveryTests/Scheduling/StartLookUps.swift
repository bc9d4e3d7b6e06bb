/// What the look-ups find while a request starts. They are answered as they are made, so that one request is played with every
/// combination of answers that it can meet, and with none that it cannot.
struct StartLookUps {
    enum Question: Equatable {
        case isKeyFree, isTenantFull, isNew, isKnown, isDue, isSendable, isLarge, isRestored, isDelayed, hasRoom, isPassed
    }

    private var answers: [(question: Question, answer: Bool)] = []

    /// The answer to a question: no the first time, and in this combination the same again.
    mutating func ask(_ question: Question) -> Bool {
        if let known = answers.first(where: { $0.question == question }) { return known.answer }
        answers.append((question, false))
        return false
    }

    /// Goes on to the next combination.
    ///
    /// - Returns: Whether there is another one.
    mutating func next() -> Bool {
        while let last = answers.popLast() {
            if !last.answer {
                answers.append((last.question, true))
                return true
            }
        }
        return false
    }
}
