import HTTPServing

extension HubServer {
    /// `PUT /installations/{id}`: creates or overwrites.
    func putInstallation(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            let installation = try InstallationReader(call.request.body).installation(id: id)
            try installation.checkHandles()
            try write(installation, at: call.moment.milliseconds)
            return .empty(200)
        }
    }

    /// `GET /installations/{id}`: JSON, under the content type that the service gives it.
    func getInstallation(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            let found = try devices.read { (book) throws(RefusedCall) in try book.installation(id) }
            guard let found, !found.isExpired(at: call.moment.milliseconds) else { throw Self.noInstallation }
            return .body(200, bytes: InstallationWriter.json(found), contentType: "application/xml; charset=utf-8")
        }
    }

    /// `PATCH /installations/{id}`.
    func patchInstallation(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            let now = call.moment.milliseconds
            let written = try devices.change { [self, body = call.request.body] (book) throws(RefusedCall) in
                guard var installation = try book.installation(id), !installation.isExpired(at: now) else {
                    throw Self.noInstallation
                }
                try InstallationPatch.apply(body, to: &installation)
                try installation.checkHandles()
                let registrations = derived(from: installation, at: now)
                try book.checkRoom(for: registrations, replacing: id)
                try book.write(installation, as: registrations)
                return registrations
            }
            announce(written)
            return .empty(200)
        }
    }

    /// `DELETE /installations/{id}`: 204, also when there is none.
    func deleteInstallation(id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            try devices.change { (book) throws(RefusedCall) in try book.removeInstallation(id) }
            return .empty(204)
        }
    }

    private static var noInstallation: RefusedCall { RefusedCall(404, detail: "Installation not found") }
}
