/// A push service's report of a device that it refused ("Push Notification System feedback").
package struct PNSFeedback: Sendable {
    /// Milliseconds since 1970.
    package let at: Int64
    package let outcome: String
    package let platform: HubPlatform
    package let handle: String
    package let registrationID: String
    package let installationID: String?
    package let notificationID: String

    /// The report of a refused delivery.
    package init(_ refusal: Reach.RefusedDelivery, notificationID: String, at now: Int64) {
        let delivery = refusal.delivery
        (at, outcome, platform, handle) = (now, refusal.outcome, delivery.device.platform, delivery.handle)
        (registrationID, installationID, self.notificationID) = (delivery.registrationID, delivery.installationID, notificationID)
    }

    package init(
        at: Int64, outcome: String, platform: HubPlatform, handle: String, registrationID: String, installationID: String?,
        notificationID: String
    ) {
        (self.at, self.outcome, self.platform, self.handle) = (at, outcome, platform, handle)
        (self.registrationID, self.installationID, self.notificationID) = (registrationID, installationID, notificationID)
    }

    /// The month, day and year with which the name of the feedback's blob begins.
    package var day: String {
        let compact = Moment(milliseconds: at).compact
        return String(compact.dropFirst(4).prefix(4) + compact.prefix(4))
    }

    /// One XML document a line, each declaring an encoding that it does not have, as the service's do.
    package static func document(_ feedback: [PNSFeedback]) -> [UInt8] {
        feedback.flatMap { $0.xml + [UInt8(ascii: "\n")] }
    }

    private var xml: [UInt8] {
        let namespaces = [("xmlns:i", XMLWriter.schemaInstance), ("xmlns", XMLWriter.serviceBus)]
        return XMLWriter.document(encoding: "utf-16") { writer in
            writer.element("PnsFeedback", attributes: namespaces) { writer in
                writer.element("FeedbackTime", text: Moment(milliseconds: at).dotNet)
                writer.element("NotificationSystemError", text: outcome)
                writer.element("Platform", text: platform.installationName.lowercased())
                writer.element("PnsHandle", text: handle)
                if !registrationID.isEmpty { writer.element("RegistrationId", text: registrationID) }
                if let installationID { writer.element("InstallationId", text: installationID) }
                writer.element("NotificationId", text: notificationID)
            }
        }
    }
}
