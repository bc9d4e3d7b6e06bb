import Delivery
import Kafka
import PushModel

/// Reads the facts of the group and its topics: committed positions, where partitions begin and end, and which of them have no
/// consumer.
///
/// Lives on the committer's thread, and writes nothing.
struct GroupReader {
    private let configuration: WorkerConfiguration
    private let group: ConsumerGroup
    private let clock: WorkerClock
    private var questions: QuestionReader
    private let rulings: StartRulings
    /// The numbers of partitions of which every one had a consumer, so that the group need not be asked again.
    private var surveyed: [Int] = []
    /// The partitions without a position whose leaders were away when an assignment began, of this worker and of others.
    private var away: [TopicPartition] = []

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup, clock: WorkerClock) {
        self.configuration = configuration
        self.group = group
        self.clock = clock
        questions = QuestionReader(configuration, clock: clock)
        rulings = StartRulings(configuration, clock: clock)
    }

    /// The committed positions.
    ///
    /// - Throws: They could not be learnt within 10 s; `isTimeout` also when an open transaction holds them back.
    func positions(of partitions: [TopicPartition]) throws(KafkaError) -> [CommittedOffset] {
        try group.committed(partitions, timeout: .seconds(10))
    }

    /// Asks the group for anything.
    ///
    /// - Returns: Nil if it answered, or else why it did not.
    func probe(_ partitions: [TopicPartition]) -> KafkaError? {
        do throws(KafkaError) {
            _ = try group.committed(partitions, timeout: .seconds(5))
            return nil
        } catch {
            return error
        }
    }

    /// The partitions without a consumer. The group is asked when numbers have changed only, so that it costs an idle fleet little.
    ///
    /// - Parameter awaiting: Partitions of this worker that wait for a leader.
    /// - Returns: Those, if one that they wait for is back; else what has no consumer.
    /// - Throws: It could not be learnt.
    mutating func survey(awaiting: [TopicPartition]) throws(KafkaError) -> [TopicPartition] {
        if !awaiting.isEmpty, try isOneBack(of: away.isEmpty ? awaiting : away) { return awaiting }
        let topics = configuration.topics.shared
        let counts = try group.partitionCounts(of: topics, timeout: .seconds(1))
        guard counts != surveyed else { return [] }
        let all = zip(topics, counts).flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let unread = try group.unread(of: all, timeout: .seconds(1))
        if unread.isEmpty { surveyed = counts }
        return unread
    }

    /// True if a partition has a leader that answers, asked for 2 s at most.
    private func isOneBack(of partitions: [TopicPartition]) throws(KafkaError) -> Bool {
        let admin = try TopicAdmin(configuration.kafka, seesUncommitted: true)
        let deadline = ContinuousClock.now + .seconds(2)
        for partition in partitions {
            let left = min(Duration.seconds(1), deadline - .now)
            guard left > .zero else { return false }
            if (try? admin.ends(of: [partition.partition], in: partition.topic, timeout: left)) != nil { return true }
        }
        return false
    }

    /// Asks the group again at the next survey: an assignment has begun.
    mutating func forgetSurvey() {
        surveyed = []
        away = []
    }

    /// The partitions of held requests that belong to partitions of requests, as far as they are there.
    ///
    /// - Parameters:
    ///   - partitions: Partitions of requests, and others.
    ///   - count: The partitions of the topic of held requests; 0 if it is not there.
    /// - Returns: Partitions of held requests.
    func heldPartitions(of partitions: [TopicPartition], count: Int32) -> [TopicPartition] {
        partitions.compactMap { partition in
            guard let lane = Lane.allCases.first(where: { configuration.topics.requests(of: $0) == partition.topic }) else {
                return nil
            }
            guard let number = OrderedPartitions.heldPartition(of: partition.partition, lane) else { return nil }
            return number < count ? TopicPartition(topic: configuration.topics.held, partition: number) : nil
        }
    }

    /// Finds out where topics end, and where partitions begin elsewhere than at the group's position.
    ///
    /// - Parameters:
    ///   - positions: The group's positions.
    ///   - partitionsBehindCommit: Partitions that were seen to end before their position, whatever they end at now.
    ///   - held: The partitions of held requests among them.
    ///   - progress: How far partitions without a position were read before.
    ///   - producer: Tells whether the control topic is there.
    /// - Returns: The ends, what to do with partitions that begin elsewhere, and what must be read before that is known.
    /// - Throws: It could not be learnt, of a partition that cannot be read before.
    mutating func ends(
        of positions: [CommittedOffset], _ partitionsBehindCommit: Set<TopicPartition>, held: [TopicPartition],
        progress: [TopicPartition: Int64], _ producer: Producer
    ) throws(KafkaError) -> Committer.PartitionEnds {
        let admin = try TopicAdmin(configuration.kafka, seesUncommitted: true)
        var ends = Committer.PartitionEnds()
        try findStarts(of: positions, partitionsBehindCommit, admin, into: &ends)
        try findOwnStarts(of: positions, progress, admin, into: &ends)
        ends.control = try controlEnd(producer)
        ends.held = heldEnds(held, admin)
        return ends
    }

    /// Finds out where partitions begin that cannot begin at the group's position: a partition of requests has none, or one has lost what
    /// was read of it. One without a position whose leader is away holds up no other: it stays undecided. Nor does one whose records do not
    /// come soon: they are read further in the background.
    ///
    /// - Parameters:
    ///   - positions: The group's positions.
    ///   - partitionsBehindCommit: Partitions that were seen to end before their position, whatever they end at now.
    ///   - admin: Sees what is not committed.
    ///   - found: Takes what to do with each of those, and where partitions end. The others begin at their position.
    /// - Throws: It could not be learnt, of a partition that cannot be read before.
    private mutating func findStarts(
        of positions: [CommittedOffset], _ partitionsBehindCommit: Set<TopicPartition>, _ admin: TopicAdmin,
        into found: inout Committer.PartitionEnds
    ) throws(KafkaError) {
        var endQuestions = EndQuestions(admin)
        let topics = configuration.topics
        let ofRequests = Lane.allCases.map { topics.requests(of: $0) }
        let looks = try readMarks(of: positions, partitionsBehindCommit)
        found.unanswered = looks.filter { !$0.value.isAnswered }
        func isDoubtful(_ partition: TopicPartition) -> Bool {
            partitionsBehindCommit.contains(partition) || looks[partition]?.isDoubtful ?? false
        }
        for topic in ofRequests + topics.delays + [topics.held, topics.parents] {
            let hasRequests = ofRequests.contains(topic)
            let asked = positions.filter {
                $0.partition.topic == topic && (hasRequests || isDoubtful($0.partition)) && found.unanswered[$0.partition] == nil
            }
            guard !asked.isEmpty else { continue }
            let numbers = asked.map(\.partition.partition)
            let mustKnow = asked.contains { $0.offset == nil || isDoubtful($0.partition) }
            let ends: [Int64?]
            if mustKnow {
                ends = try endQuestions.ends(of: numbers, in: topic)
            } else {
                // Of one that is away nothing is known; when it is back, what is read of it tells.
                guard let known = try? admin.ends(of: numbers, in: topic, timeout: .seconds(1)) else { continue }
                ends = known
            }
            let unplaced = asked.filter { $0.offset == nil }.map(\.partition.partition)
            let decisions =
                try configuration.start == .safe ? safeDecisions(in: topic, of: unplaced, &endQuestions, admin) : []
            for (position, end) in zip(asked, ends) {
                let partition = position.partition
                guard let end else {
                    // What is read of it does not say that it has ended before its position.
                    if isDoubtful(partition), let failure = endQuestions.failure {
                        guard let question = looks[partition] else { throw failure }
                        found.unanswered[partition] = question
                    }
                    guard position.offset == nil else { continue }
                    found.starts[partition] = AssignmentPlan.Ruling(.undecided, .noPosition, end: 0)
                    away.append(partition)
                    continue
                }
                if hasRequests { found.requests[partition] = end }
                let isBeyond = position.offset.map { $0 > end || isDoubtful(partition) }
                guard isBeyond ?? true else { continue }
                found.starts[partition] = try start(
                    of: position, end: end, decisions, looks[partition],
                    wasBeyondEnd: partitionsBehindCommit.contains(partition), admin)
            }
        }
    }

    /// Finds out where partitions without a position begin whose records workers wrote. It is committed before anything is begun, so that
    /// the next owner knows of it. One whose leader is away stays undecided; a topic that is not there has nothing that could be sent.
    private mutating func findOwnStarts(
        of positions: [CommittedOffset], _ progress: [TopicPartition: Int64], _ admin: TopicAdmin,
        into found: inout Committer.PartitionEnds
    ) throws(KafkaError) {
        let (places, unanswered) = try ownPlaces(of: positions, admin)
        for partition in unanswered {
            found.starts[partition] = AssignmentPlan.Ruling(.undecided, .noPosition, end: 0)
            away.append(partition)
        }
        // What is finished of large requests, their records say when they are read.
        let parents = configuration.topics.parents
        for place in places where place.partition.topic == parents {
            found.starts[place.partition] = try rulings.ruling(
                of: place.partition, low: place.low, end: place.end, mayBeFinished: false)
        }
        let others = places.filter { $0.partition.topic != parents }
        var waiting = others.map { place in
            StartQuestion(place.partition, low: place.low, end: place.end, next: progress[place.partition])
        }
        let isRead = configuration.start != .beginning
        if isRead { try questions.read(&waiting, within: Self.waitingLimit) }
        for (place, question) in zip(others, waiting) {
            let mayBeFinished = isRead && question.mayHaveGoneOn ?? false
            // As long as that is not known, its reading starts where it most likely begins.
            if isRead, !question.isAnswered { found.unanswered[place.partition] = question }
            found.starts[place.partition] = try rulings.ruling(
                of: place.partition, low: place.low, end: place.end, mayBeFinished: mayBeFinished)
        }
    }

    /// The time that an assignment waits for records of partitions without a position. Those that take longer are read in the
    /// background.
    private static let waitingLimit = Duration.seconds(1)
    /// The time that an assignment waits for records that were read before. Those that take longer are read in the background.
    private static let marksLimit = Duration.seconds(3)

    /// Looks whether the records are there that positions name. Of a partition without its last one, looks what has the place of
    /// its first.
    private mutating func readMarks(
        of positions: [CommittedOffset], _ partitionsBehindCommit: Set<TopicPartition>
    ) throws(KafkaError) -> [TopicPartition: StartQuestion] {
        var asked = positions.compactMap { position -> StartQuestion? in
            guard let offset = position.offset, let marks = ReadMarks(metadata: position.metadata) else { return nil }
            return StartQuestion(
                position.partition, position: offset, marks: marks,
                wasBeyondEnd: partitionsBehindCommit.contains(position.partition))
        }
        try questions.read(&asked, within: Self.marksLimit)
        return Dictionary(asked.map { ($0.partition, $0) }) { first, _ in first }
    }

    /// A partition and what it retains.
    private struct Place {
        let partition: TopicPartition
        /// The first offset that is retained.
        let low: Int64
        /// The next offset.
        let end: Int64
    }

    /// The retained part of partitions without a position whose records workers wrote, and those whose leaders are away.
    private func ownPlaces(
        of positions: [CommittedOffset], _ admin: TopicAdmin
    ) throws(KafkaError) -> (known: [Place], away: [TopicPartition]) {
        var questions = EndQuestions(admin)
        var known: [Place] = []
        var away: [TopicPartition] = []
        for topic in configuration.topics.delays + [configuration.topics.held, configuration.topics.parents] {
            let unplaced = positions.filter { $0.partition.topic == topic && $0.offset == nil }.map(\.partition)
            guard !unplaced.isEmpty else { continue }
            do throws(KafkaError) {
                let ends = try questions.ends(of: unplaced.map(\.partition), in: topic)
                let led = zip(unplaced, ends).compactMap { partition, end in end.map { (partition, $0) } }
                let lows = try admin.beginnings(of: led.map(\.0.partition), in: topic, timeout: .seconds(5))
                for ((partition, end), low) in zip(led, lows) { known.append(.init(partition: partition, low: low, end: end)) }
                away += zip(unplaced, ends).filter { $0.1 == nil }.map(\.0)
            } catch {
                if error.isUnknownTopicOrPartition { continue }
                guard error.isLeaderAway else { throw error }
                away += unplaced
            }
        }
        return (known, away)
    }

    /// The decisions of `safe` about partitions of a topic without a position, for which those of other workers matter as well.
    private mutating func safeDecisions(
        in topic: String, of unplaced: [Int32], _ questions: inout EndQuestions, _ admin: TopicAdmin
    ) throws(KafkaError) -> [StartRule.Decision?] {
        guard let last = unplaced.max() else { return [] }
        let limit = Duration.seconds(5)
        // What was assigned is there, even if the consumer has not heard of it yet.
        let count = try max(Int(last) + 1, group.partitionCounts(of: [topic], timeout: limit).first ?? 0)
        let partitions = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        let isKnown = try group.committed([partitions[0]], timeout: limit).first?.offset != nil
        var isPlaced = partitions.map { !unplaced.contains($0.partition) }
        // Where the topic is known, no other partition is asked about: each is held back while its worker commits.
        if !isKnown { isPlaced = try group.committed(partitions, timeout: limit).map { $0.offset != nil } }
        let open = zip(partitions, isPlaced).filter { !$0.1 }.map(\.0.partition)
        let ends = try questions.ends(of: open, in: topic)
        let numbers = zip(open, ends).filter { $0.1 != nil }.map(\.0)
        let lows = try admin.beginnings(of: numbers, in: topic, timeout: limit)
        let time = StartRule.safe.time(now: Timestamp(milliseconds: clock.millisecondsSince1970))
        let young = try admin.offsets(since: time?.milliseconds ?? 0, of: numbers, in: topic, timeout: limit)
        // Of a partition with a position nothing else matters.
        var contents = isPlaced.map { $0 ? StartRule.Partition(low: 0, high: 0, since: nil, hasPosition: true) : .away }
        var index = 0
        for (number, end) in zip(open, ends) {
            guard let end else {
                away.append(TopicPartition(topic: topic, partition: number))
                continue
            }
            contents[Int(number)] = StartRule.Partition(low: lows[index], high: end, since: young[index], hasPosition: false)
            index += 1
        }
        return StartRule.safe.decisions(in: contents)
    }

    /// The place where a partition begins, or nil if that is the group's position after all.
    private func start(
        of position: CommittedOffset, end: Int64, _ decisions: [StartRule.Decision?], _ question: StartQuestion?,
        wasBeyondEnd: Bool, _ admin: TopicAdmin
    ) throws(KafkaError) -> AssignmentPlan.Ruling? {
        let (partition, limit) = (position.partition, Duration.seconds(5))
        let rule = configuration.start
        let low = try admin.beginnings(of: [partition.partition], in: partition.topic, timeout: limit).first ?? 0
        let waiting = max(0, end - low)
        let number = Int(partition.partition)
        if position.offset == nil, decisions.indices.contains(number), let decision = decisions[number] {
            return AssignmentPlan.Ruling(decision, .noPosition, end: end, waiting: waiting)
        }
        var since: Int64?
        let now = Timestamp(milliseconds: clock.millisecondsSince1970)
        if let time = rule.time(now: now), low < end, question == nil {
            since = try admin.offset(since: time.milliseconds, in: partition, timeout: limit)
        }
        guard let committed = position.offset else {
            let decision = rule.decision(low: low, high: end, since: since)
            return AssignmentPlan.Ruling(decision, .noPosition, end: end, waiting: waiting)
        }
        let tail =
            question?.tail(low: low, high: end)
            ?? LogTail(position: committed, marks: nil, low: low, high: end, wasBeyondEnd: wasBeyondEnd)
        return tail.ruling(rule, since: since)
    }

    /// The ends of partitions of held requests, behind all that was written. Where that cannot be learnt soon, it is when they
    /// are read.
    private func heldEnds(_ partitions: [TopicPartition], _ admin: TopicAdmin) -> [Int32: Int64] {
        guard !partitions.isEmpty else { return [:] }
        do throws(KafkaError) {
            let numbers = partitions.map(\.partition)
            let ends = try admin.ends(of: numbers, in: configuration.topics.held, timeout: .seconds(1))
            return Dictionary(uniqueKeysWithValues: zip(numbers, ends))
        } catch {
            return [:]
        }
    }

    /// The present end of the control topic. One whose leader is away holds up no assignment: what it says is read when it is
    /// back.
    private func controlEnd(_ producer: Producer) throws(KafkaError) -> ControlEnd {
        guard try producer.warmUp(optional: configuration.topics.control) != nil else { return .missing }
        let partition = TopicPartition(topic: configuration.topics.control, partition: CancelRecord.partition)
        do throws(KafkaError) {
            return .at(try group.end(of: partition, timeout: .seconds(5)))
        } catch {
            guard error.isLeaderAway else { throw error }
            return .unknown
        }
    }
}
