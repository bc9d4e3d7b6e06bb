@testable import DeviceAPI
import Basics
import DeviceHubs
import HubREST
import PushModel

/// A hub that shows what was written when it is told to, behind the memory of a gateway.
struct LateHub {
    private static let name = "main"

    /// What the hub has, and what it shows.
    private(set) var truth: [String: Installation] = [:]
    private(set) var shown: [String: Installation] = [:]
    var natives: [DeviceRegistration] = []
    let memory: DeviceMemory
    private(set) var calls: [String] = []
    /// The reply to calls of this kind, in place of the hub's.
    var failure: (kind: String, reply: DeviceDesk.Reply)?
    /// Whether a write is shown at once.
    var isLate = false

    /// A hub behind a gateway whose clock stands still.
    init() { memory = DeviceMemory(now: { MonotonicTime(nanoseconds: 1) }) }

    /// Shows all that was written.
    mutating func catchUp() { shown = truth }

    /// Has an installation that no gateway wrote.
    mutating func add(_ installation: Installation) {
        truth[installation.id] = installation
        catchUp()
    }

    /// Takes a change that another gateway makes, and shows it.
    mutating func changeElsewhere(_ body: (inout [String: Installation]) -> Void) {
        body(&truth)
        catchUp()
    }

    /// Makes a desk's calls until it answers.
    mutating func run(_ desk: DeviceDesk, on id: String) -> DeviceDesk.Ending {
        var desk = desk
        calls = []
        var step = desk.start()
        while true {
            switch step {
            case .end(let ending): return ending
            case .ask(let call): step = desk.next(after: reply(to: call, on: id))
            }
        }
    }

    /// Makes one call, and remembers it as a gateway does.
    mutating func reply(to call: DeviceDesk.Call, on id: String) -> DeviceDesk.Reply {
        calls.append(call.description)
        if let failure, failure.kind == call.description { return failure.reply }
        defer { if !isLate { catchUp() } }
        switch call {
        case .read:
            let found = memory.installation(id, at: Self.name, showing: shown[id])
            return .installations(found.map { [$0] } ?? [])
        case .find(let handle, let platform):
            let listed = natives + shown.values.sorted { $0.id < $1.id }.map(Self.registration)
            let found = listed.filter { HandleDuplicates.has($0, handle: handle) }
            return .registrations(memory.corrected(found, of: handle, on: platform, at: Self.name))
        case .findRivals(let handle, let platform):
            return .registrations(memory.rivals(of: id, handle: handle, on: platform, at: Self.name))
        case .write(let installation):
            truth[id] = installation
            memory.note(.putInstallation(installation), at: Self.name, over: shown[id])
        case .patch(let changes, let result):
            guard let tags = truth[id]?.tags else {
                return .failed(RegistrationFailure(.absent, code: .hubNotFound))
            }
            truth[id]?.tags = Self.changed(tags, by: changes)
            memory.keep(result, as: id, at: Self.name, over: shown[id], isChange: true)
        case .remove: remove(id)
        case .removeDuplicate(let other, _, _): if memory.mayRemove(other, for: id, at: [Self.name]) { remove(other) }
        case .removeRegistration(let other, _): natives.removeAll { $0.id == other }
        }
        return .done
    }

    private mutating func remove(_ id: String) {
        truth[id] = nil
        memory.note(.deleteInstallation(id: id), at: Self.name, over: shown[id])
    }

    private static func changed(_ tags: [String], by changes: [InstallationChange]) -> [String] {
        changes.reduce(into: tags) { tags, change in
            if let tag = change.value {
                if !tags.contains(tag) { tags.append(tag) }
            } else {
                tags.removeAll { change.path == "/tags/\($0)" }
            }
        }
    }

    private static func registration(_ installation: Installation) -> DeviceRegistration {
        var platform: Platform?
        if case .known(let known) = installation.platform { platform = known }
        return DeviceRegistration(
            id: "of-\(installation.id)", platform: platform, handle: installation.pushChannel,
            tags: ["$InstallationId:{\(installation.id)}"] + installation.tags)
    }
}
