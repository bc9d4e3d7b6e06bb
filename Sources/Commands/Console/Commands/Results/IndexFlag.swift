import JobSupport
import Results

extension Flag {
    /// The flag of the commands that can use the index.
    static let index = Flag(
        "index", "FILE",
        "Answer from an index of the results, kept in FILE or below the user's cache folder; it reads only what is new, is made when it "
            + "is not there, and can be deleted at any time", isValueOptional: true)
}

extension Invocation {
    /// Answers queries for results, from the index if a flag demands it.
    func results(_ context: JobContext) throws(CommandFailure) -> ResultAnswers {
        guard arguments.has("index") else { return ResultAnswers(context) }
        if arguments.value("index") == "" {
            throw .usage("--index= needs a value: --index=FILE", hint: "--index alone takes a file below the user's cache folder")
        }
        return ResultAnswers(
            context, index: IndexChoice(file: arguments.value("index"), environment: surroundings.environment))
    }
}
