import HTTPServing
import Synchronization

extension EmulatedHub {
    /// `PUT /installations/{id}`: creates or overwrites.
    func putInstallation(_ call: HubCall, id: String) -> EmulatedAnswer {
        answering { () throws(RefusedCall) in
            let installation = try InstallationReader(call.request.body).installation(id: id)
            try installation.checkHandles()
            state.withLock { $0.write(installation, at: call.moment.milliseconds) }
            return .empty(200)
        }
    }

    /// `GET /installations/{id}`: JSON, under the content type that the service gives it.
    func getInstallation(id: String) -> EmulatedAnswer {
        guard let installation = state.withLock({ $0.installations[id] }) else {
            return .error(404, detail: "Installation not found")
        }
        return .body(200, bytes: InstallationWriter.json(installation), contentType: "application/xml; charset=utf-8")
    }

    /// `PATCH /installations/{id}`.
    func patchInstallation(_ call: HubCall, id: String) -> EmulatedAnswer {
        state.withLock { state in
            guard var installation = state.installations[id] else { return .error(404, detail: "Installation not found") }
            return answering { () throws(RefusedCall) in
                try InstallationPatch.apply(call.request.body, to: &installation)
                try installation.checkHandles()
                state.write(installation, at: call.moment.milliseconds)
                return .empty(200)
            }
        }
    }

    /// `DELETE /installations/{id}`: 204, also when there is none.
    func deleteInstallation(id: String) -> EmulatedAnswer {
        state.withLock { $0.removeInstallation(id) }
        return .empty(204)
    }
}

extension HubState {
    /// Writes an installation, and the registrations that stand for it in place of the earlier ones.
    mutating func write(_ installation: EmulatedInstallation, at now: Int64) {
        removeInstallation(installation.id)
        var installation = installation
        for var registration in installation.registrations(makeID: { identifiers.registrationID() }) {
            registration.writtenAt = now
            installation.registrationIDs.append(registration.id)
            write(registration)
        }
        installations[installation.id] = installation
    }

    /// Forgets an installation with its registrations.
    mutating func removeInstallation(_ id: String) {
        for registration in installations.removeValue(forKey: id)?.registrationIDs ?? [] { registrations.remove(registration) }
    }
}
