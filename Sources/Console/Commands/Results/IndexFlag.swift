import Jobs
import Settings

extension Flag {
    /// The flag of the commands that can use the index.
    static let index = Flag(
        "index", "FILE",
        "Answer from an index of the results, kept in FILE or below the user's cache folder; it reads only what is new, is made when it "
            + "is not there, and can be deleted at any time", isValueOptional: true)
}

extension Invocation {
    /// Answers queries for results, from the index if a flag demands it.
    func results(_ settings: Settings, timeout: Duration) throws(CommandFailure) -> ResultAnswers {
        let context = jobContext(settings, timeout: timeout)
        guard arguments.has("index") else { return ResultAnswers(context) }
        if arguments.value("index") == "" {
            throw .usage("--index= needs a value: --index=FILE", hint: "--index alone takes a file below the user's cache folder")
        }
        return ResultAnswers(
            context, index: IndexChoice(file: arguments.value("index"), environment: surroundings.environment))
    }
}

extension IndexFlaw {
    /// The words behind the file's name.
    var text: String {
        switch self {
        case .damaged: "is damaged"
        case .otherVersion: "is of another version"
        case .otherSource: "is of another cluster or topic"
        case .otherRecords: "has records that the topic does not have"
        }
    }
}

extension IndexAbsence {
    /// A sentence without its end.
    var text: String {
        switch self {
        case .noFolder: "neither XDG_CACHE_HOME nor HOME names a folder for the index; --index=FILE does"
        case .folder(let path, let reason): "cannot make the folder \(path): \(reason)"
        case .foreign(let path):
            "\(path) is no index of pushfan, or damaged beyond recognition, and is left alone; delete it or name another file"
        case .rebuiltByAnother: "another command is rebuilding it"
        case .busy(let path): "\(path): another command is writing it"
        case .database(let path, let message): "\(path): \(message)"
        case .flawed(let path, let flaw): "\(path) \(flaw.text)"
        }
    }
}
