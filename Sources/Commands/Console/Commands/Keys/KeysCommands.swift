import Crypto
import EventLoop
import JobSupport
import Keys
import PushModel
import Settings

extension Command {
    private static let keysFile = FlagGroup(
        "Keys", FlagGroup.settings([("file", "FILE", "gateway.keys_file")]) + [FlagGroup.configFile])

    static let keysCreate = Command(
        "keys create", .operators, "Make a key with which a back end publishes; it is shown this once",
        examples: [
            "pushfan keys create --file keys --comment 'shop, order service'",
            "pushfan keys create --file keys --scope publish,publish:broadcast --tenant acme --expires 90d",
            "pushfan keys create --file keys --scope register,register:handles --comment 'back end of the app'",
            "PUSHFAN_GATEWAY_KEYS_FILE=/etc/pushfan/keys pushfan keys create --scope read --rate 50 -o json",
        ],
        groups: [
            FlagGroup(
                "Terms",
                Flag(
                    "scope", "LIST", "What it allows, some of: " + Scope.allCases.map(\.rawValue).joined(separator: ", "),
                    default: "publish"),
                Flag("tenant", "NAME", "The tenant of all that is published with it"),
                Flag("source", "TEXT", "The source of all that is published with it; /pushfan/keys/ID by default"),
                Flag("rate", "N", "Calls or batch items per second; after a rest twice as many"),
                Flag("expires", "DURATION", "How long it is valid, such as 90d; for ever by default"),
                Flag("comment", "TEXT", "Whose it is")),
            keysFile, .output(),
        ],
        readOn: "pushfan help --page gateway, pushfan help keys revoke", run: KeysCommands.create)

    static let keysList = Command(
        "keys list", .operators, "List the keys of back ends, without their secrets",
        examples: [
            "pushfan keys list --file keys", "pushfan keys list --config /etc/pushfan/pushfan.yaml",
            "pushfan keys list --file keys --gateway http://127.0.0.1:9465 -o ndjson",
        ],
        groups: [
            FlagGroup(
                "Last use",
                Flag(
                    "gateway", "URL", "Ask this gateway for the last use: http:// and its `listen`",
                    isRepeatable: true),
                .timeout("5s", "How long it may take")),
            keysFile, .output(),
        ], readOn: "pushfan help keys create", run: KeysCommands.list)

    static let keysRevoke = Command(
        "keys revoke", .operators, "Revoke a key; gateways refuse it 2 s later", operands: "ID", maximumOperands: 1,
        examples: [
            "pushfan keys revoke k3v9x2ab --file keys", "pushfan keys revoke k3v9x2ab --file /etc/pushfan/keys",
            "pushfan keys revoke k3v9x2ab --file keys -o json",
        ],
        groups: [keysFile, .output()], readOn: "pushfan help keys list", run: KeysCommands.revoke)
}

private enum KeysCommands {
    static func create(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let now = invocation.surroundings.now() / 1000
        let terms = try KeyTerms(invocation.arguments, now: now)
        let file = try file(invocation)
        let new: NewKey
        do throws(CryptoError) { new = try NewKey(terms, at: now) } catch { throw CommandFailure(.failed, error.description) }
        try file.change { (file: inout KeysFile) throws(KeysFileError) -> Void in try file.add(new.key) }
        let format = invocation.arguments.format()
        if format == .table {
            try invocation.streams.out(new.text)
        } else {
            var object = JSONObject(["key": new.text])
            object.add(new.key, at: now)
            try invocation.streams.out(format, Table("KEY"), [object.bytes])
        }
        invocation.streams.note("key \(new.key.id) is in \(file.name); it is not shown again")
        return .done
    }

    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let now = invocation.surroundings.now() / 1000
        let file = try file(invocation)
        let keys = try file.read().keys
        let uses = try LastUses(invocation.arguments)
        var table = Table.ofKeys
        var objects: [[UInt8]] = []
        for key in keys {
            table.add(key, at: now, uses)
            var object = JSONObject()
            object.add(key, at: now, uses)
            objects.append(object.bytes)
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        invocation.streams.note("\(Counted.text(keys.count, "key", "keys")) in \(file.name)")
        return .done
    }

    static func revoke(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let operand = invocation.arguments.operands.first else { throw .usage("which key? give its id") }
        // Whoever has found a key may have the whole of it.
        let id = PresentedKey(operand)?.id ?? operand
        let (now, file) = (invocation.surroundings.now() / 1000, try file(invocation))
        let before = try file.change { (file: inout KeysFile) throws(KeysFileError) -> APIKey? in file.revoke(id, at: now) }
        guard let before else {
            throw CommandFailure(
                .nothingMatched, "there is no key \(Sanitised.quoted(id)) in \(file.name)",
                hint: "`pushfan keys list` lists the ids")
        }
        if before.revokedAt != nil { invocation.streams.note("it was revoked before") }
        let state = APIKey.State.revoked.rawValue
        try invocation.streams.report(id, as: "id", state: state, format: invocation.arguments.format())
        return .done
    }

    private static func file(_ invocation: Invocation) throws(CommandFailure) -> EntryFile<KeysFile> {
        try EntryFile(of: "keys", at: invocation.settings().gateway.keysFile, madeBy: "keys create")
    }
}
