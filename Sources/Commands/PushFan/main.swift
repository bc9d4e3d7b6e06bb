import Bench
import Console
import EventLoop
import Glibc
import Kafka

// A reader that goes away shows as an error of the write, not as a signal.
signal(SIGPIPE, SIG_IGN)
FreedMemory.goesBackToTheSystem()
let program = Program(
    commands: Command.builtIn + [.worker, .gateway, .callbacks, .hub, .demo, .sandbox, .bench, .size], build: .ofProgram)
let code = program.run(Array(CommandLine.arguments.dropFirst()), .process()).rawValue
if KafkaLibrary.unfreedCount > 0 {
    // Threads of the library still work, and must not meet what an exit takes away.
    fflush(nil)
    _exit(code)
}
exit(code)
