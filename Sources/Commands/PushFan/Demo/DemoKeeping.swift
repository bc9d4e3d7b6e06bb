import Console
import Dispatch
import Foundation
import Kafka

/// Leaves everything running until a signal comes, and prints the possible next steps.
struct DemoKeeping {
    let stage: DemoStage
    let streams: Streams

    func wait() throws {
        let traffic = try DemoTraffic(stage: stage)
        defer { traffic.close() }
        let ended = DispatchSemaphore(value: 0)
        let signals = try SignalHandler { ended.signal() }
        defer { signals.cancel() }
        let field = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString).txt"
        defer { try? FileManager.default.removeItem(atPath: field) }
        let token = try DemoNews.token(stage.emulatorURL, policy: DemoStage.sendPolicy, lifetime: 86_400)
        guard
            FileManager.default.createFile(
                atPath: field, contents: Data("Authorization: \(token)\n".utf8), attributes: [.posixPermissions: 0o600])
        else { throw CommandFailure(.failed, "\(field) cannot be written") }
        let callbacks = try DemoCallbacks(stage.environment)
        let probes = "http://\(try stage.worker.serveProbes())"
        try streams.out(words(tokenFile: field, probes: probes, south: traffic.hubURL, folder: callbacks.folder))
        try streams.flush()
        try withExtendedLifetime(callbacks) { try traffic.play(until: ended) }
    }

    private func words(tokenFile: String, probes: String, south: String, folder: String) -> String {
        let (hub, api) = (stage.emulatorURL, "\(stage.gateway.url)/api")
        return """

            Everything but the killed worker is still running, and a few requests come
            each second. A second hub, south, is out for a minute. The page shows it,
            what failed of it, and replays that:

              \(stage.gateway.page)
              key  \(stage.gateway.key)

            South goes out for another minute with this:

              curl -s \(south)/faults -d 'outage=1m,status=503'

            In another terminal:

              export PUSHFAN_KAFKA_BOOTSTRAP_SERVERS=\(stage.cluster.bootstrapServers)
              pushfan enqueue --user alice --title Hello --body 'from over there' --wait
              pushfan results list request:demo-1
              pushfan results show demo-1
              curl -s \(hub)/devices
              curl -s -X PUT \(hub)/faults -d '["status=429,count=3"]'
              curl -s \(probes)/metrics

            An app registers a phone of fay's, and gus sends to her:

              api=\(api)
              id=$(curl -s -u fay:fay -X POST "$api/register?handle=C0FFEE00" | tr -d '"')
              curl -s -u fay:fay -X PUT $api/register/$id \\
                --json '{"Platform":"apns","Handle":"C0FFEE00","Tags":[]}'
              curl -s -u gus:gus "$api/notifications?pns=apns&to_tag=fay" --json '"Hello"'
              curl -s -u gus:gus "$api/notifications?secure=true&to_tag=fay" --json '"4711"'
              secret=$(curl -s \(hub)/devices | grep -o 'secureId[^}]*' |
                grep -o '[A-Za-z0-9_-]\\{38\\}' | tail -n 1)
              curl -s -u fay:fay $api/notifications/$secret

            A back end publishes with a key. The same call again sends nothing twice:

              curl -s \(stage.gateway.url)/v1/requests \
                -H 'Authorization: Bearer \(stage.gateway.key)' \
                -H 'Idempotency-Key: order-4711' \
                --json '{"audience":{"users":["alice"]},"message":{"title":"Hi"}}'

            A receiver hears of each result by a signed callback, and adds a line to a file:

              cd \(folder)
              tail -n 3 taken
              export PUSHFAN_CALLBACKS_RECEIVERS_FILE=receivers.yaml
              pushfan callbacks list

            A sender with a key of the hub sends to a category:

              curl -s '\(hub)/demo/messages?api-version=2020-06' \\
                -H 'ServiceBusNotification-Format: template' \\
                -H 'ServiceBusNotification-Tags: Politics' \\
                -H @\(tokenFile) \\
                --json '{"messageParam":"Breaking news from curl"}'

            Ctrl-C ends it.
            """
    }
}
