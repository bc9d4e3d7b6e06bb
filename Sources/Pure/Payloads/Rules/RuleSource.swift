/// The page that a rule is from.
struct RuleSource: Sendable, Equatable {
    /// The page's name, with its owner.
    let name: StaticString
    let address: StaticString

    static func == (left: Self, right: Self) -> Bool { "\(left.address)" == "\(right.address)" }

    static let appleHeaders = Self(
        name: "Apple, Sending notification requests to APNs",
        address: "https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns")
    static let applePayload = Self(
        name: "Apple, Generating a remote notification",
        address: "https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification")
    static let appleReasons = Self(
        name: "Apple, Handling notification responses from APNs",
        address: "https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns")
    static let fcmMessage = Self(
        name: "Firebase, projects.messages",
        address: "https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages")
    static let fcmLabel = Self(
        name: "Firebase, Understanding message delivery",
        address: "https://firebase.google.com/docs/cloud-messaging/understand-delivery")
    static let fcmPriority = Self(
        name: "Firebase, Set the priority of a message",
        address: "https://firebase.google.com/docs/cloud-messaging/customize-messages/setting-message-priority")
    static let fcmUnknownName = Self(
        name: "firebase-admin-node, issue 457", address: "https://github.com/firebase/firebase-admin-node/issues/457")
    static let fcmLegacy = Self(
        name: "Firebase, legacy HTTP protocol",
        address: "https://firebase.google.com/docs/cloud-messaging/http-server-ref")
    static let hubTarget = Self(
        name: "azure-notificationhubs-dotnet, issue 318",
        address: "https://github.com/Azure/azure-notificationhubs-dotnet/issues/318")
    static let webPush = Self(name: "RFC 8030, section 5", address: "https://www.rfc-editor.org/rfc/rfc8030#section-5")
    static let windowsHeaders = Self(
        name: "Microsoft, Push notification service request and response headers",
        address:
            "https://learn.microsoft.com/windows/apps/develop/notifications/push-notifications/push-request-response-headers")
    static let windowsPriority = Self(
        name: "Microsoft, WNS notification priorities",
        address: "https://learn.microsoft.com/windows/apps/develop/notifications/push-notifications/wns-notification-priorities")
    static let amazonMessage = Self(
        name: "Amazon, Send a message", address: "https://developer.amazon.com/docs/adm/send-message.html")
    static let amazonOverview = Self(
        name: "Amazon, Overview of Amazon Device Messaging", address: "https://developer.amazon.com/docs/adm/overview.html")
}
