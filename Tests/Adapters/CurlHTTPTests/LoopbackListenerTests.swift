import Dispatch
import Glibc
import TestSupport
import Testing

@Suite struct LoopbackListenerTests {
    /// Tells when the thread that holds it has ended.
    private final class Held: Sendable {
        private let ended: DispatchSemaphore

        init(_ ended: DispatchSemaphore) { self.ended = ended }

        deinit { ended.signal() }
    }

    /// The next listener is made while the first one's thread is between two accepts.
    @Test func aListenerThatIsGoneTakesNoConnectionOfTheNext() throws {
        let (isServing, mayGoOn, hasEnded) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        var first: LoopbackListener? = try LoopbackListener()
        first?.start { [held = Held(hasEnded)] connection in
            close(connection)
            isServing.signal()
            withExtendedLifetime(held) { mayGoOn.wait() }
        }
        _ = try RawClient(port: Int(try #require(first?.port)))
        isServing.wait()
        first = nil
        let second = try LoopbackListener()
        let client = try RawClient(port: Int(second.port))
        mayGoOn.signal()
        #expect(hasEnded.wait(timeout: .now() + 300) == .success)
        second.start { connection in
            _ = ScriptedServer.send(connection, Array("second".utf8))
            close(connection)
        }
        #expect(withExtendedLifetime(second) { client.rest() } == Array("second".utf8))
    }
}
