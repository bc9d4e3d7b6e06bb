import Foundation
import Glibc

/// A hub that answers every request of one connection at once and alike, on a thread that allocates nothing: what is left is the
/// cost of the exchange itself.
final class CannedHub {
    private let listener: Int32
    private let thread: Thread
    private let ended = DispatchSemaphore(value: 0)
    let port: UInt16

    /// A hub that listens on a loopback port and takes one connection. Every request has the same length, head and body.
    init(requestByteCount: Int) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            Glibc.close(descriptor)
            throw reason
        }
        port = UInt16(bigEndian: address.sin_port)
        let ended = ended
        thread = Thread {
            Self.serve(descriptor, requestByteCount: requestByteCount)
            ended.signal()
        }
        thread.start()
    }

    /// Waits for the end of the thread, which comes when the connection is closed.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        ended.wait()
        Glibc.close(listener)
    }

    private static func serve(_ listener: Int32, requestByteCount: Int) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        defer { Glibc.close(connection) }
        let answer = Array("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: https://demo/demo/messages/NH-01\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var waiting = requestByteCount
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            waiting -= count
            if waiting > 0 { continue }
            waiting += requestByteCount
            guard send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { return }
        }
    }
}
