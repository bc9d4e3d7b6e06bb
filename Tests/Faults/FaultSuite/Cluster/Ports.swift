import Glibc

/// Free ports of the loopback interface, below those that the system gives to clients.
enum Ports {
    /// A port that nobody listens on, together with the given distances from it.
    ///
    /// - Throws: `SuiteError.failed` when none was found.
    static func free(neighbours: [UInt16] = []) throws -> UInt16 {
        for _ in 0..<500 {
            let port = UInt16.random(in: 10_000..<30_000)
            if ([0] + neighbours).allSatisfy({ isFree(port + $0) }) { return port }
        }
        throw SuiteError.failed("no free port was found")
    }

    private static func isFree(_ port: UInt16) -> Bool {
        guard let listener = try? Socket.listening(port: port) else { return false }
        listener.close()
        return true
    }
}
