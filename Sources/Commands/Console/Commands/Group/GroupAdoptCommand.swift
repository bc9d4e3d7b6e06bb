import JobSupport
import Kafka
import KafkaCare
import PushModel
import Settings

extension Command {
    static let groupAdopt = Command(
        "group adopt", .operators, "Take over the positions and waiting requests of a former group",
        operands: "OLD", maximumOperands: 1,
        examples: [
            "pushfan group adopt pushfan-2025 --dry-run", "pushfan group adopt pushfan-2025",
            "pushfan group adopt pushfan --group pushfan-eu -o json",
        ],
        groups: [
            .selection(
                FlagGroup.group + [
                    Flag("dry-run", nil, "Look, and write nothing"),
                    .timeout("30s", "How long each question may take"),
                ]),
            .output(), .kafka(topics: ["requests"]),
        ],
        readOn: "pushfan help operations", run: GroupAdoptCommand.run)
}

enum GroupAdoptCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let isDry = invocation.arguments.has("dry-run")
        let (settings, context) = try invocation.job()
        guard invocation.arguments.operands.count == 1, let old = invocation.arguments.operands.first, !old.isEmpty else {
            throw .usage("name the former group")
        }
        guard old != settings.kafka.groupID else {
            throw .usage("\(Sanitised.quoted(old)) is the group of the settings; name the one before it")
        }
        Interruption.catchSignals()
        let adoption: GroupAdoption
        let memberCount: Int
        do throws(KafkaError) {
            adoption = try GroupAdoption(
                of: old, to: settings.groupTerms, isDry: isDry, context: context)
            memberCount = try adoption.memberCount()
        } catch {
            throw invocation.failure(error, settings.kafka, to: "look at the groups")
        }
        try requireNoMembers(memberCount, of: "one of the two groups")
        do throws(KafkaError) {
            try adoption.run()
        } catch {
            try? report(adoption.rows, isDry, invocation)
            throw invocation.failure(
                error, settings.kafka, to: "take over what \(Sanitised.line(old)) left; the same command goes on")
        }
        guard adoption.hasPositions else { throw noGroup(old, settings.kafka) }
        try report(adoption.rows, isDry, invocation)
        return adoption.rows.contains { $0.unknown > 0 } ? .partlyFailed : .done
    }

    /// Fails where a group has members.
    static func requireNoMembers(_ count: Int, of group: String) throws(CommandFailure) {
        guard count > 0 else { return }
        throw CommandFailure(
            .refused, "\(Counted.text(count, "worker is", "workers are")) in \(group)",
            hint: "stop them, and wait for kafka.session_timeout: a member that has gone counts until then")
    }

    private static func noGroup(_ old: String, _ settings: KafkaSettings) -> CommandFailure {
        let brokers = settings.bootstrapServers.joined(separator: ",")
        return CommandFailure(
            .nothingMatched,
            "the group \(Sanitised.quoted(old)) is not there: it has no position in any topic of the settings; nothing was taken over",
            hint: "`kafka-consumer-groups.sh --bootstrap-server \(brokers) --list` lists the groups;"
                + " brokers forget one without members after offsets.retention.minutes")
    }

    private static func report(_ rows: [GroupAdoption.Row], _ isDry: Bool, _ invocation: Invocation) throws(CommandFailure) {
        var table = Table(["TOPIC", .number("POSITIONS"), .number("MOVED"), .number("UNKNOWN")])
        for row in rows {
            table.add(["topic": row.topic, "positions": row.positions, "moved": row.moved, "unknown": row.unknown])
        }
        try invocation.out(table)
        let moved = rows.reduce(0) { $0 + $1.moved }
        let positions = rows.reduce(0) { $0 + $1.positions }
        invocation.streams.note(
            "\(Counted.text(positions, "position", "positions")) and \(Counted.text(moved, "waiting request", "waiting requests")) "
                + (isDry ? "would be taken over" : "were taken over"))
        let unknown = rows.reduce(0) { $0 + $1.unknown }
        if unknown > 0 {
            invocation.streams.note(
                "in \(Counted.text(unknown, "partition", "partitions")) the group has no position, so what it has done is unknown;"
                    + " what waits there for it was left")
        }
    }
}
