import FanOut
import HTTPServing
import PushModel

extension HubServer {
    /// The longest time by which a message may be scheduled ahead: 7 days ("Scheduled notifications").
    private static let maximumDelay: Int64 = 7 * 86_400_000

    /// `POST /messages`: to tags, to everyone, or with `direct` to one handle. With `test` the outcome is answered.
    func send(_ call: HubCall) -> HubReply {
        answering { () throws(RefusedCall) in
            let reader = NotificationReader(call: call, body: call.request.body)
            var audience = try reader.taggedAudience()
            if call.hasFlag("direct") {
                guard let handle = call.notificationHeader("DeviceHandle"), !handle.isEmpty else {
                    throw .invalid("The HTTP header \"ServiceBusNotification-DeviceHandle\" is missing or empty")
                }
                audience = .handles([handle])
            }
            let notification = try reader.notification(to: audience)
            return try call.hasFlag("test")
                ? test(notification, of: call) : accept(notification, of: call, path: "messages/")
        }
    }

    /// `POST /messages/$batch`: one notification to up to 1,000 handles.
    func sendBatch(_ call: HubCall) -> HubReply {
        return answering { () throws(RefusedCall) in
            guard call.hasFlag("direct") else { throw .invalid("A batch needs the flag 'direct' in its query") }
            // No source documents the service's answer. An answer as to a send would hide that nothing was tested.
            guard !call.hasFlag("test") else { throw .invalid("The flag 'test' is not allowed in a batch's query") }
            let contentType = call.request.headers["Content-Type"] ?? ""
            guard let body = MultipartBody(call.request.body, contentType: contentType), let content = body["notification"],
                let devices = body["devices"]
            else { throw .invalid("Could not find a part of the multipart content supplied.") }
            let handles = try Self.handles(devices.content)
            let reader = NotificationReader(call: call, body: content.content, isBatch: true)
            return try accept(reader.notification(to: .handles(handles)), of: call, path: "messages/$batch/")
        }
    }

    /// `POST /schedulednotifications`: kept until its time, then delivered to the devices registered by then.
    func schedule(_ call: HubCall) -> HubReply {
        return answering { () throws(RefusedCall) in
            let reader = NotificationReader(call: call, body: call.request.body)
            let now = call.moment.milliseconds
            guard let time = call.notificationHeader("ScheduleTime").flatMap(Moment.init(reading:)) else {
                throw .invalid("The HTTP header \"ServiceBusNotification-ScheduleTime\" is missing or is not a date and time")
            }
            guard time.milliseconds > now, time.milliseconds <= now + Self.maximumDelay else {
                throw .invalid("A notification can be scheduled for a time in the next 7 days only")
            }
            var notification = try reader.notification(to: try reader.taggedAudience())
            notification.id = identify { $0.scheduledID(at: call.moment) }
            _ = try messages.accept(notification, of: call, due: time.milliseconds)
            return HubReply(
                status: 201, headers: ["Location": call.link("schedulednotifications/" + notification.id)],
                notificationID: notification.id, collapseKey: notification.collapseKey)
        }
    }

    /// `DELETE /schedulednotifications/{id}`.
    func cancelSchedule(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            guard try messages.cancel(id, now: call.moment.milliseconds) else {
                throw RefusedCall(404, detail: "The scheduled notification does not exist")
            }
            return .empty(200)
        }
    }

    private func accept(
        _ read: Notification, of call: HubCall, path: String
    ) throws(RefusedCall) -> HubReply {
        var notification = read
        notification.id = identify { $0.notificationID(at: call.moment) }
        let acceptance = try messages.accept(notification, of: call, due: nil)
        var answer = HubReply.empty(201)
        answer.notificationID = notification.id
        answer.rungCount = acceptance.rungCount
        answer.brokenRule = acceptance.brokenRule
        answer.collapseKey = notification.collapseKey
        if call.tier == .standard { answer.headers = ["Location": call.link(path + notification.id)] }
        return answer
    }

    /// A test send: at most 10 devices at random, at most 10 calls in a minute, and the outcome as XML.
    private func test(_ notification: Notification, of call: HubCall) throws(RefusedCall) -> HubReply {
        guard let reach = try messages.test(notification, of: call) else {
            var answer = HubReply.error(
                call.apiVersion >= .answers429 ? 429 : 403, detail: "At most 10 test sends are allowed in a minute")
            answer.headers = ["Retry-After": "60"]
            return answer
        }
        var answer = HubReply.body(
            201, bytes: TestOutcome.xml(reach), contentType: "application/xml; charset=utf-8")
        answer.rungCount = reach.rung.count
        answer.brokenRule = reach.rule
        answer.collapseKey = notification.collapseKey
        return answer
    }

    /// The handles of a batch: a JSON array of strings. Single quotes are read as double ones, as in the documentation's example.
    private static func handles(_ content: [UInt8]) throws(RefusedCall) -> [String] {
        var document = JSONDocument()
        if (try? document.read(content.span)) == nil {
            let lenient = content.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 }
            do { try document.read(lenient.span) } catch {
                throw .invalid("The devices are not a JSON array. \(error.sentence)")
            }
        }
        guard document.kind(of: document.root) == .array, document.childCount(of: document.root) > 0 else {
            throw .invalid("The devices are not a JSON array with at least one handle")
        }
        var handles: [String] = []
        try document.forEachElement(of: document.root) { (element) throws(RefusedCall) in
            guard document.kind(of: element) == .string, !document.text(of: element).isEmpty else {
                throw .invalid("A device handle is not a string or is empty")
            }
            handles.append(document.string(document.text(of: element)))
        }
        guard handles.count <= NotificationReader.maximumHandleCount else {
            throw .invalid("A batch has \(handles.count) device handles; at most 1000 are allowed")
        }
        return handles
    }

    /// Turns a refusal into its answer.
    func answering(_ body: () throws(RefusedCall) -> HubReply) -> HubReply {
        do { return try body() } catch { return error.answer }
    }
}

/// The body of a test send's answer. Readers depend on the order of its elements.
private enum TestOutcome {
    private static let success = "The Notification was successfully sent to the Push Notification System"
    private static let wrongToken = "The Token obtained from the Token Provider is wrong"
    private static let badNotification = "The Push Notification System refuses the notification"
    private static let unknown = "The Push Notification System has not said what became of the notification"
    private static let badCredentials = "The credentials for the Push Notification System are missing or wrong"
    private static let badHandle = "The Push Notification System handle for the registration is invalid"

    static func xml(_ reach: Reach) -> [UInt8] {
        var writer = XMLWriter()
        writer.element(
            "NotificationOutcome", attributes: [("xmlns", XMLWriter.serviceBus), ("xmlns:i", XMLWriter.schemaInstance)]
        ) { writer in
            writer.element("Success", text: String(reach.rung.count))
            writer.element("Failure", text: String(reach.refused.count))
            writer.element("Results") { writer in
                for delivery in reach.rung { write(delivery, outcome: success, to: &writer) }
                for refusal in reach.refused {
                    let text = refusal.rule.map { "\(badNotification): \($0)" } ?? sentence(of: refusal.outcome)
                    write(refusal.delivery, outcome: text, to: &writer)
                }
            }
        }
        return writer.bytes
    }

    private static func sentence(of outcome: String) -> String {
        switch outcome {
        case "WrongToken": wrongToken
        case "InvalidCredentials": badCredentials
        case "UnknownError": unknown
        default: badHandle
        }
    }

    private static func write(_ delivery: Delivery, outcome: String, to writer: inout XMLWriter) {
        writer.element("RegistrationResult") { writer in
            writer.element("ApplicationPlatform", text: delivery.device.platform.format)
            writer.element("PnsHandle", text: delivery.handle)
            writer.element("RegistrationId", text: delivery.registrationID)
            writer.element("Outcome", text: outcome)
        }
    }
}
