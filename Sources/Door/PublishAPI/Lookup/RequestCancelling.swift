import GatewayAPI
import HTTPServing
package import Kafka
package import PushModel

/// Cancels requests by a record of the control topic.
package struct RequestCancelling: Sendable {
    /// Hands a record to Kafka's client, which calls `report` once unless this throws.
    package typealias Writing =
        @Sendable (
            _ record: CancelRecord, _ moment: Timestamp, _ report: @escaping @Sendable (Producer.Delivery) -> Void
        ) throws(KafkaError) -> Void

    /// The topic of the cancellations.
    let topic: String
    let write: Writing

    package init(topic: String, write: @escaping Writing) {
        self.topic = topic
        self.write = write
    }

    /// Writes a cancellation of what was published under this id until `moment`, and answers 202, once, when Kafka has it. The
    /// request's result says whether it came in time. Requests of another source or, where the asker has one, of another tenant
    /// are not meant, though they have this id.
    func cancel(
        _ request: PublishedRequest, of asker: Asker, reason: String?, at moment: Timestamp,
        then answer: @escaping @Sendable (APIAnswer) -> Void
    ) {
        do throws(KafkaError) {
            let source = request.owner.source ?? (asker.mayOperate ? nil : asker.source)
            let scope = CancelRecord.Scope(source: source, tenant: asker.tenant)
            let record = CancelRecord(requestID: request.id, scope: scope, reason: reason)
            try write(record, moment) { [topic] delivery in
                switch delivery {
                case .persisted: answer(Self.accepted(request.id, at: moment))
                case .notPersisted(let error): answer(APIAnswer(Self.notCancelled(error, in: topic)))
                case .possiblyPersisted: answer(APIAnswer(APIProblem.perhapsCancelled))
                }
            }
        } catch {
            answer(APIAnswer(Self.notCancelled(error, in: topic)))
        }
    }

    /// The reason in a body: none, or an object with `reason` alone.
    ///
    /// - Throws: 400, 413 and 415 for what is no JSON; 422 with each fault.
    static func reason(in call: HTTPServerRequest) throws(APIProblem) -> String? {
        guard !call.body.isEmpty else { return nil }
        let document = try JSONBody.read(call.body, contentType: call.headers.single("Content-Type"))
        var faults: [RequestFault] = []
        var reason: String?
        if document.kind(of: document.root) != .object {
            faults.append(RequestFault(.schemaInvalid, at: "", message: "The body must be an object."))
        } else {
            document.forEachMember(of: document.root) { name, value in
                if !document.isEqual(name, to: "reason") {
                    faults.note(
                        RequestFault(
                            .schemaInvalid, at: document.pointer(to: value),
                            message: "There is no such member; reason is the only one."))
                } else if document.kind(of: value) != .string {
                    faults.note(
                        RequestFault(.schemaInvalid, at: document.pointer(to: value), message: "The reason must be a string."))
                } else {
                    reason = document.string(document.text(of: value))
                }
            }
        }
        if let count = reason?.count, count > CancelRecord.maximumReasonLength {
            let most = CancelRecord.maximumReasonLength
            faults.append(
                RequestFault(
                    .schemaInvalid, at: "/reason", message: "The reason has \(count) characters; at most \(most) are allowed."))
        }
        guard faults.isEmpty else {
            throw APIProblem(
                422, code: .invalidRequest, detail: "The body is not what this call takes; errors names each fault.",
                faults: faults)
        }
        return reason
    }

    private static func notCancelled(_ error: KafkaError, in topic: String) -> APIProblem {
        .notTaken(error, in: topic, retryAfter: 1000, of: .cancellation)
    }

    private static func accepted(_ id: String, at moment: Timestamp) -> APIAnswer {
        var json = ByteWriter()
        json.append("{\"id\":", json: id)
        json.append(",\"state\":\"cancelling\",\"cancelled_at\":\"")
        json.append(moment)
        json.append("\"}")
        return APIAnswer(status: 202, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }
}

extension APIProblem {
    /// 403: it is another key's, and only its own requests may a key cancel.
    static let notYourRequest = APIProblem(
        403, code: .forbiddenScope,
        detail:
            "It was published by another source or tenant than the key's. A key with the scope operate cancels those of others, "
            + "and so does `pushfan cancel ID`.")

    /// 504: the cancellation may be written. Cancelling twice is the same as once.
    static let perhapsCancelled = APIProblem(
        504, code: .ackUnknown, detail: "It is not known whether the cancellation was written: Kafka did not say so in time.",
        retry: .safe, retryAfter: 1000)
}
