import DeviceHubs
import HubREST

extension HubCaller {
    /// Makes a desk's calls until it knows how it ends. The answers go by what this gateway wrote in the last minute.
    func run(_ desk: DeviceDesk, on id: String) -> DeviceDesk.Ending {
        goesByMemory = true
        var desk = desk
        var step = desk.start()
        while true {
            switch step {
            case .end(let ending): return ending
            case .ask(let call): step = desk.next(after: reply(to: call, on: id))
            }
        }
    }

    private func reply(to call: DeviceDesk.Call, on id: String) -> DeviceDesk.Reply {
        do throws(RegistrationFailure) {
            switch call {
            case .read:
                return .installations(try copies(of: id))
            case .find(let handle, let platform): return .registrations(try registrations(of: handle, on: platform))
            case .findRivals(let handle, let platform):
                return .registrations(try rivals(of: id, handle: handle, on: platform))
            case .write(let installation): _ = try perform(.putInstallation(installation))
            case .patch(let changes, let result): try patch(result, by: changes)
            case .remove: _ = try perform(.deleteInstallation(id: id))
            case .removeDuplicate(let other, let handle, let platform):
                try removeDuplicate(other, of: id, handle: handle, on: platform)
            case .removeRegistration(let id, let etag): _ = try perform(.deleteRegistration(id: id, etag: etag))
            }
            return .done
        } catch {
            return .failed(error)
        }
    }
}
