import Basics
import Console
import EventLoop
import HTTPServing
import Observability

/// Serves `/livez`, `/readyz`, `/startupz`, `/metrics` and, for a worker, `/status`. Serves nothing else, and nothing secret.
final class ProbeServer: Sendable {
    private let server: HTTPServer

    /// A server that has not started. `listen` is like `127.0.0.1:9464`, where port 0 takes a free one. `status` writes the state
    /// of a worker's loops, as JSON.
    init(listen: String, health: Health, metrics: MetricsRegistry, status: (@Sendable () -> [UInt8])? = nil) {
        let handler: @Sendable (HTTPServerRequest) -> HTTPServerResponse = { request in
            guard request.method == "GET" || request.method == "HEAD" else {
                return HTTPServerResponse(status: 405, headers: ["Allow": "GET, HEAD"])
            }
            guard let status, request.path == "/status" else { return Self.answer(request, health: health, metrics: metrics) }
            return HTTPServerResponse(
                status: 200, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"], body: status())
        }
        server = HTTPServer(.probes(listen: listen), handler: handler)
    }

    func start() throws(HTTPServingError) -> HTTPServer.Address { try server.start() }

    /// Starts the server of a command, and says where it listens.
    func start(_ log: Log) throws(CommandFailure) {
        do throws(HTTPServingError) {
            log.info(.listening, "probes and metrics are served", [.address: .string(try start().description)])
        } catch {
            throw CommandFailure(
                .configuration, "listen: \(error)", hint: "give another address with --listen; port 0 takes a free one")
        }
    }

    func stop() { server.stop() }

    private static func answer(
        _ request: HTTPServerRequest, health: Health, metrics: MetricsRegistry
    ) -> HTTPServerResponse {
        if request.path == "/metrics" {
            var bytes: [UInt8] = []
            metrics.write(into: &bytes)
            return HTTPServerResponse(status: 200, headers: ["Content-Type": ExpositionWriter.contentType], body: bytes)
        }
        guard let probe = HealthProbe.allCases.first(where: { $0.path == request.path }) else {
            return .text("not found\n", status: 404)
        }
        let report = health.report(probe, now: MonotonicTime.now().nanoseconds)
        let isVerbose = request.query.contains { $0.name == "verbose" } || !report.passes
        return HTTPServerResponse(
            status: report.status, headers: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"],
            body: report.body(verbose: isVerbose))
    }
}
