import Console
import EventLoop
import Foundation
import HTTPServing

/// A receiver of callbacks in this process, and `pushfan callbacks`, which calls it for each result.
final class DemoCallbacks {
    private let receiver: HTTPServer
    private let process: DemoProcess
    /// The file to which the receiver adds a line for each result.
    private let taken: FileHandle
    /// The folder with the file of receivers, and with the lines of what was taken.
    let folder = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString)"

    /// Starts both. The main thread calls it: see `DemoProcess`.
    init(_ environment: [String: String]) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Self.make("taken", in: folder, content: "")
        guard let taken = FileHandle(forWritingAtPath: folder + "/taken") else { throw Self.failure(folder) }
        self.taken = taken
        receiver = HTTPServer { [descriptor = taken.fileDescriptor] request in
            _ = FileDescriptor.write(Array(Self.line(of: request.body).utf8), to: descriptor)
            return HTTPServerResponse(status: 204)
        }
        try Self.make("receivers.yaml", in: folder, content: Self.receivers(url: "http://\(try receiver.start())/results"))
        process = try DemoProcess(
            "callbacks",
            environment: environment.merging(["PUSHFAN_CALLBACKS_RECEIVERS_FILE": folder + "/receivers.yaml"]) { $1 })
        try process.wait(until: #""event":"listening""#)
    }

    deinit {
        process.kill()
        receiver.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The receivers' file. Its secret is a text that everybody knows: nothing leaves this machine.
    private static func receivers(url: String) -> String {
        """
        allow_plain: true
        allowed_networks: [127.0.0.0/8]
        receivers:
          - name: demo
            url: \(url)
            secrets: [whsec_\(Data("the demo keeps no secret".utf8).base64EncodedString())]

        """
    }

    /// The line of a result: its kind, its state, and the request's id.
    private static func line(of body: [UInt8]) -> String {
        let result = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        return ["kind", "state", "request_id"].map { result?[$0] as? String ?? "-" }.joined(separator: " ") + "\n"
    }

    private static func make(_ name: String, in folder: String, content: String) throws {
        guard
            FileManager.default.createFile(
                atPath: "\(folder)/\(name)", contents: Data(content.utf8), attributes: [.posixPermissions: 0o600])
        else { throw failure(folder) }
    }

    private static func failure(_ folder: String) -> CommandFailure { CommandFailure(.failed, "\(folder) cannot be written") }
}
