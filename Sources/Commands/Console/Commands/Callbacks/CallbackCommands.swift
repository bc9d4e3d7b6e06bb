import CallbackRecords
import PushModel

extension Command {
    private static let receivers = FlagGroup.settings([("receivers-file", "FILE", "callbacks.receivers_file")])
    private static let by = [
        Flag("by", "TEXT", "Who", default: "user@host"), .timeout("10s"),
        Flag("yes", nil, "Without a file of receivers: also for one that has not begun yet", letter: "y"),
    ]

    static let callbacksCheck = Command(
        "callbacks check", .operators, "Check the file of receivers, and show where each one is", operands: "[FILE]",
        maximumOperands: 1,
        examples: [
            "pushfan callbacks check receivers.yaml", "pushfan callbacks check --connect --timeout 5s",
            "pushfan callbacks check --config /etc/pushfan/pushfan.yaml -o ndjson",
        ],
        groups: [
            .selection(
                receivers + [
                    FlagGroup.configFile,
                    Flag("connect", nil, "Ask each one with HEAD, which tries name, way and certificate and delivers nothing"),
                    .timeout("10s", "How long each one may take"),
                ]),
            .output(),
        ],
        readOn: "pushfan help callbacks test, pushfan help --page callbacks", run: CheckReceiversCommand.run)

    static let callbacksList = Command(
        "callbacks list", .operators, "List receivers: how far each one is, and why it gets nothing",
        examples: [
            "pushfan callbacks list", "pushfan callbacks list --receivers-file receivers.yaml -o ndjson",
            "pushfan callbacks list --bootstrap 127.0.0.1:9092 --timeout 5s -o json",
        ],
        groups: [.selection(receivers), .output(), .kafka(topics: ["results", "callbacks"], and: [.timeout("10s")])],
        readOn: "pushfan help callbacks pause, callbacks replay", run: ListReceiversCommand.run)

    static let callbacksTest = Command(
        "callbacks test", .operators, "Call a receiver once with a signed sample, from here", operands: "NAME",
        maximumOperands: 1,
        examples: [
            "pushfan callbacks test shop --receivers-file receivers.yaml", "pushfan callbacks test shop -o json",
            "pushfan callbacks test shop --config /etc/pushfan/pushfan.yaml --timeout 3s",
        ],
        groups: [
            .selection(
                receivers + [
                    FlagGroup.configFile,
                    Flag("timeout", "DURATION", "How long it may take", default: "the receiver's own limit"),
                ]),
            .output([.table, .json]),
        ],
        readOn: "pushfan help callbacks check, pushfan help --page callbacks", run: TestReceiverCommand.run)

    static let callbacksPause = Command(
        "callbacks pause", .operators, "Let a receiver wait; its place is kept", operands: "NAME", maximumOperands: 1,
        examples: [
            "pushfan callbacks pause shop --reason 'moves to another machine'",
            "pushfan callbacks pause shop --reason 'is overrun' --by ann",
            "pushfan callbacks pause shop --reason 'a try' --timeout 5s -o json",
        ],
        groups: [
            FlagGroup("Pause", [Flag("reason", "TEXT", "Why; lists and the log say it")] + by),
            .output(), .kafka(topics: ["callbacks"]),
        ],
        readOn: "pushfan help callbacks resume, callbacks list", run: PauseCommands.pause)

    static let callbacksResume = Command(
        "callbacks resume", .operators, "Let a receiver go on that was paused, or was disabled by its answer 410",
        operands: "NAME", maximumOperands: 1,
        examples: [
            "pushfan callbacks resume shop", "pushfan callbacks resume shop --reason 'is back' --by ann",
            "pushfan callbacks resume shop --timeout 5s -o json",
        ],
        groups: [
            FlagGroup("Resume", [Flag("reason", "TEXT", "Why")] + by),
            .output(), .kafka(topics: ["callbacks"]),
        ],
        readOn: "pushfan help callbacks pause, callbacks list", run: PauseCommands.resume)

    static let callbacksReplay = Command(
        "callbacks replay", .operators, "Send a receiver once more what it did not take", operands: "NAME",
        maximumOperands: 1,
        examples: [
            "pushfan callbacks replay shop --since 1d --dry-run",
            "pushfan callbacks replay shop --since 2026-11-21T08:00Z --until 2026-11-21T12:00Z --yes",
            "pushfan callbacks replay shop --since 2h --all --receivers-file receivers.yaml -o json",
        ],
        groups: [
            .selection(
                [
                    Flag("since", "TIME", "Given up since then: 1h, 7d, 2026-11-21 or 2026-11-21T17:00Z"),
                    Flag("until", "TIME", "Given up before then"),
                    Flag("all", nil, "All results of that time that it wants, also those that it took"),
                ] + receivers),
            FlagGroup(
                "Run", Flag("dry-run", nil, "Count, and send nothing"),
                Flag("yes", nil, "Do not ask, however many they are", letter: "y")),
            .output(),
            .kafka(topics: ["results"], and: [.timeout("30s")]),
        ],
        readOn: "pushfan help callbacks list, pushfan help --page callbacks", run: ReplayReceiverCommand.run)
}
