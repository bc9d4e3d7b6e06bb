import Basics
import EventLoop
import Glibc
import HubServer
import HubStore
import JobSupport
import PushModel

/// The command `hub import`.
struct ImportCommand {
    /// Faulty lines that are named.
    private static let mostNamed = 1000
    private static let pieceByteCount = 64 << 10
    private static let kinds = ["create": HubJob.Kind.create, "update": .update, "delete": .delete]

    private let invocation: Invocation
    private let path: String
    private let isTrial: Bool
    private let reader: RegistrationImport
    private let devices: any DeviceStore
    private var doneCount = 0
    private var failedCount = 0
    private var failed: [(line: Int, problem: String)] = []

    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let path = invocation.arguments.operands.first else {
            throw .usage("which registrations? give a file, or - for standard input")
        }
        let given = kinds.keys.sorted().filter(invocation.arguments.has)
        guard given.count <= 1 else { throw .usage("do one thing: --\(given.joined(separator: " or --"))") }
        let isNew = invocation.arguments.has("new")
        if isNew, invocation.arguments.has("dry-run") { throw .usage("--dry-run writes nothing: leave out --new") }
        // A file that is made for nothing would be in the way of the next try.
        guard path == "-" || access(path, R_OK) == 0 else { throw InputFile.failure(path) }
        let hub = try ChosenHub.one(invocation)
        let file: HubFile?
        if invocation.arguments.has("dry-run"), access(hub.path, F_OK) != 0, errno == ENOENT {
            file = nil
            invocation.streams.note("there is no file \(Sanitised.quoted(hub.path)) yet; --new makes it")
        } else {
            file = isNew ? try hub.make() : try hub.open(else: "a bulk job of its API", hint: "--new makes it")
        }
        defer { file?.close() }
        Interruption.catchSignals()
        let devices: any DeviceStore = file.map(FileDevices.init) ?? MemoryDevices()
        var command = ImportCommand(path, kind: given.first.flatMap { kinds[$0] } ?? .create, to: devices, for: invocation)
        try command.takeLines()
        return try command.report()
    }

    private init(_ path: String, kind: HubJob.Kind, to devices: any DeviceStore, for invocation: Invocation) {
        (self.path, self.devices, self.invocation) = (path, devices, invocation)
        isTrial = invocation.arguments.has("dry-run")
        reader = RegistrationImport(kind, at: invocation.surroundings.now())
    }

    /// Imports the lines, some in each change.
    private mutating func takeLines() throws(CommandFailure) {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InputFile.failure(path) }
        defer { close(descriptor) }
        var progress = ProgressPace(invocation.streams)
        defer { progress.end() }
        var (portions, isOver) = (ImportPortions(for: reader), false)
        while !isOver {
            guard let piece = InputFile.readPiece(descriptor, atMost: Self.pieceByteCount) else { throw InputFile.failure(path) }
            isOver = piece.isEmpty
            for lines in portions.cut(piece) {
                if Interruption.isRequested { throw interruption }
                try take(lines)
                progress.show { "\(doneCount) lines done, \(failedCount) failed" }
            }
        }
    }

    private mutating func take(_ lines: [RegistrationImport.Line]) throws(CommandFailure) {
        let outcomes: [RegistrationImport.Outcome]
        do throws(RefusedCall) { outcomes = try perform(lines) } catch { throw CommandFailure(error) }
        for outcome in outcomes {
            guard case .failure(let fault) = outcome.result else {
                doneCount += 1
                continue
            }
            failedCount += 1
            if failed.count < Self.mostNamed { failed.append((outcome.number, fault.answer.detail ?? "")) }
        }
    }

    private func perform(_ lines: [RegistrationImport.Line]) throws(RefusedCall) -> [RegistrationImport.Outcome] {
        let write = { @Sendable [reader] (book: any DeviceBook) throws(RefusedCall) in
            var identifiers = HubIdentifiers(seed: .random(in: .min ... .max))
            return try reader.perform(lines, on: book, makeID: { identifiers.registrationID() })
        }
        guard isTrial else { return try devices.change(write) }
        return try devices.read { (book) throws(RefusedCall) in try write(TrialBook(over: book)) }
    }

    private var interruption: CommandFailure {
        CommandFailure(
            Interruption.exitCode, "interrupted; \(doneCount) lines are done, \(failedCount) failed",
            hint: "lines that were done stay so")
    }

    private func report() throws(CommandFailure) -> ExitCode {
        var table = Table([.number("LINE"), "PROBLEM"])
        for line in failed { table.add(["line": line.line, "problem": line.problem]) }
        var object = JSONObject([
            "file": path, "dry_run": isTrial, "done": doneCount, "failed": failedCount,
        ])
        object.add("problems", array: table.objects)
        try invocation.streams.out(invocation.arguments.format(), table, [object.bytes])
        let named = failedCount > failed.count ? "; the first \(failed.count) are named" : ""
        invocation.streams.note("\(doneCount) lines \(isTrial ? "can be done" : "done"), \(failedCount) failed\(named)")
        return failedCount == 0 ? .done : .partlyFailed
    }
}
