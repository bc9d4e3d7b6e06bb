import DeviceHubs
import HubREST

extension HubCaller {
    /// Makes a registrar's calls until it knows how it ends.
    func run(_ registrar: Registrar) -> Registrar.Ending {
        var registrar = registrar
        var step = registrar.start()
        while true {
            switch step {
            case .end(.done): return endAtHome()
            case .end(let ending): return ending
            case .ask(let call): step = registrar.next(after: reply(to: call))
            }
        }
    }

    /// The end of a call that is done, once the device is at its home alone.
    private func endAtHome() -> Registrar.Ending {
        do throws(RegistrationFailure) {
            try bringHome()
            return .done
        } catch {
            return .failed(error)
        }
    }

    private func reply(to call: Registrar.Call) -> Registrar.Reply {
        do throws(RegistrationFailure) {
            switch call {
            case .find(let handle, let platform): return .registrations(try registrations(of: handle, on: platform))
            case .read(let id):
                return .installations(try copies(of: id))
            case .write(let installation): _ = try perform(.putInstallation(installation))
            case .removeInstallation(let id): _ = try perform(.deleteInstallation(id: id))
            case .removeRegistration(let id, let etag): _ = try perform(.deleteRegistration(id: id, etag: etag))
            }
            return .done
        } catch {
            return .failed(error)
        }
    }
}
