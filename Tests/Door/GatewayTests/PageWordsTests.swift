@testable import OperatorAPI
@testable import Replays
@testable import Results
import Delivery
import EventLoop
import Foundation
import Keys
import Outcomes
import PushModel
import Replay
import ResultQuery
import Testing
import WebFiles

@testable import WorkerRuntime

/// What the web page says of the program's words: its modules and Swift name the same ones.
@Suite struct PageWordsTests {
    private static func source(_ name: String) throws -> String {
        let file = try #require(try WebFile.all().first { $0.name == name })
        return String(decoding: file.plain.bytes, as: UTF8.self)
    }

    /// The part of a module that a pattern has within parentheses.
    private static func part(_ pattern: String, of file: String) throws -> String {
        let match = try #require(try source(file).firstMatch(of: Regex(pattern)), "\(file) has no \(pattern)")
        return String(try #require(match.output[1].substring))
    }

    /// The names of a constant that is an object, none of which stands there twice.
    private static func names(_ constant: String, of file: String) throws -> [String] {
        let text = try source(file).replacing(#/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/#, with: "")
        let table = try #require(try text.firstMatch(of: Regex("const \(constant) = \\{([^}]*)\\}"))?.output[1].substring)
        let names = table.matches(of: #/(\w+):/#).map { String($0.output.1) }
        #expect(Set(names).count == names.count, "\(constant) of \(file): \(names)")
        return names.sorted()
    }

    /// The texts of a constant that is a list.
    private static func texts(_ constant: String, of file: String) throws -> [String] {
        let list = try part("const \(constant) = \\[([^\\]]*)\\]", of: file)
        return list.matches(of: #/'([^']*)'/#).map { String($0.output.1) }
    }

    private static func words<Word: CaseIterable & RawRepresentable<String>>(_ type: Word.Type) -> [String] {
        type.allCases.map(\.rawValue)
    }

    /// Tables of modules, and the words that they are of.
    static let tables: [(file: String, constant: String, words: [String])] = [
        ("replays.js", "leftWords", words(Leftover.self) + ["uncounted"]),
        ("replays.js", "openWords", ["planned"] + words(JobRecord.State.self).filter { !["running", "paused"].contains($0) }),
        ("overview.js", "lanes", History.LaneBacklog.names),
        ("request.js", "tones", words(Verdict.Code.self)), ("request.js", "safeties", words(ReplaySafety.self)),
        ("failures.js", "safeties", words(ReplaySafety.self)),
        ("request.js", "places", words(RequestWhereabouts.State.self).filter { $0 != "in_parts" }),
        ("requests.js", "wheres", words(OpenState.self) + ["done"]),
        (
            "requests.js", "names",
            words(ResultField.self) + words(Sought.Subject.self).filter { !$0.isEmpty } + ["since", "until"]
        ),
    ]

    @Test(arguments: tables) func aTableHasEachWordAndNoOther(file: String, constant: String, words: [String]) throws {
        #expect(try Self.names(constant, of: file) == words.sorted())
    }

    /// The words of states that are neither good nor bad.
    private static let soft: Set = [
        "scheduled", "cancelled", "duplicate", "published", "in_work", "delayed", "held", "in_parts", "stopped", "Enqueued",
        "DetailedStateAvailable", "Scheduled", "Processing", "Completed", "NoTargetFound", "Canceled",
    ]

    @Test func eachStateHasAToneUnlessItIsSoft() throws {
        let circuits = [CircuitBreaker.State.closed, .halfOpen, .open(until: .now())].map(\.name)
        let all = Set(
            Self.words(ResultState.self) + Self.words(OpenState.self) + Self.words(Outcome.self)
                + Self.words(JobRecord.State.self)
                + Self.words(Membership.Mode.self) + circuits + NotificationState.documented.map(\.word))
        #expect(try Self.names("tones", of: "kit.js") == all.subtracting(Self.soft).sorted())
        #expect(Self.soft.isSubset(of: all))
    }

    @Test func aFieldOfAFilterHasItsMeaningAndItsWords() throws {
        let errors = try Self.part(#"const errors = ([\s\S]*?)\n\n"#, of: "requests.js").matches(of: #/'([^']*)'/#)
            .map(\.output.1).joined().split(separator: " ").map(String.init)
        #expect(errors.sorted() == Self.words(ErrorCode.self).sorted())
        let source = try Self.source("requests.js")
        for field in ResultField.allCases {
            let row = try Regex("\\n  \(field.rawValue): \\[(['\"])(.*?)\\1(?:, (.*))?\\],\\n")
            let match = try #require(source.firstMatch(of: row), "\(field)").output
            #expect(match[2].substring.map(String.init) == field.summary.split(separator: ";").first.map(String.init))
            guard case .words(let words) = field.values, field != .error else { continue }
            let shown = match[3].substring?.split(separator: "'").first?.split(separator: " ").map(String.init)
            let all = field == .state ? Self.words(ResultState.self) + OpenState.words : words
            #expect(shown?.sorted() == all.sorted())
        }
        let kinds = try Self.part("\\n  to: \\['to whom it went', '([^']*)'\\]", of: "requests.js").split(separator: " ")
        #expect(kinds.map(String.init).sorted() == Self.words(AudienceSummary.Kind.self).sorted())
    }

    @Test func listsAndNumbersAreThoseOfTheProgram() throws {
        #expect(try Self.part("const unasked = (\\d+)", of: "replays.js") == "\(PreparedReplay.unaskedCount)")
        #expect(
            try Self.texts("usual", of: "replays.js").joined(separator: " ") == PlanMaker.narrowed(ResultFilter()).description)
        #expect(try Self.texts("failing", of: "failures.js") == FailureReport.states.map(\.rawValue))
        let counts = String(decoding: ScopeCounts().json, as: UTF8.self).matches(of: #/"(\w+)":\d/#).map { String($0.output.1) }
        #expect(try Self.names("words", of: "holds.js") == counts.sorted())
        let statuses = try Self.part("const unanswered = \\[([\\d, ]*)\\]", of: "view.js").split(separator: ", ")
        #expect(statuses.compactMap { Int64($0) } == ResultCalls.statusesWithoutAnswer.sorted())
    }

    @Test func eachStateAtWorkIsOneOfAReplayThatIsNotOver() throws {
        let header = ReplayPlanHeader(jobID: "j", createdAt: Timestamp(milliseconds: 0), filter: "", actor: "a")
        let standings: [ReplayRuns.Standing.State] = [.starting, .running, .paused]
        let words = standings.map { ReplayJSON(ReplayReport(header, job: nil, now: 0), standing: .init(state: $0)).state }
        #expect(try Self.texts("atWork", of: "replays.js") == words)
    }

    @Test func eachScopeThatAControlNeedsIsOne() throws {
        for file in try WebFile.all().map(\.name) where file.hasSuffix(".js") {
            for match in try Self.source(file).matches(of: #/(?:may|needs)\('([^']*)'/#) {
                #expect(Scope(rawValue: String(match.output.1)) != nil, "\(match.output.0) in \(file)")
            }
        }
    }
}
