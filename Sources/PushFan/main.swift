import Console
import Glibc

let program = Program(commands: Command.builtIn)
exit(program.run(Array(CommandLine.arguments.dropFirst()), .process()).rawValue)
