import EventLoop
import Glibc
import HTTPServing
import HubService
import HubStore

/// The hub whose file a command works on.
struct ChosenHub {
    /// The name, as the file of hubs has it. Nil for a hub that is named by its file.
    let name: String?
    /// The file.
    let path: String
    /// The key of the handles in it.
    let handleKey: [UInt8]?

    private init(name: String?, path: String, handleKeyFile: String?) throws(CommandFailure) {
        (self.name, self.path) = (name, path)
        handleKey = try handleKeyFile.map { path throws(CommandFailure) in
            do throws(FileError<HandleKeyFile.Reason>) { return try FileStore<HandleKeyFile>(path).read().key } catch {
                // The path is not shown: a key may stand in its place.
                throw CommandFailure(.configuration, "--handle-key-file: the file \(error)")
            }
        }
    }

    /// Opens the file for this process alone.
    ///
    /// - Parameters:
    ///   - other: The way to do the same while the hub runs.
    ///   - hint: The remedy where there is no file.
    /// - Returns: The file, which is there.
    /// - Throws: `temporary` while a hub runs on it, `configuration` for a file that is none of a hub's or not there.
    func open(else other: String, hint: String? = nil) throws(CommandFailure) -> HubFile {
        try checkExistence(hint: hint)
        do throws(HubFileError) { return try HubFile(HubFileTerms(path: path, handleKey: handleKey)) } catch {
            let failure = CommandFailure(error)
            guard case .inUse = error else { throw failure }
            throw CommandFailure(.temporary, failure.message, hint: "stop the hub first; while it runs, use \(other)")
        }
    }

    /// Makes the file, which is not there yet, for this process alone.
    func make() throws(CommandFailure) -> HubFile {
        guard access(path, F_OK) != 0 else {
            throw CommandFailure(
                .configuration, "the hub's file \(Sanitised.quoted(path)) is there already",
                hint: "leave out --new to import into it")
        }
        do throws(HubFileError) { return try HubFile(HubFileTerms(path: path, handleKey: handleKey)) } catch {
            throw CommandFailure(error)
        }
    }

    /// Makes sure that there is a file: a hub's is made by the hub, and by an import with `--new`.
    func checkExistence(hint: String? = nil) throws(CommandFailure) {
        guard access(path, F_OK) == 0 else {
            let (hint, reason) = (errno == ENOENT ? hint : nil, String(cString: strerror(errno)))
            throw CommandFailure(
                .configuration, "the hub's file \(Sanitised.quoted(path)) cannot be used: \(reason)", hint: hint)
        }
    }
}

extension ChosenHub {
    /// The one hub that flags name.
    static func one(_ invocation: Invocation) throws(CommandFailure) -> ChosenHub {
        let all = try all(invocation)
        guard let first = all.first, all.count == 1 else {
            throw .usage("which hub? name it with --hub", hint: all.compactMap(\.name).joined(separator: ", "))
        }
        return first
    }

    /// The hub that flags name, or all of the file of hubs.
    static func all(_ invocation: Invocation) throws(CommandFailure) -> [ChosenHub] {
        let arguments = invocation.arguments
        guard let file = arguments.value("hubs-file") else {
            if arguments.has("hub") { throw .usage("--hub names a hub of --hubs-file; a file is named by --state") }
            let path = arguments.value("state") ?? HubArguments.stateDefault
            return [try ChosenHub(name: nil, path: path, handleKeyFile: invocation.handleKeyFile)]
        }
        if let flag = arguments.firstGiven(of: ["state", "handle-key-file"]) {
            throw .usage("--\(flag) is not for --hubs-file, which has it")
        }
        let wanted = arguments.value("hub")
        let hubs = try HubArguments.hubs(inFile: file).hubs.filter { wanted?.equalsIgnoringCase($0.name) ?? true }
        guard !hubs.isEmpty else {
            let name = Sanitised.quoted(wanted ?? "")
            throw CommandFailure(.nothingMatched, "there is no hub \(name) in \(Sanitised.quoted(file))")
        }
        return try hubs.map { hub throws(CommandFailure) in
            try ChosenHub(name: hub.name, path: hub.state, handleKeyFile: hub.handleKeyFile)
        }
    }
}

extension CommandFailure {
    /// The reason for which a hub's file cannot be used.
    init(_ error: HubFileError) {
        let code: ExitCode = if case .disk = error { .temporary } else { .configuration }
        self.init(code, Sanitised.line("\(error)", atMost: 1024))
    }
}
