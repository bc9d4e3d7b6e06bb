import Basics
import Glibc
import HubStore
import JobSupport

/// The commands `hub backup` and `hub check`.
enum HubFileCommands {
    static func backUp(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let target = invocation.arguments.operands.first, target != "-" else {
            throw .usage("where to? give the path of the copy")
        }
        let hub = try ChosenHub.one(invocation)
        try hub.checkExistence()
        let isForced = invocation.arguments.has("force")
        do throws(HubFileError) { try HubFile.backUp(from: hub.path, to: target, replacingAny: isForced) } catch {
            let failure = CommandFailure(error)
            switch error {
            case .inUse, .occupied: throw CommandFailure(.refused, failure.message, hint: "give another path")
            case .noCopy: throw CommandFailure(.refused, failure.message, hint: "give another path, or replace it with --force")
            default: throw failure
            }
        }
        var table = Table(["FILE", "OF", .number("BYTES")])
        table.add(["file": target, "of": hub.path, "bytes": byteCount(of: target)])
        try invocation.out(table)
        return .done
    }

    private static func byteCount(of path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    static func check(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        var table = Table([
            "HUB", "FILE", "STATE", .number("DEVICES"), .number("REGISTRATIONS"), .number("INSTALLATIONS"), .number("UNFINISHED"),
            "PROBLEMS",
        ])
        var isGood = true
        for hub in try ChosenHub.all(invocation) {
            try hub.checkExistence()
            let report: HubFileReport
            do throws(HubFileError) { report = try HubFile.check(path: hub.path, handleKey: hub.handleKey) } catch {
                throw CommandFailure(error)
            }
            isGood = isGood && report.problems.isEmpty
            table.add([
                "hub": hub.name, "file": hub.path, "state": report.problems.isEmpty ? "ok" : "failed",
                "devices": Int(report.deviceCount), "registrations": Int(report.registrationCount),
                "installations": Int(report.installationCount), "unfinished": Int(report.unfinishedCount),
                "problems": report.problems,
            ])
        }
        try invocation.out(table)
        return isGood ? .done : .failed
    }
}
