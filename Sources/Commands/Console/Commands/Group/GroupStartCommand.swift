import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import KafkaCare
import Settings

extension Command {
    static let groupStart = Command(
        "group start", .operators, "Say where the group begins where it has no position",
        operands: "[TOPIC[:PARTITION]...]", maximumOperands: .max,
        examples: [
            "pushfan group start --at finished --dry-run", "pushfan group start --at finished",
            "pushfan group start --at now-15m push.requests.v1 push.requests-high.v1:3",
            "pushfan group start --at end --yes --group pushfan-eu -o json",
        ],
        groups: [
            .selection(
                [
                    Flag(
                        "at", "PLACE",
                        "beginning, end, finished (what has no result is sent), or a time: now-15m, 2026-11-21T17:00Z"),
                    Flag("replace", nil, "Also where the group has a position, if operands name the partitions"),
                ] + FlagGroup.group + [
                    Flag("dry-run", nil, "Look, and write nothing"),
                    Flag("yes", nil, "Do not ask on a terminal", letter: "y"),
                    .timeout("30s", "How long each question may take"),
                ]),
            .output(), .kafka(topics: ["requests", "results"]),
        ],
        readOn: "pushfan help operations", run: GroupStartCommand.run)
}

private enum GroupStartCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        guard let word = arguments.value("at") else {
            throw .usage(
                "--at says where: beginning, end, finished, or a time", hint: "--at finished repeats nothing that has a result")
        }
        guard let place = StartPlace(word, now: invocation.surroundings.now()) else {
            throw .usage(
                "--at: \(Sanitised.quoted(word)) is no place",
                hint: "expected beginning, end, finished, or a time such as now-15m or 2026-11-21T17:00Z")
        }
        let replaces = arguments.has("replace")
        guard !replaces || !arguments.operands.isEmpty else {
            throw .usage("--replace needs the topics or partitions by name")
        }
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let terms = settings.groupTerms
        let start = try invocation.perform(GroupStart(terms, context: context), with: settings)
        let requestTopics = Set(terms.requests)
        try GroupAdoptCommand.requireNoMembers(invocation.perform(start.memberCount(), with: settings), of: "the group")
        let all = try invocation.perform(settings, start.positions)
        let named = try Self.named(arguments.operands, of: all, requestTopics, settings, place)
        let chosen = named.filter { replaces || $0.committed == nil }
        let rows = try invocation.perform(start.rows(at: place, for: chosen, of: all), with: settings)
        let isDry = arguments.has("dry-run")
        if !isDry && !rows.isEmpty {
            try confirm(rows, place, invocation)
            // Reading may have taken long.
            try GroupAdoptCommand.requireNoMembers(invocation.perform(start.memberCount(), with: settings), of: "the group")
            try invocation.perform(start.write(rows), with: settings)
        }
        try report(rows, place, isDry, invocation)
        let names = Set(chosen.map(\.partition))
        let topics = Set(chosen.map(\.partition.topic)).intersection(requestTopics)
        let left = all.count { $0.committed == nil && topics.contains($0.partition.topic) && !names.contains($0.partition) }
        if left > 0 {
            let partitions = Counted.text(left, "partition of these topics has", "partitions of these topics have")
            invocation.streams.note(
                "\(partitions) no position still: once partition 0 has one, workers treat others as added; "
                    + "those that hold their first record begin at it")
        }
        return .done
    }

    /// The partitions that operands name. Without operands, all partitions of requests, and with `finished` also those of waiting
    /// requests and of large requests.
    private static func named(
        _ operands: [String], of all: [GroupPosition], _ requestTopics: Set<String>, _ settings: Settings, _ place: StartPlace
    ) throws(CommandFailure) -> [GroupPosition] {
        guard !operands.isEmpty else {
            let requests = all.filter { requestTopics.contains($0.partition.topic) }
            guard !requests.isEmpty else {
                throw CommandFailure(
                    .failed, "there is no topic \(Sanitised.quoted(settings.kafka.topics.requests))",
                    hint: CommandFailure.missingTopicHint)
            }
            return place == .finished ? all : requests
        }
        var wanted: Set<TopicPartition> = []
        for operand in operands {
            let parts = operand.split(separator: ":", omittingEmptySubsequences: false)
            let number = parts.count == 2 ? Int32(parts[1]) : nil
            let found = all.filter { position in
                position.partition.topic == String(parts[0]) && (parts.count == 1 || position.partition.partition == number)
            }
            guard parts.count <= 2, !found.isEmpty else {
                throw .usage(
                    "\(Sanitised.quoted(operand)) is no topic of requests, of what waits or of large requests, and no partition of one",
                    hint: "they are written as TOPIC or TOPIC:PARTITION; `pushfan status -o wide` lists them")
            }
            wanted.formUnion(found.map(\.partition))
        }
        return all.filter { wanted.contains($0.partition) }
    }

    /// Asks the person at the terminal.
    private static func confirm(
        _ rows: [GroupStart.Row], _ place: StartPlace, _ invocation: Invocation
    ) throws(CommandFailure) {
        let traits = invocation.streams.traits
        guard !invocation.arguments.has("yes"), traits.isInputTerminal, traits.isErrorTerminal else { return }
        invocation.streams.note("\(summary(rows, place, isDry: true)). Type yes to write them:")
        guard try invocation.streams.inputLine() == "yes" else { throw CommandFailure(.refused, "nothing was written") }
    }

    /// `3 positions were written: 12 requests will be sent, and 5 lie before`, and the same of large requests and their results.
    private static func summary(_ rows: [GroupStart.Row], _ place: StartPlace, isDry: Bool) -> String {
        let were = isDry ? "would be" : rows.count == 1 ? "was" : "were"
        let (parents, others) = (rows.filter(\.isOfParents), rows.filter { !$0.isOfParents })
        var effects: [String] = []
        if !others.isEmpty { effects.append(effect(others, ("request", "requests"), "will be sent")) }
        if !parents.isEmpty, place == .finished {
            effects.append(effect(parents, ("large request", "large requests"), "will get a result"))
        } else if !parents.isEmpty {
            effects.append(effect(parents, ("record of large requests", "records of large requests"), "will be read"))
        }
        return "\(Counted.text(rows.count, "position", "positions")) \(were) written: " + effects.joined(separator: "; ")
    }

    private static func effect(_ rows: [GroupStart.Row], _ noun: (String, String), _ verb: String) -> String {
        let (after, before) = (rows.reduce(Int64(0)) { $0 + $1.after }, rows.reduce(Int64(0)) { $0 + $1.before })
        let repeated = rows.reduce(Int64(0)) { $0 + $1.repeated }
        let again = repeated > 0 ? ", \(repeated) of them again" : ""
        return "\(Counted.text(after, noun.0, noun.1)) \(verb)\(again), and \(Counted.text(before, "lies", "lie")) before"
    }

    private static func report(
        _ rows: [GroupStart.Row], _ place: StartPlace, _ isDry: Bool, _ invocation: Invocation
    ) throws(CommandFailure) {
        var table = Table([
            "TOPIC", .number("PARTITION"), .number("POSITION"), .number("BEFORE"), .number("AFTER"), .number("FINISHED"),
            .number("REPEATED"),
        ])
        for row in rows {
            table.add([
                "topic": row.partition.topic, "partition": Int(row.partition.partition), "position": Int(row.commit.offset),
                "before": Int(row.before), "after": Int(row.after), "finished": Int(row.finished),
                "repeated": Int(row.repeated),
            ])
        }
        try invocation.out(table)
        invocation.streams.note(
            rows.isEmpty
                ? "the group has a position in each of these partitions already"
                : summary(rows, place, isDry: isDry))
    }
}
