import Glibc
import Synchronization

/// Free ports of the loopback interface, below those that the system gives to clients.
enum Ports {
    /// Those that were given: a worker that was killed gets its port back, and no other process may have it meanwhile.
    private static let given = Mutex<Set<UInt16>>([])

    /// A port that nobody listens on and that was not given before, together with the given distances from it.
    ///
    /// - Throws: `SuiteError.failed` when none was found.
    static func free(neighbours: [UInt16] = []) throws -> UInt16 {
        for _ in 0..<500 {
            let port = UInt16.random(in: 10_000..<30_000)
            let ports = Set(([0] + neighbours).map { port + $0 })
            let areNew = given.withLock { given in
                guard given.isDisjoint(with: ports) else { return false }
                given.formUnion(ports)
                return true
            }
            if areNew && ports.allSatisfy(isFree) { return port }
        }
        throw SuiteError.failed("no free port was found")
    }

    private static func isFree(_ port: UInt16) -> Bool {
        guard let listener = try? Socket.listening(port: port) else { return false }
        listener.close()
        return true
    }
}
