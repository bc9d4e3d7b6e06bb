import Testing

@testable import Console

@Suite struct ExitCodeTests {
    @Test func numbersAreThoseThatScriptsRelyOn() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 69, 75, 77, 78, 130])
    }

    @Test(arguments: [
        ("", ExitCode.usage), ("version", .done), ("--version", .done), ("help", .done), ("version extra", .usage),
        ("topics", .usage),
        ("topics craete", .usage), ("nonsense", .usage), ("help nonsense", .usage), ("--verbose version", .usage),
        ("version -o yaml", .usage), ("config check", .done), ("config check --retry.factor 100", .configuration),
        ("config check /no/such/file.yaml", .configuration), ("config check a.yaml --config b.yaml", .usage),
        ("config check --hub.connection_string nonsense", .configuration),
        ("config check --kafka.bootstrap_servers kafka", .configuration),
        ("config check --gateway.keys_file /no/such/file", .configuration),
        ("config check --gateway.users_file /no/such/file --for gateway", .configuration),
        ("config check --gateway.users_file /no/such/file --for worker", .done), ("config check --for page", .usage),
        ("config check --callbacks.receivers_file /no/such/file --for gateway", .done),
        ("config check --callbacks.receivers_file /no/such/file --for callbacks", .configuration),
        ("config check --for hub", .done), ("config check --for hub /no/such/file", .configuration),
        ("hub", .usage), ("hub chekc", .usage), ("hub backup", .usage), ("hub backup -", .usage),
        ("hub backup copy.db --state /no/such/file", .configuration), ("hub check --state /no/such/file", .configuration),
        ("hub check --hub north", .usage), ("hub check --hubs-file /no/such/file", .configuration),
        ("hub check --hubs-file /no/such/file --state hub.db", .usage), ("hub export", .usage),
        ("hub check --handle-key-file /no/such/file", .configuration), ("hub export - --state /no/such/file", .configuration),
        ("hub import", .usage), ("hub import lines.txt --create --delete", .usage),
        ("hub import /dev/null --state /no/such/file", .configuration), ("hub erase", .usage),
        ("hub erase --user alice --state /no/such/file", .configuration),
        ("config show --origin", .done), ("callbacks check", .configuration), ("callbacks list", .configuration),
        ("callbacks test shop", .configuration), ("callbacks pause shop", .usage), ("callbacks resume", .usage),
        ("callbacks replay shop", .usage), ("callbacks lst", .usage),
        ("enqueue", .usage), ("enqueue --title x", .usage), ("enqueue --user a", .usage), ("enqueue /no/such/file", .usage),
        ("enqueue --user a --title x -", .usage), ("enqueue --user a --broadcast --title x", .usage),
        ("enqueue --user a --title x --ttl soon", .usage), ("enqueue --user a --title x --dry-run", .done),
        ("enqueue --user a --title x --badge -1", .usage), ("enqueue --user a --title x --rate 0", .usage),
        ("enqueue --user a --title x --id i --repeat 2 --dry-run", .usage), ("enqueue --device nokia:1 --title x", .usage),
        ("explain", .usage), ("explain hub_throttled", .done), ("explain no_such_code", .nothingMatched),
        ("explain --codes", .done),
        ("explain /no/such/file", .usage), ("results show", .usage), ("results list --since tomorrow", .usage),
        ("results list --limit 0", .usage), ("healthcheck --live --ready", .usage),
        ("healthcheck ftp://a", .usage), ("healthcheck --listen 127.0.0.1:0", .configuration),
        ("healthcheck http://127.0.0.1:1/livez", .unreachable), ("emulator --fault bogus=1", .usage),
        ("emulator --policy nokey", .usage), ("emulator --cert a.pem", .usage), ("emulator --listen nowhere", .usage),
        ("results list state:faild", .usage), ("results list -stat:failed", .usage), ("results list ,", .usage),
        ("results list 25:00", .usage),
        ("results tail until:1h", .usage), ("results tail -o json", .usage), ("failed since:tomorrow", .usage),
        ("failed --state nonsense", .usage), ("results show a b", .usage), ("help filters", .done),
        ("topics create --partitions 0", .usage), ("topics check --timeout soon", .usage),
        ("handles", .usage), ("handles collect --since soon", .usage), ("handles collect", .configuration),
        ("users", .usage), ("users set", .usage), ("users set alice", .configuration), ("users set alice hunter2", .usage),
        ("users set alice --file /no/such/folder/users", .usage), ("users list", .configuration), ("users list alice", .usage),
        ("users list --file /no/such/file", .configuration), ("users remove", .usage), ("users remove alice", .configuration),
        ("users remove alice --file /no/such/folder/users", .failed), ("users remove --devices", .usage),
        ("users remove alice --devices", .configuration),
        ("keys", .usage), ("keys create", .configuration), ("keys create alice", .usage), ("keys create --scope write", .usage),
        ("keys create --file /no/such/folder/keys", .failed), ("keys list", .configuration), ("keys list alice", .usage),
        ("keys list --file /no/such/file", .configuration), ("keys revoke", .usage), ("keys revoke k3v9x2ab", .configuration),
        ("keys revoke k3v9x2ab --file /no/such/folder/keys", .failed),
        ("replay deadletter --reason r --at nowhere", .usage), ("replay deadletter --reason r --value /dev/null", .usage),
        ("replay deadletter --reason r --at d:0:1 --at d:0:2 --value /dev/null", .usage),
        ("replay deadletter --reason r --at d:0:1 --value /no/such/file", .usage),
    ])
    func commandLinesEndWithTheDocumentedCode(line: String, code: ExitCode) {
        let outcome = Harness().run(line)
        #expect(outcome.code == code)
        #expect((code == .done) != outcome.output.isEmpty, "data for success only")
        #expect(code == .done || !outcome.messages.isEmpty, "a failure says why")
    }

    @Test(arguments: [
        "topics check", "topics create", "results list", "results show x", "results tail", "failed", "enqueue --user a --title x",
        "callbacks resume shop", "callbacks replay shop --since 1d",
    ])
    func anUnreachableBrokerIsNamed(line: String) {
        let outcome = Harness().run(line + " --bootstrap 127.0.0.1:1 --timeout 300ms")
        #expect(outcome.code == .unreachable)
        #expect(outcome.messages.contains("127.0.0.1:1"))
        #expect(outcome.output.isEmpty)
    }

    @Test func everyProblemOfTheSettingsIsNamed() {
        var harness = Harness()
        harness.environment = ["PUSHFAN_KAFKA_GROP_ID": "x", "PUSHFAN_WORKER_MAX_IN_FLIGHT": "0"]
        let outcome = harness.run("config check --retry.factor 100")
        #expect(outcome.code == .configuration)
        #expect(outcome.messages.contains("did you mean PUSHFAN_KAFKA_GROUP_ID?"))
        #expect(outcome.messages.contains("worker.max_in_flight"))
        #expect(outcome.messages.contains("--retry.factor: retry.factor"))
    }

    @Test func aReaderThatLeavesIsNoFailure() {
        var harness = Harness()
        harness.readerIsGone = true
        let outcome = harness.run("help --all")
        #expect(outcome.code == .done)
        #expect(outcome.messages.isEmpty)
    }

    @Test func suggestionsNameTheCommand() {
        #expect(Harness().run("enqeue").messages.contains("did you mean 'enqueue'?"))
        #expect(Harness().run("topics chekc").messages.contains("did you mean 'topics check'?"))
        #expect(Harness().run("explain hub_throtled").messages.contains("did you mean hub_throttled?"))
        let filter = Harness().run("failed hub:a eror:hub_timeout")
        #expect(filter.messages.contains("the filter, position 7: 'eror' is no field of a result; there are request, state"))
        #expect(filter.messages.contains("did you mean error?"))
        #expect(Harness().run("failed state:faild").messages.contains("did you mean failed?"))
    }

    /// The zone is named where it decides about a time, and nowhere else. No broker is asked.
    @Test(arguments: [
        ("results tail since:today --limit 0", true), ("results tail --since 9:00 --limit 0", true),
        ("replay deadletter --reason r --since yesterday --at nowhere", true), ("results tail since:1h --limit 0", false),
        ("results tail since:2026-11-21T10:00Z --limit 0", false), ("results tail hub:today --limit 0", false),
        ("replay deadletter --reason r --since 1h --at nowhere", false),
    ])
    func timesAreReadInTheTerminalsZone(line: String, isNamed: Bool) {
        var harness = Harness()
        harness.environment["TZ"] = "CET-1CEST,M3.5.0,M10.5.0/3"
        let outcome = harness.run(line)
        #expect(outcome.code == .usage, "\(outcome.messages)")
        #expect(
            outcome.messages.contains("times without a zone are in CET-1CEST,M3.5.0,M10.5.0/3\n") == isNamed,
            "\(outcome.messages)")
    }

    /// No broker is asked.
    @Test(arguments: [[], ["--reason", ""], ["--reason", " "], ["--reason", "\u{A0}\t"]]) func aReplayIsPlannedForAReason(
        flags: [String]
    ) {
        for words in [["replay", "plan", "state:failed"], ["replay", "run", "state:failed"], ["replay", "deadletter"]] {
            let outcome = Harness().run(words + flags)
            #expect(outcome.code == .usage && outcome.messages.contains("reason"), "\(words + flags): \(outcome.messages)")
        }
    }
}
