import Basics
import FanOut
import HubAuth
import HubREST
import JobSupport
import Settings
import Users

/// `users remove NAME --devices`: removes a user from the file, and then all its devices from every hub.
///
/// The name comes first, or the user's app would register again meanwhile.
struct DeviceRemoval {
    private struct Hub {
        let name: String
        let client: RegistrationClient
    }

    private let name: String
    private let invocation: Invocation
    private let file: EntryFile<UsersFile>?
    private let pattern: UserTag.Pattern
    private let foldsNames: Bool
    private let hubs: [Hub]

    /// Fails for settings with which a hub cannot be called. Nothing is changed yet.
    init(of name: String, for invocation: Invocation) throws(CommandFailure) {
        let settings = try invocation.settings()
        (self.name, self.invocation) = (name, invocation)
        file = try settings.gateway.usersFile.map { path throws(CommandFailure) in
            try EntryFile(of: "users", at: path, madeBy: "users set")
        }
        foldsNames = settings.gateway.allowsDemoSignIn
        do throws(UserTag.Pattern.Problem) {
            pattern = try UserTag.Pattern(settings.hub.userTag)
        } catch {
            throw CommandFailure(.configuration, "hub.user_tag: \(error)")
        }
        hubs = try settings.allHubs.map { hub throws(CommandFailure) in
            try Self.hub(hub, of: settings, now: invocation.surroundings.now)
        }
    }

    private static func hub(
        _ hub: HubSettings, of settings: Settings, now: @escaping @Sendable () -> Int64
    ) throws(CommandFailure) -> Hub {
        let configuration: HubConfiguration
        do throws(SettingsError) {
            configuration = try settings.hubConfiguration(of: hub)
        } catch {
            throw CommandFailure(error)
        }
        let name = hub.routeName ?? configuration.hub.text
        do {
            let client = try RegistrationClient(
                configuration, connections: settings.connections(to: configuration.endpoint, like: hub),
                userAgent: "pushfan/\(Program.version)", timeout: hub.requestTimeout, now: now)
            return Hub(name: name, client: client)
        } catch {
            throw CommandFailure(.configuration, "the hub \(name) cannot be called with these settings: \(error)")
        }
    }

    func run() throws(CommandFailure) -> ExitCode {
        let isKnown = try removeName()
        Interruption.catchSignals()
        let tag = pattern.tag(of: !isKnown && foldsNames ? UserName.folded(name) : name)
        var table = Table(["NAME", "STATE", "HUB", .number("FOUND"), .number("REMOVED"), .number("LEFT"), "PROBLEM"])
        var isDone = true
        for hub in hubs {
            var erasure = DeviceErasure(of: DeviceUser(tag: tag.text, userID: tag.form))
            var progress = ProgressPace(invocation.streams)
            let ending = erasure.run(by: hub.client, wait: wait) { sum in
                progress.show { "\(sum.removed) of \(sum.found) devices removed from \(hub.name)" }
            }
            progress.end()
            let sum = erasure.progress
            if ending != .done { isDone = false }
            table.add([
                "name": name, "state": isKnown ? "removed" : "absent", "hub": hub.name, "found": sum.found,
                "removed": sum.removed, "left": sum.left, "problem": ending == .done ? nil : "\(ending)",
            ])
            if Interruption.isRequested { break }
        }
        try invocation.out(table)
        if Interruption.isRequested { return Interruption.exitCode }
        guard isDone else {
            invocation.streams.note("not all devices are removed; the same command may be repeated")
            return .partlyFailed
        }
        return .done
    }

    /// Removes the user from the file, if there is one. A name in another case is another user's, whose devices would be removed.
    private func removeName() throws(CommandFailure) -> Bool {
        guard let file else { return false }
        if let near = try file.read().user(inAnyCase: name)?.name, near != name {
            throw CommandFailure(
                .nothingMatched, "there is no user \(Sanitised.quoted(name)) in \(file.name)",
                hint: "did you mean \(Sanitised.quoted(near))?")
        }
        return try file.change { (file: inout UsersFile) throws(UsersFileError) -> Bool in file.remove(name) }
    }

    /// Waits, unless the command is interrupted.
    private func wait(_ milliseconds: Int64) -> Bool {
        var left = milliseconds
        while left > 0, !Interruption.isRequested {
            Pause.sleep(.milliseconds(min(left, 100)))
            left -= 100
        }
        return !Interruption.isRequested
    }
}
