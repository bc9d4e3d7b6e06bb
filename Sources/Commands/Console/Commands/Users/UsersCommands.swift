import Basics
import Crypto
import EventLoop
import JobSupport
import PushModel
import Settings
import Users

extension Command {
    private static let usersFile = FlagGroup(
        "Users", FlagGroup.settings([("file", "FILE", "gateway.users_file")]) + [FlagGroup.configFile])

    static let usersSet = Command(
        "users set", .operators, "Add a user, or change the password; it is read from standard input", operands: "NAME",
        // A surplus operand may be a password, and must not be shown.
        maximumOperands: .max,
        examples: [
            "pushfan users set alice --file users",
            "pass show push/alice | pushfan users set alice --file /etc/pushfan/users",
            "PUSHFAN_GATEWAY_USERS_FILE=/etc/pushfan/users pushfan users set alice -o json",
        ],
        groups: [usersFile, .output()], readOn: "pushfan help users list", run: UsersCommands.set)

    static let usersList = Command(
        "users list", .operators, "List the users",
        examples: [
            "pushfan users list --file users", "pushfan users list --config /etc/pushfan/pushfan.yaml",
            "pushfan users list --file users -o ndjson",
        ],
        groups: [usersFile, .output()], readOn: "pushfan help users set", run: UsersCommands.list)

    static let usersRemove = Command(
        "users remove", .operators, "Remove a user, and its devices from the hubs", operands: "NAME", maximumOperands: 1,
        examples: [
            "pushfan users remove alice --file users", "pushfan users remove 'Alice Miller' --file /etc/pushfan/users",
            "pushfan users remove alice --devices --config /etc/pushfan/pushfan.yaml",
            "pushfan users remove alice --file users -o json",
        ],
        groups: [
            .selection([Flag("devices", nil, "Remove all its devices from every hub, too, also of a name that is in no file")]),
            usersFile, .output(),
        ], readOn: "pushfan help privacy", run: UsersCommands.remove)
}

private enum UsersCommands {
    static func set(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard invocation.arguments.operands.count <= 1 else {
            throw .usage("only the name is an argument; the password is read from standard input, as others can see arguments")
        }
        let name = try name(invocation)
        guard UserName.isLegal(name) else {
            throw .usage("\(Sanitised.quoted(name)) is no user's name; one has \(UserName.rule)")
        }
        let file = try file(invocation)
        let password = try password(of: name, invocation.streams)
        let hash: PasswordHash
        do throws(CryptoError) { hash = try PasswordHash(of: password) } catch {
            throw CommandFailure(.failed, error.description)
        }
        let isNew = try file.change { fault in
            fault.line == nil && fault.reason != .tooLarge ? .usage("\(Sanitised.quoted(name)): \(fault)") : nil
        } by: { (file: inout UsersFile) throws(UsersFileError) -> Bool in
            try file.set(name, hash: hash)
        }
        try invocation.streams.report(name, as: "name", state: isNew ? "added" : "changed", format: invocation.arguments.format())
        return .done
    }

    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let file = try file(invocation)
        let users = try file.read().users
        var table = Table("NAME")
        var objects: [[UInt8]] = []
        for user in users {
            table.add(user.name)
            objects.add(["name": user.name])
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        invocation.streams.note("\(Counted.text(users.count, "user", "users")) in \(file.name)")
        return .done
    }

    static func remove(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        if invocation.arguments.has("devices") { return try DeviceRemoval(of: try name(invocation), for: invocation).run() }
        let name = try name(invocation)
        let file = try file(invocation)
        var near: String?
        let isRemoved = try file.change { (file: inout UsersFile) throws(UsersFileError) -> Bool in
            near = file.user(inAnyCase: name)?.name
            return file.remove(name)
        }
        guard isRemoved else {
            throw CommandFailure(
                .nothingMatched, "there is no user \(Sanitised.quoted(name)) in \(file.name)",
                hint: near.map { "did you mean \(Sanitised.quoted($0))?" })
        }
        try invocation.streams.report(name, as: "name", state: "removed", format: invocation.arguments.format())
        return .done
    }

    private static func name(_ invocation: Invocation) throws(CommandFailure) -> String {
        guard let name = invocation.arguments.operands.first else { throw .usage("which user? give the name") }
        return name
    }

    private static func file(_ invocation: Invocation) throws(CommandFailure) -> EntryFile<UsersFile> {
        try EntryFile(of: "users", at: invocation.settings().gateway.usersFile, madeBy: "users set")
    }

    /// The one line of standard input. A person at a terminal types it twice, because it is not shown.
    private static func password(of name: String, _ streams: Streams) throws(CommandFailure) -> [UInt8] {
        var password: [UInt8]
        if streams.traits.isInputTerminal {
            streams.note("Password for \(Sanitised.quoted(name)), which is not shown:")
            let first = try streams.hiddenLine() ?? ""
            streams.note("Once more:")
            guard try streams.hiddenLine() == first else { throw .usage("the two passwords differ; nothing was changed") }
            password = Array(first.utf8)
        } else {
            password = try streams.input()
            if password.last == UInt8(ascii: "\n") { password.removeLast() }
            if password.last == UInt8(ascii: "\r") { password.removeLast() }
        }
        guard BasicCredentials.isLegalPassword(password) else {
            throw .usage(
                "standard input must have one line, the password: 1 to \(BasicCredentials.maximumPasswordByteCount) bytes "
                    + "of UTF-8 without control characters")
        }
        return password
    }
}

extension Streams {
    /// Writes the state of an entry that a command has changed. `key` is the member that names it.
    func report(_ entry: String, as key: String, state: String, format: OutputFormat) throws(CommandFailure) {
        var table = Table(key.uppercased(), "STATE")
        table.add(entry, state)
        try out(format, table, [JSONObject([key: entry, "state": state]).bytes])
    }
}
