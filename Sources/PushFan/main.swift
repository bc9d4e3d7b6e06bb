import Bench
import Console
import EventLoop
import Glibc

// A reader that goes away shows as an error of the write, not as a signal.
signal(SIGPIPE, SIG_IGN)
FreedMemory.goesBackToTheSystem()
let program = Program(commands: Command.builtIn + [.worker, .gateway, .demo, .bench], build: .ofProgram)
exit(program.run(Array(CommandLine.arguments.dropFirst()), .process()).rawValue)
