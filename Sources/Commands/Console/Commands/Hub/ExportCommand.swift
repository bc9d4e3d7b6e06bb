import Basics
import HubServer
import HubStore
import JobSupport

/// The command `hub export`.
enum ExportCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let target = invocation.arguments.operands.first else {
            throw .usage("where to? give a file, or - for standard output")
        }
        let hub = try ChosenHub.one(invocation)
        try hub.checkExistence()
        Interruption.catchSignals()
        let devices: StoredDevices
        do throws(HubFileError) { devices = try StoredDevices(path: hub.path, handleKey: hub.handleKey) } catch {
            throw CommandFailure(error)
        }
        var export = RegistrationExport(of: devices)
        guard target != "-" else {
            try write(&export, for: invocation) { line throws(CommandFailure) in
                try invocation.streams.outAsItIs(line + [UInt8(ascii: "\n")])
            }
            invocation.streams.note(Counted.text(export.count, "registration", "registrations"))
            return .done
        }
        let file = try invocation.perform(LineFile(target), with: nil)
        try write(&export, for: invocation) { line throws(CommandFailure) in file.add(line) }
        try invocation.perform(file.finish(), with: nil)
        var table = Table(["FILE", .number("REGISTRATIONS")])
        table.add(["file": target, "registrations": export.count])
        try invocation.out(table)
        return .done
    }

    private static func write(
        _ export: inout RegistrationExport, for invocation: Invocation, to write: ([UInt8]) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var progress = ProgressPace(invocation.streams)
        defer { progress.end() }
        do {
            while let lines = try export.nextLines() {
                for line in lines { try write(line) }
                if Interruption.isRequested { throw CommandFailure(Interruption.exitCode, "interrupted") }
                progress.show { "\(export.count) registrations written" }
            }
        } catch let refusal as RefusedCall {
            throw CommandFailure(refusal)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.failed, "\(error)")
        }
    }
}

extension CommandFailure {
    /// The failure of a hub's file while a command uses it.
    init(_ refusal: RefusedCall) {
        self.init(.failed, Sanitised.line(refusal.answer.detail ?? "the hub's file does not answer", atMost: 1024))
    }
}
