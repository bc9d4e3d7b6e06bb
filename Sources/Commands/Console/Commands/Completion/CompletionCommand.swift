extension Command {
    static let completion = Command(
        "completion", .everyone, "Print the completion of command lines for a shell", operands: "bash|zsh|fish",
        maximumOperands: 1,
        examples: ["pushfan completion bash", "pushfan completion zsh", "pushfan completion fish | source"],
        readOn: "pushfan help", acceptsSettings: false,
        run: { (invocation) throws(CommandFailure) in
            let table = CompletionTable(invocation.program.commands)
            let script =
                switch invocation.arguments.operands.first {
                case "bash": BashCompletion(table: table).script
                case "zsh": ZshCompletion(table: table).script
                case "fish": FishCompletion(table: table).script
                case let word?: throw .usage("there is no completion for \(Sanitised.quoted(word)): bash, zsh or fish")
                case nil: throw .usage("name the shell: bash, zsh or fish")
                }
            try invocation.streams.out(Array(script.utf8))
            return .done
        })
}
