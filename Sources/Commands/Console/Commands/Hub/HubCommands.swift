extension Command {
    private static let ofHub = FlagGroup(
        "Hub", Flag("state", "FILE", "The hub's file", default: HubArguments.stateDefault),
        Flag("hubs-file", "FILE", "The file of hubs, in place of --state"),
        Flag("hub", "NAME", "The hub in the file of hubs; may be left out where it has one"),
        HubArguments.handleKeyFlag, FlagGroup.configFile)

    static let hubBackup = Command(
        "hub backup", .operators, "Copy a hub's file while it runs, in place of an earlier copy", operands: "FILE",
        maximumOperands: 1,
        examples: [
            "pushfan hub backup /backup/hub.db", "pushfan hub backup hub-copy.db --state /var/lib/pushfan/hub.db",
            "pushfan hub backup north.db --hub north --hubs-file /etc/pushfan/hub.yaml -o json",
        ],
        groups: [
            FlagGroup(
                "Copy", Flag("force", nil, "Replace a file that is no copy of a hub's; never one that a hub has open")),
            ofHub, .output(),
        ], readOn: "pushfan help hub check, pushfan help --page hub", run: HubFileCommands.backUp)

    static let hubCheck = Command(
        "hub check", .operators, "Check a hub's file, whole and in its parts, and count what is in it",
        examples: [
            "pushfan hub check", "pushfan hub check --state /backup/hub.db --handle-key-file handles.key",
            "pushfan hub check --hubs-file /etc/pushfan/hub.yaml -o ndjson",
        ],
        groups: [ofHub, .output()], readOn: "pushfan help hub backup, pushfan help --page hub", run: HubFileCommands.check)

    static let hubImport = Command(
        "hub import", .operators, "Take registrations in, a line each, as bulk jobs have them", operands: "FILE",
        maximumOperands: 1,
        examples: [
            "pushfan hub import registrations.txt --dry-run", "gunzip -c registrations.gz | pushfan hub import -",
            "pushfan hub import registrations.txt --new --state new.db --handle-key-file new.key",
            "pushfan hub import gone.txt --delete --hub north --hubs-file /etc/pushfan/hub.yaml -o json",
        ],
        groups: [
            ofHub,
            FlagGroup(
                "Import", Flag("create", nil, "Make a registration of each line; the default"),
                Flag("update", nil, "Change the registration with the id of each line"),
                Flag("delete", nil, "Remove the registration with the id of each line"),
                Flag("new", nil, "Make the hub's file, which is not there yet"),
                Flag("dry-run", nil, "Read all lines, and write nothing; needs no hub's file")),
            .output([.table, .json]),
        ],
        readOn: "pushfan help hub export, pushfan help --page hub", run: ImportCommand.run)

    static let hubExport = Command(
        "hub export", .operators, "Write all registrations while the hub runs, a line each, as bulk jobs do",
        operands: "FILE", maximumOperands: 1,
        examples: [
            "pushfan hub export registrations.txt", "pushfan hub export - --state hub.db | gzip >registrations.gz",
            "pushfan hub export north.txt --hub north --hubs-file /etc/pushfan/hub.yaml -o json",
        ],
        groups: [ofHub, .output([.table, .json])], readOn: "pushfan help hub import, pushfan help --page hub",
        run: ExportCommand.run)

    static let hubErase = Command(
        "hub erase", .operators, "Remove a user from a hub's file, and overwrite the bytes",
        examples: [
            "pushfan hub erase --user alice", "pushfan hub erase --user alice --state /var/lib/pushfan/hub.db",
            "pushfan hub erase --user alice --hub north --hubs-file /etc/pushfan/hub.yaml -o json",
        ],
        groups: [
            .selection([Flag("user", "NAME", "The user, without regard to the case of A to Z")]), ofHub,
            .output([.table, .json]),
        ],
        readOn: "pushfan help users remove, pushfan help privacy", run: EraseCommand.run)
}
