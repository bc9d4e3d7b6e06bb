import Foundation
import Glibc
import Synchronization
import TestSupport

/// A TCP server on a free loopback port whose connections do what their scripts say, each on a thread of its own.
final class ScriptedServer: Sendable {
    enum Step: Sendable {
        /// Reads one whole request with its body.
        case request
        /// Reads at least so many bytes.
        case bytes(Int)
        /// Reads until the client closes.
        case untilClosed
        case send(String)
        /// Sends byte by byte.
        case drip(String)
        case close
        /// Says that no more will come, and goes on reading.
        case finish
        /// Closes with RST instead of FIN.
        case reset
        /// Waits until the test opens the gate of this number.
        case gate(Int)
        /// Opens a gate.
        case open(Int)
    }

    private let listener: LoopbackListener
    private let state: Mutex<State>
    private let gateOpened = NSCondition()
    private let scripts: @Sendable (Int) -> [Step]

    private struct State {
        var accepted = 0
        var closed = 0
        var requests: [String] = []
        var gates: Set<Int> = []
        var sockets: Set<Int32> = []
    }

    /// Serves connection n with `scripts(n)`; after the script the connection is closed.
    init(backlog: Int32 = 512, _ scripts: @escaping @Sendable (Int) -> [Step]) throws {
        self.scripts = scripts
        state = Mutex(State())
        listener = try LoopbackListener(backlog: backlog)
        listener.start { [weak self] socket in
            guard let self else { return _ = close(socket) }
            serve(socket)
        }
    }

    convenience init(_ scripts: [[Step]]) throws {
        try self.init { $0 < scripts.count ? scripts[$0] : [.reset] }
    }

    deinit {
        state.withLock { state in for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    var port: UInt16 { listener.port }
    var accepted: Int { state.withLock { $0.accepted } }
    /// How many connections this side has closed; on loopback the other one has been told by then.
    var closed: Int { state.withLock { $0.closed } }
    var requests: [String] { state.withLock { $0.requests } }

    func open(gate: Int) {
        state.withLock { _ = $0.gates.insert(gate) }
        gateOpened.lock()
        gateOpened.broadcast()
        gateOpened.unlock()
    }

    private func waitFor(gate: Int) -> Bool {
        gateOpened.lock()
        defer { gateOpened.unlock() }
        let deadline = Date(timeIntervalSinceNow: Double(farDeadline.components.seconds))
        while !isOpen(gate: gate) { if !gateOpened.wait(until: deadline) { return isOpen(gate: gate) } }
        return true
    }

    func isOpen(gate: Int) -> Bool {
        state.withLock { $0.gates.contains(gate) }
    }

    private func serve(_ socket: Int32) {
        let number = state.withLock { state in
            state.sockets.insert(socket)
            state.accepted += 1
            return state.accepted - 1
        }
        let steps = scripts(number)
        Thread.detachNewThread { [weak self] in
            var buffer: [UInt8] = []
            for step in steps {
                guard let server = self, server.perform(step, on: socket, &buffer) else { break }
            }
            self?.state.withLock { _ = $0.sockets.remove(socket) }
            close(socket)
            self?.state.withLock { $0.closed += 1 }
        }
    }

    /// Returns false when the script ends.
    private func perform(_ step: Step, on socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        switch step {
        case .request:
            while true {
                if let end = Self.requestEnd(buffer) {
                    let request = String(decoding: buffer[..<end], as: UTF8.self)
                    buffer.removeSubrange(..<end)
                    state.withLock { $0.requests.append(request) }
                    return true
                }
                if !Self.receive(socket, &buffer) { return false }
            }
        case .bytes(let count):
            while buffer.count < count { if !Self.receive(socket, &buffer) { return false } }
            return true
        case .untilClosed:
            while Self.receive(socket, &buffer) {}
            return true
        case .send(let text): return Self.send(socket, Array(text.utf8))
        case .drip(let text):
            var on: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            return text.utf8.allSatisfy { Self.send(socket, [$0]) }
        case .close: return false
        case .finish: return shutdown(socket, Int32(SHUT_WR)) == 0
        case .reset:
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
            return false
        case .gate(let gate):
            return waitFor(gate: gate)
        case .open(let gate):
            open(gate: gate)
            return true
        }
    }

    private static func receive(_ socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &piece, piece.count, 0)
        if count > 0 { buffer.append(contentsOf: piece[..<count]) }
        return count > 0
    }

    static func send(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    private static func requestEnd(_ buffer: [UInt8]) -> Int? {
        guard let head = buffer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let text = String(decoding: buffer[..<head.lowerBound], as: UTF8.self)
        let length = text.components(separatedBy: "Content-Length: ").dropFirst().first?.prefix { $0.isNumber }
        let end = head.upperBound + Int(length.flatMap { UInt32($0) } ?? 0)
        return buffer.count >= end ? end : nil
    }
}
