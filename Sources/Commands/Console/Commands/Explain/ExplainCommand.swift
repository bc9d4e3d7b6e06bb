import Audiences
import Basics
import Delivery
import GatewayAPI
import Groups
import Intake
import JobSupport
import Publishing
import PushModel

extension Command {
    static let explain = Command(
        "explain", .publishers, "Show what a request would become, or what an error code means", operands: "FILE|-|CODE",
        maximumOperands: 1,
        examples: [
            "pushfan explain request.json",
            "echo '{\"audience\":{\"users\":[\"alice\"]},\"message\":{\"title\":\"Hi\"}}' | pushfan explain -",
            "pushfan explain --user alice --title Hi", "pushfan explain --call-time 250ms request.json",
            "pushfan explain --user alice --title Hi --orders", "pushfan explain hub_throttled", "pushfan explain --codes",
        ],
        groups: [
            .selection([
                Flag("codes", nil, "List what every answer of the hub and every failed call means"),
                Flag("orders", nil, "Ask Kafka which holds and limits that stand would concern the request"),
            ]),
            FlagGroup(RequestFlags.audience.title, RequestFlags.audience.flags.filter { $0.name != "audience-file" }),
            RequestFlags.content, RequestFlags.delivery,
            FlagGroup(
                "Record",
                Flag(
                    "header", "NAME=VALUE", "A header of the record, such as ce_expirytime of a CloudEvent",
                    isRepeatable: true)),
            .output(),
            FlagGroup(
                "Estimate",
                [Flag("call-time", "TIME", "How long the hub is thought to take for a call", default: "100ms")]
                    + FlagGroup.settings([("max-in-flight", "N", "worker.max_in_flight")])),
            .kafka(
                topics: ["control"],
                and: FlagGroup.settings([("hub-name", "NAME", "hub.name"), ("user-tag", "TEXT", "hub.user_tag")])),
        ],
        readOn: "pushfan help enqueue", run: ExplainCommand.run)
}

enum ExplainCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        if invocation.arguments.has("codes") { return try codes(invocation) }
        let flag = invocation.arguments.firstGiven(of: RequestFlags.names)
        guard let subject = invocation.arguments.operands.first else {
            guard flag != nil else {
                throw .usage("nothing to explain: give a file, - for standard input, flags such as --user, or an error code")
            }
            return try explain(invocation) { (checker) throws(CommandFailure) in
                checker.check(try RequestFlags.json(invocation.arguments, now: invocation.surroundings.now()), at: "the flags")
            }
        }
        if let flag { throw .usage("--\(flag) describes a request, and so does a file; give one of the two") }
        if let code = ErrorCode(rawValue: subject) { return try explain(code, invocation) }
        if let code = APIProblem.Code(rawValue: subject) { return try explain(code, invocation) }
        if let code = APIProblem.Code.formerWords[subject] { return try explain(code, formerly: subject, invocation) }
        let looksLikeCode = subject.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
        }
        if looksLikeCode, let bytes = try? InputFile.read(subject) { return try explain(bytes, subject, invocation) }
        if looksLikeCode {
            let codes = ErrorCode.allCases.map(\.rawValue) + APIProblem.Code.allCases.map(\.rawValue)
            let nearest = Spelling.nearest(to: subject, among: codes)
            throw CommandFailure(
                .nothingMatched, "there is no error code and no file '\(subject)'",
                hint: nearest.map { "did you mean \($0)?" }
                    ?? "the codes are \(codes.joined(separator: ", "))")
        }
        return try explain(try invocation.requestFile(subject), subject, invocation)
    }

    private static func explain(_ code: ErrorCode, _ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let page = code.explanation
        let rows = VerdictTable.rows.filter { $0.verdict.code == code }
        guard invocation.arguments.format() == .table else {
            let object = JSONObject([
                "code": code.rawValue, "cause": page.cause, "effect": page.effect, "remedy": page.remedy,
                "replay": replay(code, rows), "answers": rows.map(\.subject.name),
            ])
            try invocation.streams.out(object.bytes + [UInt8(ascii: "\n")])
            return .done
        }
        try invocation.streams.out("\(code.rawValue)\n\nCause   \(page.cause)\nEffect  \(page.effect)\nRemedy  \(page.remedy)")
        try invocation.streams.out("Replay  \(replay(code, rows))")
        if !rows.isEmpty { try invocation.streams.out("\nFrom    " + rows.map(\.subject.name).joined(separator: "\n        ")) }
        return .done
    }

    /// A code of the gateway's own. A code that results have as well is explained as theirs.
    private static func explain(
        _ code: APIProblem.Code, formerly former: String? = nil, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let page = code.explanation
        guard invocation.arguments.format() == .table else {
            let object = JSONObject([
                "code": code.rawValue, "formerly": former, "cause": page.cause, "remedy": page.remedy,
                "statuses": code.statuses.map { "\($0)" },
            ])
            try invocation.streams.out(object.bytes + [UInt8(ascii: "\n")])
            return .done
        }
        let statuses = code.statuses.map { "\($0)" }.joined(separator: " or ")
        let title = code.rawValue + (former.map { " (formerly \($0))" } ?? "")
        try invocation.streams.out(
            "\(title)\n\nCause   \(page.cause)\nRemedy  \(page.remedy)\nFrom    the gateway, with status \(statuses)")
        return .done
    }

    /// The effect of a replay, in the words of results, and its preconditions.
    private static func replay(_ code: ErrorCode, _ rows: [VerdictTable.Row]) -> String {
        let ends = rows.isEmpty ? [code.outcome] : rows.map(\.verdict.outcome)
        let words = ReplaySafety.allCases.filter { word in ends.contains { ReplaySafety(of: $0, code: code) == word } }
        let text = words.map(\.rawValue).joined(separator: " or ")
        if let condition = code.replayCondition { return "left out of a plan unless \(condition)" }
        return code.repair.map { "\(text); first \($0)" } ?? text
    }

    private static func codes(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        var table = Table("ANSWER", "OUTCOME", "CODE", "RETRY", "MEANING")
        table.wrapsCells = true
        var objects: [[UInt8]] = []
        for row in VerdictTable.rows + VerdictTable.fallbackRows {
            let verdict = row.verdict
            table.add(
                row.subject.name, verdict.outcome.rawValue, verdict.code?.rawValue ?? "-", verdict.retry.rawValue, row.meaning)
            objects.add([
                "answer": row.subject.name, "outcome": verdict.outcome.rawValue, "code": verdict.code?.rawValue,
                "retry": verdict.retry.rawValue, "pauses_hub": verdict.pausesHub, "meaning": row.meaning,
            ])
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        return .done
    }

    private static func explain(
        _ bytes: [UInt8], _ name: String, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        try explain(invocation) { (checker) in
            RequestInput.read(bytes, named: name == "-" ? "standard input" : Sanitised.line(name), into: &checker)
        }
    }

    private static func explain(
        _ invocation: Invocation, _ read: (inout RequestChecker) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> ExitCode {
        let reader = StrictReader(headers: try RequestFlags.pairs("header", invocation.arguments))
        let now = invocation.surroundings.now()
        var checker = RequestChecker(now: now, reader: reader)
        try read(&checker)
        for fault in checker.faults { invocation.streams.note("pushfan explain: \(fault.text)") }
        let callTime = try invocation.arguments.duration("call-time") ?? .milliseconds(100)
        var reporter = try RequestReporter(invocation.settings(), callTime: callTime)
        let orders = invocation.arguments.has("orders") ? try standing(invocation) : nil
        var whole: PlanEstimate?
        var isGood = checker.faults.isEmpty
        var objects: [[UInt8]] = []
        for request in checker.valid {
            let report = reporter.report(on: request, read: reader, at: Timestamp(milliseconds: now))
            let found = orders.map { orders in
                orders.entries(concerning: request, as: report, read: reader, at: Timestamp(milliseconds: now))
            }
            var object = JSONObject(continuing: report.json)
            if let found { object.add("orders", array: found.map(\.order.json)) }
            objects.append(object.bytes)
            if let estimate = report.estimate {
                if whole == nil { whole = estimate } else { whole?.add(estimate) }
            }
            if let refusal = report.refusal {
                isGood = false
                invocation.streams.note("pushfan explain: \(refusal)")
            }
            if invocation.arguments.format() == .table {
                try invocation.streams.out(report.text)
                for entry in found ?? [] { try invocation.streams.out(Sanitised.line(orders?.text(entry) ?? "", atMost: 1000)) }
            }
        }
        if let whole, objects.count > 1, invocation.arguments.format() == .table {
            try invocation.streams.out("\nin all: \(whole.text)")
        }
        if invocation.arguments.format() != .table { try invocation.streams.out(invocation.arguments.format(), Table(), objects) }
        return isGood ? .done : .failed
    }

    /// The holds and limits that stand.
    private static func standing(_ invocation: Invocation) throws(CommandFailure) -> StandingOrders {
        let settings = try invocation.settings()
        let context = invocation.jobContext(settings, timeout: .seconds(10))
        let book = try invocation.perform(context.orderBook(), with: settings)
        return StandingOrders(book, now: Timestamp(milliseconds: context.now()))
    }
}

extension StandingOrders {
    /// Those that would concern a request once it is written, by the hubs that its report names.
    fileprivate func entries(
        concerning outgoing: OutgoingRequest, as report: RequestReport, read reader: StrictReader, at now: Timestamp
    ) -> [Entry] {
        guard case .sent(let sending) = report.fate else { return [] }
        var request = PushRequest()
        _ = reader.read(outgoing.json(withID: outgoing.id ?? "-"), now: now, into: &request)
        return entries(concerning: request, hubs: sending.hubs.isEmpty ? [sending.hub] : sending.hubs, lane: report.lane)
    }
}

extension OrderRecord {
    /// The order as a JSON object.
    fileprivate var json: [UInt8] {
        var writer = ByteWriter()
        append(to: &writer)
        return writer.bytes
    }
}
