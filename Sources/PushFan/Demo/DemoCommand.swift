import Console
import Dispatch
import HubEmulator
import Kafka
import WorkerRuntime

extension Command {
    /// `pushfan demo`: the whole way of a push, on parts inside this process.
    static let demo = Command(
        "demo", .everyone, "Show the whole way of a push on embedded parts: broker, worker, hub and devices",
        examples: ["pushfan demo", "pushfan demo --keep", "NO_COLOR=1 pushfan demo | less"],
        groups: [
            FlagGroup("Demo", [Flag("keep", nil, "Leave everything running afterwards, and say what to try next")])
        ],
        readOn: "pushfan help requests; `pushfan worker` does it on a broker of your own", acceptsSettings: false,
        run: { (invocation) throws(CommandFailure) in
            do {
                return try Demo(invocation.streams, keeps: invocation.arguments.has("keep")).run()
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(.failed, "the demo could not go on: \(error)")
            }
        })
}

/// Publishes a handful of requests, one after another, and shows what becomes of each.
struct Demo {
    private let streams: Streams
    private let keeps: Bool

    init(_ streams: Streams, keeps: Bool) {
        self.streams = streams
        self.keeps = keeps
    }

    func run() throws -> ExitCode {
        try streams.out("pushfan \(Program.version): broker, worker, gateway, hub and devices, all inside this process.")
        try streams.out("Nothing leaves this machine, and no phone rings.\n")
        try streams.flush()
        let stage = try DemoStage()
        defer { stage.close() }
        try streams.out("  broker   \(stage.cluster.bootstrapServers) (embedded: results at least once)")
        try streams.out("  hub      \(stage.emulatorURL)/demo (emulated), \(stage.hub.devices().count) devices registered")
        try streams.out("  gateway  \(stage.gateway.url) (anyone signs in whose password is the name)")
        try streams.out("  worker   joins its consumer group; the embedded broker takes about 3 s for that\n")
        try streams.flush()
        var table = Table("request", "what", "state", "hub calls", "attempts", "devices", "ms")
        for scene in DemoScene.all {
            let outcome = try DemoPlay(stage, streams).play(scene)
            table.add(
                scene.id, scene.title, outcome.state, "\(outcome.calls)", "\(outcome.attempts)", "\(outcome.devices)",
                "\(outcome.milliseconds)")
        }
        for line in table.lines(streams.traits) { try streams.out(line) }
        try DemoApps(stage, streams).play()
        if keeps { try keep(stage) }
        return .done
    }

    private func keep(_ stage: DemoStage) throws {
        let address = try stage.serveProbes()
        let api = "\(stage.gateway.url)/api"
        let token = try DemoNews.token(stage.emulatorURL, DemoStage.sendPolicy, lifetime: 86_400)
        try streams.out(
            """

            Everything is still running. In another terminal:

              export PUSHFAN_KAFKA_BOOTSTRAP_SERVERS=\(stage.cluster.bootstrapServers)
              pushfan enqueue --user alice --title 'Hello' --body 'from the other terminal' --wait
              pushfan results list
              pushfan results show demo-1
              curl -s \(stage.emulatorURL)/devices
              curl -s -X PUT \(stage.emulatorURL)/faults -d '["status=429,retry-after=2,count=3"]'
              curl -s http://\(address)/metrics

            An app registers a phone of fay's, and gus sends to her; a sender with a key of the hub sends to a category:

              id=$(curl -s -u fay:fay -X POST '\(api)/register?handle=C0FFEE00' | tr -d '"')
              curl -s -u fay:fay -X PUT \(api)/register/$id --json '{"Platform":"apns","Handle":"C0FFEE00","Tags":[]}'
              curl -s -u gus:gus '\(api)/notifications?pns=apns&to_tag=fay' --json '"Hello from curl"'
              curl -s -u gus:gus '\(api)/notifications?secure=true&to_tag=fay' --json '"The code is 4711"'
              secret=$(curl -s \(stage.emulatorURL)/devices | grep -o 'secureId[^}]*' | grep -o '[A-Za-z0-9_-]\\{38\\}' | tail -n 1)
              curl -s -u fay:fay \(api)/notifications/$secret
              curl -s '\(stage.emulatorURL)/demo/messages?api-version=2020-06' \\
                -H 'ServiceBusNotification-Format: template' -H 'ServiceBusNotification-Tags: Politics' \\
                -H 'Authorization: \(token)' --json '{"messageParam":"Breaking news from curl"}'

            Ctrl-C ends it.
            """)
        try streams.flush()
        let ended = DispatchSemaphore(value: 0)
        let signals = try SignalHandler { ended.signal() }
        ended.wait()
        signals.cancel()
    }
}
