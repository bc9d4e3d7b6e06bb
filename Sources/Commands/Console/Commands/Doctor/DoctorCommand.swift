import Basics
import EventLoop
import JobSupport
import Kafka
import KafkaCare
import PushModel
import Settings

extension Command {
    static let doctor = Command(
        "doctor", .operators, "Check brokers, topics, rights, group, clock, hub and limits",
        examples: [
            "pushfan doctor", "pushfan doctor --bootstrap kafka.example:9093 --probe-writing --strict",
            "pushfan doctor --role gateway --probe-writing",
            "pushfan doctor -o json --timeout 3s || echo 'see finding and remedy'",
        ],
        groups: [
            .selection([
                .role(default: AccessRole.worker.rawValue), .with,
                Flag("strict", nil, "End with 1 for warnings, too"),
                Flag(
                    "probe-writing", nil,
                    "Ask for the right to write, by a record that Kafka's brokers refuse for its acknowledgements"),
            ]),
            .output(),
            .kafka(
                topics: ["requests", "results", "deadletter", "control", "shares", "replays"],
                and: FlagGroup.group + [
                    .timeout("5s", "How long each question may take")
                ]),
        ],
        readOn: "pushfan help status, topics check, exit-codes", run: DoctorCommand.run)
}

private enum DoctorCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let format = invocation.arguments.format()
        let (settings, context) = try invocation.job()
        let now = invocation.surroundings.now()
        let role = invocation.arguments.accessRole ?? .worker
        let rights = AccessRights(of: role, by: try invocation.accessTerms(of: role, in: settings))
        let kafka = KafkaExamination(
            context, terms: settings.groupTerms, demands: settings.brokerDemands,
            loops: role == .worker ? settings.loopIdentity : nil, rights: rights,
            probesWriting: invocation.arguments.has("probe-writing"),
            places: KafkaPlaces(
                brokers: settings.place(of: "kafka.bootstrap_servers"), properties: settings.place(of: "kafka.properties")))
        let callsHubs = role == .worker || role == .gateway
        let hubs = callsHubs ? settings.allHubs : []
        let limits = role == .worker ? [LimitFindings.of(.current(), needed: settings.descriptorsNeeded)] : []
        let needsSend = role == .worker || settings.gateway.tracksOutcome
        let answers = hubs.map { HubProbe.ask(settings, $0, now: now, timeout: context.timeout) }
        let certificates = CertificateFindings.of(
            CertificateSource.all(context.kafka.properties, hubFiles: hubs.compactMap(\.authorityFile)),
            now: Timestamp(milliseconds: now))
        let tokens = role == .gateway ? TokenProbe.findings(settings, timeout: context.timeout) : []
        let findings =
            kafka.findings() + certificates + tokens + answers.flatMap { HubFindings.of($0, needsSend: needsSend) } + limits
        switch format {
        case .json, .ndjson: try invocation.streams.out(format, Table(), findings.map(\.json))
        case .table, .wide, .csv:
            for finding in findings { try report(finding, to: invocation.streams) }
            invocation.streams.note(findings.summary)
        }
        return findings.exitCode(isStrict: invocation.arguments.has("strict"))
    }

    /// The remedy stands in a line of its own, so that it can be copied.
    private static func report(_ finding: Finding, to streams: Streams) throws(CommandFailure) {
        let state = finding.state.rawValue
        let painted = Colour.of(state: state)?.paint(state, streams.traits) ?? state
        let padding = String(repeating: " ", count: 11 - state.count)
        let subject = finding.subject.isEmpty ? "" : "\(finding.subject): "
        try streams.out(painted + padding + finding.check.padding(to: 9) + Sanitised.line(subject + finding.text, atMost: 4096))
        if let remedy = finding.remedy { try streams.out(String(repeating: " ", count: 20) + "mend: " + Sanitised.line(remedy)) }
    }
}

extension Finding {
    /// The finding as a JSON object.
    fileprivate var json: [UInt8] {
        JSONObject([
            "check": check, "state": state.rawValue.replacing(" ", with: "_"), "subject": subject.isEmpty ? nil : subject,
            "finding": text, "remedy": remedy,
        ]).bytes
    }
}

extension Finding.Cause {
    /// The exit code of the program, if this is the first failure.
    fileprivate var code: ExitCode {
        switch self {
        case .configuration: .configuration
        case .notAllowed: .notAllowed
        case .unreachable: .unreachable
        case .temporary: .temporary
        case .other: .failed
        }
    }
}

extension [Finding] {
    /// The exit code of the program: the first failure's. With `isStrict` a warning counts as a failure.
    func exitCode(isStrict: Bool) -> ExitCode {
        if let failure = first(where: { $0.state == .failed }) { return failure.cause.code }
        return isStrict && contains { $0.state == .warning } ? .failed : .done
    }

    /// `8 ok, 1 warning, 2 failed, 1 not asked`.
    var summary: String {
        Finding.State.allCases.map { state in
            Counted.text(count { $0.state == state }, state.rawValue, state == .warning ? "warnings" : state.rawValue)
        }.joined(separator: ", ")
    }
}

extension Settings {
    /// The demands of these settings on the brokers.
    fileprivate var brokerDemands: BrokerDemands {
        BrokerDemands(
            sessionTimeout: Int(kafka.sessionTimeout.wholeMilliseconds),
            transactionTimeout: Int(kafka.transactionTimeout.wholeMilliseconds))
    }

    /// The identity of the worker's loops, or nil if they need no transactions.
    fileprivate var loopIdentity: LoopIdentity? {
        unusedTransactionalID.map { LoopIdentity(memberNames: memberNames, unusedID: $0) }
    }
}
