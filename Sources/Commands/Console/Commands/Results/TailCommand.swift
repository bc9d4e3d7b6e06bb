import Delivery
import JobSupport
import Kafka
import Publishing
import ResultQuery
import Results
import Settings

/// `pushfan results tail`.
enum TailCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let filter = try invocation.filterOfResults(invocation.arguments.operands)
        guard filter.until == nil else { throw .usage("what comes has no end; `pushfan results list` knows until:") }
        let limit = try invocation.arguments.integer("limit", in: 1...Int.max) ?? .max
        let (settings, context) = try invocation.job()
        let scan = ResultAnswers(context).scan
        Interruption.catchSignals()
        let reader = try invocation.perform(scan.open(filter.since.map { .time($0) } ?? .end, .never), with: settings)
        defer { reader.close() }
        invocation.streams.note("following \(settings.kafka.topics.results); Ctrl-C ends it")
        if invocation.arguments.format() == .csv { try invocation.streams.out(ResultTable.of([]).csv[0]) }
        return try follow(reader, filter, limit, invocation) { error in
            invocation.failure(error, settings.kafka, to: "read \(scan.topic)")
        }
    }

    private static func follow(
        _ reader: TopicReader, _ filter: ResultFilter, _ limit: Int, _ invocation: Invocation,
        _ failure: (KafkaError) -> CommandFailure
    ) throws(CommandFailure) -> ExitCode {
        var matcher = ResultMatcher(filter)
        var count = 0
        while count < limit {
            if Interruption.isRequested { return Interruption.exitCode }
            var found: ResultRecord?
            let result = reader.read(timeout: .milliseconds(100)) { record in
                guard let value = record.value, matcher.matches(value, writtenAt: record.timestamp ?? 0) else { return }
                found = ResultRecord(record)
            }
            if case .error(let error) = result, error.isAuthorization || error.isFatal { throw failure(error) }
            if let found {
                count += 1
                try show(found, invocation)
            }
            if result == .empty || reader.hasReachedEnd { try invocation.streams.flush() }
        }
        return .done
    }

    private static func show(_ record: ResultRecord, _ invocation: Invocation) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide:
            try invocation.streams.out(ResultTable.line(record, isWide: format == .wide, invocation.streams.traits))
        case .csv: try invocation.streams.out(ResultTable.of([record]).csv[1])
        case .json, .ndjson: try invocation.streams.out(record.line + [UInt8(ascii: "\n")])
        }
    }
}
