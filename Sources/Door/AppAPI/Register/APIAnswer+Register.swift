import DeviceHubs
import GatewayAPI

extension APIAnswer {
    /// The answer to a call of `/api/register` that ended.
    init(_ ending: Registrar.Ending) {
        switch ending {
        case .id(let id): self = .registration(id)
        case .done: self = .done
        case .notFound: self = APIAnswer(APIProblem.notFound)
        case .failed(let failure): self = APIAnswer(APIProblem(failure, whenThrottled: 503))
        }
    }
}
