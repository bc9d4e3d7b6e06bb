import Console
import Dispatch
import Foundation
import HubEmulator
import Kafka

extension Command {
    /// `pushfan demo`: the whole way of a push, and what becomes of it when things fail.
    static let demo = Command(
        "demo", .everyone, "Show pushes on their way, a worker killed, a hub that fails, and the repair, on embedded parts",
        examples: [
            "pushfan demo", "pushfan demo --keep", "pushfan demo --keep --state demo.db", "NO_COLOR=1 pushfan demo | less",
        ],
        groups: [
            FlagGroup(
                "Demo",
                [
                    Flag("keep", nil, "Leave everything running, with a page to look at, and say what to try next"),
                    Flag("state", "FILE", "Keep the hub's devices in this file, so that they are there the next time"),
                ])
        ],
        readOn: "pushfan help requests; `pushfan worker` does it on a broker of your own", acceptsSettings: false,
        run: { (invocation) throws(CommandFailure) in
            do {
                return try Demo(invocation, keeps: invocation.arguments.has("keep")).run()
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(.failed, "the demo could not go on: \(error)")
            }
        })
}

/// Plays the scenes one after another, and sums up what they have shown.
struct Demo {
    private let streams: Streams
    private let path: String?
    private let keeps: Bool
    private let state: String?
    private let text: DemoText

    init(_ invocation: Invocation, keeps: Bool) {
        streams = invocation.streams
        path = invocation.surroundings.environment["PATH"]
        state = invocation.arguments.value("state")
        self.keeps = keeps
        text = DemoText(streams: streams)
    }

    func run() throws -> ExitCode {
        try streams.out("pushfan \(Program.version): workers, gateway, broker, hub and devices, all on this machine.")
        try streams.out("Nothing leaves it, and no real phone rings.\n")
        try streams.flush()
        let stage = try DemoStage(path: path, state: state)
        defer { stage.close() }
        try text.step("broker", meaning: "\(stage.cluster.bootstrapServers), embedded in this process")
        try text.step("hub", meaning: "\(stage.emulatorURL)/demo, emulated, with \(stage.deviceCount) devices")
        if let count = stage.keptCount { try text.step("file", meaning: "keeps these devices, and had \(count)") }
        try text.step("gateway", meaning: "\(stage.gateway.url); anyone signs in whose password is the name")
        try text.step("worker", meaning: "demo-1 joins its consumer group, for which this broker takes 3 s")
        try stage.waitUntilReady()
        try DemoRequests(stage: stage, text: text).play()
        let kill = try DemoKill(stage: stage, text: text).play()
        let outage = try DemoOutage(stage: stage, text: text).play()
        try DemoApps(stage, text: text).play()
        try sumUp(kill, outage: outage)
        if keeps { try DemoKeeping(stage: stage, streams: streams).wait() }
        return .done
    }

    private func sumUp(_ kill: DemoKill.Ending, outage: DemoOutage.Ending) throws {
        try text.heading("What you have seen")
        try text.step(
            "requests",
            meaning: "\(DemoKill.count) with a worker killed in the middle: \(kill.results) results, lost \(kill.lost)")
        try text.step("hub calls", meaning: "\(kill.repeatedCalls) repeated by the kill, rung twice \(kill.rungTwice)")
        try text.step("outage", meaning: "\(outage.failed) failed, \(outage.repaired) repaired by one replay")
        try text.step(
            "apps",
            meaning:
                "\(DemoDevice.apps.count + DemoDevice.subscribers.count) devices registered over HTTP, by users and by templates")
        guard !keeps else { return }
        try streams.out("\nNext: Deploy/demo --keep leaves everything running, with a page to look at.")
        try streams.flush()
    }
}
