import Console
import Dispatch
import HubEmulator
import Kafka
import Keys
import PushModel

extension Command {
    /// `pushfan sandbox`: all that the tests of a service need, until a signal comes.
    static let sandbox = Command(
        "sandbox", .everyone, "Run broker, hub, worker and gateway in one process, for the tests of your service",
        examples: ["pushfan sandbox", "pushfan sandbox -o json", "pushfan sandbox --port 8080"],
        groups: [
            FlagGroup("Sandbox", Flag("port", "N", "The gateway's port; 0 takes a free one", default: "0")),
            .output([.table, .json]),
        ],
        readOn: "pushfan help testing", acceptsSettings: false,
        run: { (invocation) throws(CommandFailure) in
            let port = try invocation.arguments.integer("port", in: 0...65_535) ?? 0
            do {
                let ended = DispatchSemaphore(value: 0)
                let signals = try SignalHandler { ended.signal() }
                defer { signals.cancel() }
                let sandbox = try Sandbox(port: port)
                defer { sandbox.close() }
                try sandbox.write(to: invocation.streams, as: invocation.arguments.format())
                ended.wait()
                return .done
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(.failed, "the sandbox cannot start: \(error)")
            }
        })
}

/// The embedded parts with their addresses.
private final class Sandbox {
    private let parts: EmbeddedParts
    private let faults: GatewayFaults

    /// Starts all, and waits until a request that is published is sent.
    init(port: Int) throws {
        faults = try GatewayFaults()
        parts = try EmbeddedParts(
            EmbeddedParts.Terms(
                name: "sandbox", isAlone: true,
                gateway: DemoGateway.Terms(
                    listen: "127.0.0.1:\(port)", scopes: Set(Scope.allCases), intercept: faults.intercept)))
        try parts.waitUntilReady()
    }

    /// Writes where everything is, as lines or as one JSON object.
    func write(to streams: Streams, as format: OutputFormat) throws {
        let rows = [
            ("bootstrap", parts.cluster.bootstrapServers), ("gateway", parts.gateway.url), ("page", parts.gateway.page),
            ("hub", parts.hubURL), ("hub_faults", parts.hubURL + "/faults"),
            ("gateway_faults", "http://\(faults.address)/faults"),
            ("key", parts.gateway.key), ("connection_string", parts.hub.connectionString), ("hub_name", "demo"),
        ]
        if format == .json {
            var object = JSONObject()
            for (name, value) in rows { object.add(name, value: value) }
            try streams.out(String(decoding: object.bytes, as: UTF8.self))
        } else {
            for (name, value) in rows { try streams.out(DemoText.padded(name, to: 19) + value) }
            try streams.out("Ctrl-C ends it.")
        }
        try streams.flush()
    }

    func close() {
        parts.close()
        faults.stop()
    }
}
