package import AppAPI
package import FanOut
package import HubREST
import PushModel

/// A hub that keeps installations and registrations in memory, and counts what it is asked.
package struct ModelHub {
    package var installations: [String: Installation] = [:]
    package var registrations: [DeviceRegistration] = []
    /// The calls, in order.
    package private(set) var calls: [Registrar.Call] = []
    /// The reply to calls of this kind, in place of what the hub would say.
    package var failure: (kind: String, reply: Registrar.Reply)?

    package init(
        installations: [String: Installation] = [:], registrations: [DeviceRegistration] = [], calls: [Registrar.Call] = [],
        failure: (kind: String, reply: Registrar.Reply)? = nil
    ) {
        self.installations = installations
        self.registrations = registrations
        self.calls = calls
        self.failure = failure
    }

    /// Makes a registrar's calls until it answers.
    package mutating func run(_ registrar: Registrar) -> Registrar.Ending {
        var registrar = registrar
        calls = []
        var step = registrar.start()
        while true {
            switch step {
            case .end(let ending): return ending
            case .ask(let call):
                calls.append(call)
                step = registrar.next(after: reply(to: call))
            }
        }
    }

    /// The names of the calls, in order.
    package var names: [String] { calls.map(\.description) }

    private mutating func reply(to call: Registrar.Call) -> Registrar.Reply {
        if let failure, failure.kind == call.description { return failure.reply }
        switch call {
        case .find(let handle, let platform): return .registrations(registrations(of: handle, platform))
        case .read(let id): return .installations(installations[id].map { [$0] } ?? [])
        case .write(let installation): installations[installation.id] = installation
        case .removeInstallation(let id): installations[id] = nil
        case .removeRegistration(let id, _): registrations.removeAll { $0.id == id }
        }
        return .done
    }

    private func registrations(of handle: String, _ platform: Platform?) -> [DeviceRegistration] {
        let derived = installations.values.sorted { $0.id < $1.id }.map { installation in
            var known: Platform?
            if case .known(let platform) = installation.platform { known = platform }
            return DeviceRegistration(
                id: "of-\(installation.id)", etag: "1", platform: known, handle: installation.pushChannel,
                tags: ["$InstallationId:{\(installation.id)}"] + installation.tags)
        }
        return (derived + registrations).filter { registration in
            guard platform == nil || registration.platform == platform else { return false }
            let theirs = registration.handle ?? ""
            return registration.platform == .apple ? theirs.uppercased() == handle.uppercased() : theirs == handle
        }
    }
}

/// The people and rules of the tests.
package struct People {
    package let users: UserTag.Pattern
    package let rules: TagRules
    package let alice: UserTag
    package let bob: UserTag

    package init(_ pattern: String = "username:{user}") throws {
        users = try UserTag.Pattern(pattern)
        rules = TagRules(users: users, reserved: ["staff"])
        alice = users.tag(of: "alice")
        bob = users.tag(of: "bob")
    }
}
