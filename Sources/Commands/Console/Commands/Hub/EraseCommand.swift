import FanOut
import HubServer
import HubStore
import Settings

/// The command `hub erase`.
enum EraseCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let user = invocation.arguments.value("user") else { throw .usage("which user? give the name with --user") }
        let text = try invocation.settings().hub.userTag
        let pattern: UserTag.Pattern
        do throws(UserTag.Pattern.Problem) { pattern = try UserTag.Pattern(text) } catch {
            throw CommandFailure(.configuration, "hub.user_tag: \(error)")
        }
        let hub = try ChosenHub.one(invocation)
        let file = try hub.open(else: "`pushfan users remove NAME --devices` with the hub's connection string")
        let tag = pattern.tag(of: user)
        var removal = UserRemoval(ofTags: [tag.text, "$UserId:{\(tag.form)}"])
        let traces: UserTraces
        do throws(RefusedCall) {
            // The end writes the log of changes into the file, and removes it.
            defer { file.close() }
            let devices = FileDevices(file)
            try removal.find(on: devices)
            // Devices come last: after an end in between, they tell the user's refused handles again.
            var found = UserTraces(of: removal, at: invocation.surroundings.now())
            try found.remove(from: file)
            try removal.remove(from: devices)
            traces = found
        } catch {
            throw CommandFailure(error)
        }
        var table = Table([
            "FILE", .number("INSTALLATIONS"), .number("REGISTRATIONS"), .number("ENDED"), .number("CANCELED"), .number("KEPT"),
            .number("REFUSALS"),
        ])
        table.add([
            "file": hub.path, "installations": removal.installationCount, "registrations": removal.registrationCount,
            "ended": traces.endedCount, "canceled": traces.canceledCount, "kept": traces.keptCount,
            "refusals": traces.refusalCount,
        ])
        try invocation.out(table)
        if removal.unreadableCount > 0 {
            invocation.streams.note("\(removal.unreadableCount) installations cannot be read, so their users are not known")
        }
        if traces.keptCount > 0 {
            invocation.streams.note(
                "\(traces.keptCount) notifications on their way name the user and others; run it again once they have ended")
        }
        let removedCount = removal.installationCount + removal.registrationCount + traces.endedCount + traces.refusalCount
        let isFound = removedCount + traces.canceledCount + traces.keptCount > 0
        // Also when nothing was found: an earlier run may have ended here.
        do throws(HubFileError) { try HubFile.rewrite(path: hub.path, handleKey: hub.handleKey) } catch {
            throw CommandFailure(
                .temporary, CommandFailure(error).message,
                hint: "the devices are removed; run it again, with free space of the file's length, so that no trace is left")
        }
        if !isFound { invocation.streams.note("the user is not in it") }
        return isFound ? .done : .nothingMatched
    }
}
