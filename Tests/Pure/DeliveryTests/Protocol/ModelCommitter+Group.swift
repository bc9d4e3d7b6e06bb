import Delivery

/// What the committer of a model worker finds out beside commits: it does what `JobDispatcher` and `GroupReader` do.
extension ModelCommitter {
    /// What it is asked.
    enum Question {
        case prepare
        case positions([Membership.Partition], epoch: Int)
        case survey
    }

    /// A partition, and what `AssignmentPlan` has to know of it.
    struct Found {
        let number: Int
        let known: AssignmentPlan.Assigned
    }

    /// What it says.
    enum Answer {
        case prepared, notPrepared
        case positions([Found], epoch: Int)
        case positionsFailed(isTimeout: Bool, epoch: Int)
        case surveyed([Membership.Partition])
    }

    static func partition(_ number: Int) -> Membership.Partition {
        Membership.Partition(topic: "requests", number: Int32(number))
    }

    /// Answers all questions, once the batch that it has is done.
    ///
    /// - Parameters:
    ///   - terms: What the worker goes by.
    ///   - isUnanswered: Whether no broker answers.
    ///   - broker: The broker.
    mutating func answer(_ terms: ModelWorker.Terms, isUnanswered: Bool, _ broker: inout ModelBroker) {
        guard job == nil else { return }
        let asked = questions
        questions.removeAll()
        for question in asked {
            let found = isUnanswered ? nothing(about: question) : answer(question, terms, &broker)
            answers.append(found)
        }
    }

    private mutating func answer(_ question: Question, _ terms: ModelWorker.Terms, _ broker: inout ModelBroker) -> Answer {
        switch question {
        case .prepare:
            prepare(&broker)
            return .prepared
        case .positions(let partitions, let epoch):
            guard let found = findPositions(of: partitions, terms, &broker) else {
                return .positionsFailed(isTimeout: true, epoch: epoch)
            }
            return .positions(found, epoch: epoch)
        case .survey: return .surveyed(broker.group.unread.map(Self.partition))
        }
    }

    private func nothing(about question: Question) -> Answer {
        switch question {
        case .prepare: .notPrepared
        case .positions(_, let epoch): .positionsFailed(isTimeout: false, epoch: epoch)
        case .survey: .surveyed([])
        }
    }

    /// The group's positions, and where partitions end after that; nil while a transaction may still move one.
    private mutating func findPositions(
        of partitions: [Membership.Partition], _ terms: ModelWorker.Terms, _ broker: inout ModelBroker
    ) -> [Found]? {
        // A transaction that was left open holds the positions back until a producer of the same name settles it.
        prepare(&broker)
        let decisions = broker.decisions(terms.rule)
        var found: [Found] = []
        for partition in partitions {
            let number = Int(partition.number)
            guard broker.isStable(number) || terms.sabotage == .readsUnstable else {
                broker.count(\.waits)
                return nil
            }
            var position = broker.position(number)
            if terms.sabotage == .forgetsTheMap { position?.metadata = "" }
            let end = broker.ends[number]
            let ruling = decisions[number].map { AssignmentPlan.Ruling($0, because: .noPosition, end: end) }
            let known = AssignmentPlan.Assigned(.requests, committed: position, end: end, ruling: ruling)
            found.append(Found(number: number, known: known))
        }
        return found
    }
}

extension ModelBroker {
    /// Where partitions begin in which the group has no position. All records are young.
    fileprivate func decisions(_ rule: StartRule) -> [StartRule.Decision?] {
        rule.decisions(
            in: ends.indices.map { partition in
                let end = ends[partition]
                let hasPosition = committed[partition] != nil
                return StartRule.Partition(low: 0, high: end, since: end > 0 ? 0 : nil, hasPosition: hasPosition)
            })
    }
}
