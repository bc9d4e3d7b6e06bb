package import GatewayAPI
package import HTTPServing

extension APIOperation.Publish {
    /// 415 for a body of a media type that it does not take.
    package var noMediaType: APIProblem { self == .publishBatch ? .noBatchMediaType : .noRequestMediaType }
}

/// What a call asks for that brings requests, by its operation and its media type.
package enum PublishKind: Sendable, Equatable {
    /// One request is written.
    case single(PublishForm)
    /// Several are written.
    case batch(BatchForm)
    /// One is checked, and nothing is written.
    case trial(PublishForm)

    /// The kind of a call. Nil for a media type that the operation does not take.
    package init?(_ operation: APIOperation.Publish, headers: HTTPFields) {
        switch operation {
        case .publish:
            let type = headers.mediaType
            if type == BatchForm.eventsType {
                self = .batch(.events)
            } else {
                guard let form = PublishForm(type, headers: headers) else { return nil }
                self = .single(form)
            }
        case .publishBatch:
            guard let form = BatchForm(headers) else { return nil }
            self = .batch(form)
        case .explain:
            guard let form = PublishForm(headers.mediaType, headers: headers) else { return nil }
            self = .trial(form)
        }
    }

    /// Whether anything is written.
    var writes: Bool { if case .trial = self { false } else { true } }

    /// The most bytes of the body.
    package var maximumByteCount: Int {
        switch self {
        case .single, .trial: APILimit.requestByteCount
        case .batch: APILimit.batchByteCount
        }
    }
}

/// How a body holds a batch of requests.
package enum BatchForm: Sendable, Equatable {
    /// An object whose member `requests` is the list of them: `application/json`.
    case list
    /// A request on each line: `application/x-ndjson`.
    case lines
    /// A list of events whose data are the requests (CloudEvents JSON format 1.0.2, section 4).
    case events

    /// The media type of a list of events, at `POST /v1/requests`.
    static let eventsType = "application/cloudevents-batch+json"

    /// The form of a body of `POST /v1/requests:batch`. Nil for one that is not admitted.
    init?(_ headers: HTTPFields) {
        switch headers.mediaType {
        case "application/json": self = .list
        case "application/x-ndjson": self = .lines
        default: return nil
        }
    }
}
