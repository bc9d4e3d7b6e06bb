extension ErrorCode.Explanation {
    // The codes that results of the kind `outcome` have: the hub had accepted the call, and this is what its telemetry tells.

    static let devicesRefused = Self(
        cause: "The push services refused the notification for some of the devices, or for all.",
        effect: "What they said is in pns_outcomes; the devices under Success were reached, the others were not.",
        remedy: "Remove handles that are dead (push.handles.v1 lists them), correct InvalidCredentials in the hub's settings.")
    static let nothingCounted = Self(
        cause: "The hub completed the notification and counted no device, neither reached nor refused.",
        effect: "It is unknown whether devices were reached.",
        remedy: "Send natively instead of by template or $InstallationId if these are FCM v1 devices: the hub counts none then.")
    static let noTarget = Self(
        cause: "No device is registered for the audience.", effect: "No device was reached.",
        remedy: "Check the tags, or have the devices registered; a replay before that ends the same way.")
    static let hubAbandoned = Self(
        cause: "The hub gave the notification up after its 30 minutes.",
        effect: "Devices may have been reached; those under Success in pns_outcomes were.",
        remedy: "Decide whether ringing twice is better than not at all; look at the push services' state if it comes often.")
    static let hubCanceled = Self(
        cause: "The notification was cancelled at the hub.", effect: "What had not been delivered by then was not.",
        remedy: "None is needed; replay it if it was cancelled by mistake.")
    static let hubStateUnknown = Self(
        cause: "The hub's telemetry says Unknown, and went on saying so until the deadline.",
        effect: "It is unknown whether devices were reached.",
        remedy: "Decide whether ringing twice is better than not at all.")
    static let telemetryUnfinished = Self(
        cause: "The hub had not finished the notification when the deadline came.",
        effect: "Devices may have been reached; those under Success in pns_outcomes were.",
        remedy: "Wait longer (hub.outcome_deadline), or decide whether ringing twice is better than not at all.")
    static let telemetryMissing = Self(
        cause: "The hub accepted the notification, but its telemetry did not appear in the time that it may take.",
        effect: "It is unknown whether devices were reached.",
        remedy: "Decide whether ringing twice is better than not at all; tell the hub's support if it comes often.")
    static let telemetryUnanswered = Self(
        cause: "No telemetry poll for the notification was answered in time, or the hub refused it.",
        effect: "It is unknown whether devices were reached.",
        remedy: "Look for throttling and outages at that time, and at `pushfan_outcome_polls_total`.")
    static let telemetryUnavailable = Self(
        cause:
            "The outcome cannot be followed: the hub's tier has no telemetry, its policy lacks the right, or no delay lane is there.",
        effect: "It is known that the hub accepted the call, and nothing more.",
        remedy: "Use a hub of the Standard tier, have the topics created (`pushfan topics create`), or leave track_outcome out.")
}
