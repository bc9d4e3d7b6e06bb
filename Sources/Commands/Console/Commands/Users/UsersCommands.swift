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
        "users remove", .operators, "Remove a user", operands: "NAME", maximumOperands: 1,
        examples: [
            "pushfan users remove alice --file users", "pushfan users remove 'Alice Miller' --file /etc/pushfan/users",
            "pushfan users remove alice --file users -o json",
        ],
        groups: [usersFile, .output()], readOn: "pushfan help users set", run: UsersCommands.remove)
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
        let store = try store(invocation)
        let password = try password(of: name, invocation.streams)
        let hash: PasswordHash
        do throws(CryptoError) { hash = try PasswordHash(of: password) } catch {
            throw CommandFailure(.failed, error.description)
        }
        let isNew: Bool
        do throws(UsersError) {
            isNew = try store.change { (file: inout UsersFile) throws(UsersFileError) -> Bool in try file.set(name, hash: hash) }
        } catch {
            throw failure(error, store, name)
        }
        try report(name, isNew ? "added" : "changed", invocation)
        return .done
    }

    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let store = try store(invocation)
        let users: [UsersFile.User]
        do throws(UsersError) { users = try store.read().users } catch { throw failure(error, store) }
        var table = Table("NAME")
        var objects: [[UInt8]] = []
        for user in users {
            table.add(user.name)
            objects.add(["name": user.name])
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        invocation.streams.note("\(Counted.text(users.count, "user", "users")) in \(Sanitised.quoted(store.path))")
        return .done
    }

    static func remove(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let name = try name(invocation)
        let store = try store(invocation)
        var near: String?
        let isRemoved: Bool
        do throws(UsersError) {
            isRemoved = try store.change { (file: inout UsersFile) throws(UsersFileError) -> Bool in
                near = file.user(inAnyCase: name)?.name
                return file.remove(name)
            }
        } catch {
            throw failure(error, store)
        }
        guard isRemoved else {
            throw CommandFailure(
                .nothingMatched, "there is no user \(Sanitised.quoted(name)) in \(Sanitised.quoted(store.path))",
                hint: near.map { "did you mean \(Sanitised.quoted($0))?" })
        }
        try report(name, "removed", invocation)
        return .done
    }

    private static func name(_ invocation: Invocation) throws(CommandFailure) -> String {
        guard let name = invocation.arguments.operands.first else { throw .usage("which user? give the name") }
        return name
    }

    private static func store(_ invocation: Invocation) throws(CommandFailure) -> UsersStore {
        guard let path = try invocation.settings().gateway.usersFile else {
            throw CommandFailure(
                .configuration, "gateway.users_file is not set, so there is no file of users",
                hint: "name it with --file or PUSHFAN_GATEWAY_USERS_FILE")
        }
        return UsersStore(path)
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

    private static func report(_ name: String, _ state: String, _ invocation: Invocation) throws(CommandFailure) {
        var table = Table("NAME", "STATE")
        table.add(name, state)
        let object = JSONObject(["name": name, "state": state])
        try invocation.streams.out(invocation.arguments.format(), table, [object.bytes])
    }

    private static func failure(_ error: UsersError, _ store: UsersStore, _ name: String = "") -> CommandFailure {
        let message = "the users file \(Sanitised.quoted(store.path)) \(error)"
        return switch error {
        case .missing: CommandFailure(.configuration, message, hint: "`pushfan users set` makes it")
        case .unreadable, .cut, .unsettled: CommandFailure(.configuration, message)
        case .fault(let fault) where fault.line == nil && fault.reason != .tooLarge:
            .usage("\(Sanitised.quoted(name)): \(fault)")
        case .fault: CommandFailure(.configuration, message)
        case .locked: CommandFailure(.temporary, message)
        case .notWritten: CommandFailure(.failed, message)
        }
    }
}
