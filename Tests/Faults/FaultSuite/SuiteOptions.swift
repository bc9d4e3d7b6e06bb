import Foundation

/// What the command line asks for.
struct SuiteOptions: Sendable {
    /// The path of `pushfan`.
    var program = ""
    /// The path of the script that starts brokers.
    var kafka = Broker.script
    /// Where everything of this run is.
    var folder = ""
    /// Whether the evidence of scenarios that passed stays, too.
    var keepsEvidence = false
    var isFast = false
    var lists = false
    var seed: UInt64 = 1
    /// Multiplies counts and times of the scenarios.
    var scale = 1.0
    var report: String?
    /// Which of how many equal parts of the scenarios to run, from 1 on.
    var part = (number: 1, of: 1)
    var names: [String] = []

    private static let fastScale = 0.2

    static let usage = """
        pushfan-faults --program PATH [--fast] [--list] [--part N/M] [--seed N] [--scale X] [--keep DIR] [--report FILE] [NAME...]

          --program PATH   the pushfan to test
          --kafka PATH     the script that starts brokers (default: \(Broker.script))
          --fast           the selection of a few minutes that CI runs
          --list           says what there is, and runs nothing
          --part N/M       every Mth scenario only, from the Nth on: so M processes share the work
          --seed N         begins everything random (default: 1)
          --scale X        multiplies counts and times (default: 1, with --fast \(fastScale))
          --keep DIR       keeps logs, journals and notes there, of scenarios that passed too; those of no earlier run
                           may be there
          --report FILE    writes the tables as Markdown

        Exit status: 0 every invariant held, 1 one did not, 2 usage, 69 no broker to be had, 130 or 143 interrupted.
        """

    /// Reads the arguments.
    ///
    /// - Throws: `SuiteError.usage`.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var chosenScale: Double?
        func value(_ flag: String) throws -> String {
            guard let value = rest.popFirst() else { throw SuiteError.usage("\(flag) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--program": program = try value(argument)
            case "--kafka": kafka = try value(argument)
            case "--fast": isFast = true
            case "--list": lists = true
            case "--part":
                let numbers = try value(argument).split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
                guard numbers.count == 2, (1...100).contains(numbers[1]), (1...numbers[1]).contains(numbers[0]) else {
                    throw SuiteError.usage("--part takes N/M, 1/1 to 100/100")
                }
                part = (numbers[0], numbers[1])
            case "--seed":
                guard let number = UInt64(try value(argument)) else { throw SuiteError.usage("--seed takes a whole number") }
                seed = number
            case "--scale":
                guard let number = Double(try value(argument)), number > 0, number <= 100 else {
                    throw SuiteError.usage("--scale takes a number over 0, at most 100")
                }
                chosenScale = number
            case "--keep":
                folder = try value(argument)
                keepsEvidence = true
            case "--report": report = try value(argument)
            default:
                guard !argument.hasPrefix("-") else { throw SuiteError.usage("there is no option \(argument)") }
                names.append(argument)
            }
        }
        scale = chosenScale ?? (isFast ? Self.fastScale : 1)
        guard lists || !program.isEmpty else { throw SuiteError.usage("--program is needed") }
        if folder.isEmpty { folder = "\(NSTemporaryDirectory())pushfan-faults-\(ProcessInfo.processInfo.processIdentifier)" }
    }

    /// What processes of ours inherit: nothing that would change what they do.
    var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PUSHFAN_") }
    }
}
