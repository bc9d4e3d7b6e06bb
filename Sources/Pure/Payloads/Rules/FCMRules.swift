import Basics
internal import PushModel

/// The rules of FCM: HTTP v1, whose messages are protocol buffers, and the legacy protocol.
enum FCMRules {
    /// The longest life of a message in seconds, four weeks.
    static let longestLife: Int64 = 2_419_200
    /// The longest duration of protocol buffers in seconds.
    private static let longestDuration: Int64 = 315_576_000_000

    static let body = ValueForm.closed([
        FieldRule("message", as: .closed(message), from: .fcmMessage)
    ])

    private static let message: [FieldRule] =
        FieldRule.each(["token", "topic", "condition", "fid"], as: .target, from: .hubTarget)
        + [
            FieldRule("name", as: .text(.any), from: .fcmMessage),
            FieldRule("data", as: .strings(reservedBy: .fcmv1), from: .fcmMessage),
            FieldRule(
                "notification", as: .closed(FieldRule.each(["title", "body", "image"], as: text, from: .fcmMessage)),
                from: .fcmMessage),
            FieldRule("android", as: .closed(android), from: .fcmMessage),
            FieldRule("webpush", as: .closed(webPush), from: .fcmMessage),
            FieldRule("apns", as: .closed(apns), from: .fcmMessage),
            FieldRule("fcm_options", as: .closed([label]), from: .fcmMessage),
        ]

    private static let android: [FieldRule] =
        FieldRule.each(["collapse_key", "restricted_package_name"], as: text, from: .fcmMessage)
        + [
            FieldRule("priority", as: .word(["normal", "high"]), from: .fcmMessage),
            FieldRule("ttl", as: .text(.duration(longestLife)), from: .fcmMessage),
            FieldRule("data", as: .strings(reservedBy: .fcmv1), from: .fcmMessage),
            FieldRule("notification", as: .closed(androidNotification), from: .fcmMessage),
            FieldRule("fcm_options", as: .closed([label]), from: .fcmMessage),
        ]
        + FieldRule.each(
            ["direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"], as: .flag, from: .fcmMessage)

    private static let androidNotification: [FieldRule] =
        FieldRule.each(
            [
                "title", "body", "icon", "sound", "tag", "click_action", "body_loc_key", "title_loc_key", "channel_id", "ticker",
                "image",
            ], as: text, from: .fcmMessage)
        + FieldRule.each(["body_loc_args", "title_loc_args"], as: .array(text), from: .fcmMessage)
        + FieldRule.each(
            [
                "sticky", "local_only", "default_sound", "default_vibrate_timings", "default_light_settings",
                "bypass_proxy_notification",
            ], as: .flag, from: .fcmMessage)
        + [
            FieldRule("color", as: .text(.color), from: .fcmMessage),
            FieldRule("event_time", as: .text(.moment), from: .fcmMessage),
            FieldRule(
                "notification_priority",
                as: .word([
                    "priority_unspecified", "priority_min", "priority_low", "priority_default", "priority_high", "priority_max",
                ]), from: .fcmMessage),
            FieldRule(
                "visibility", as: .word(["visibility_unspecified", "private", "public", "secret"]), from: .fcmMessage),
            FieldRule("proxy", as: .word(["proxy_unspecified", "allow", "deny", "if_priority_lowered"]), from: .fcmMessage),
            FieldRule(
                "notification_count", as: .integer(-2_147_483_648...2_147_483_647, isProtocolBuffer: true), from: .fcmMessage),
            FieldRule("vibrate_timings", as: .array(duration), from: .fcmMessage),
            FieldRule("light_settings", as: .closed(lightSettings), from: .fcmMessage),
        ]

    private static let lightSettings: [FieldRule] =
        [
            FieldRule(
                "color",
                as: .closed(
                    FieldRule.each(["red", "green", "blue", "alpha"], as: .number(isProtocolBuffer: true), from: .fcmMessage)),
                from: .fcmMessage)
        ] + FieldRule.each(["light_on_duration", "light_off_duration"], as: duration, from: .fcmMessage)

    private static let webPush: [FieldRule] = [
        FieldRule("headers", as: .headers(webPushHeaders), from: .fcmMessage),
        FieldRule("data", as: .strings(reservedBy: .fcmv1), from: .fcmMessage),
        FieldRule("notification", as: .object, from: .fcmMessage),
        FieldRule(
            "fcm_options", as: .closed([FieldRule("link", as: .text(.secureAddress), from: .fcmMessage), label]),
            from: .fcmMessage),
    ]

    private static let webPushHeaders: [HeaderRule] = [
        HeaderRule("ttl", as: .digits, from: .webPush),
        HeaderRule("urgency", as: .words(["very-low", "low", "normal", "high"]), from: .webPush),
        HeaderRule("topic", as: .base64URL(32), from: .webPush),
    ]

    private static let apns: [FieldRule] = [
        FieldRule("headers", as: .headers(AppleRules.headers), from: .fcmMessage),
        FieldRule("payload", as: AppleRules.body, from: .fcmMessage),
        FieldRule(
            "fcm_options", as: .closed([FieldRule("image", as: text, from: .fcmMessage), label]), from: .fcmMessage),
        FieldRule("live_activity_token", as: text, from: .fcmMessage),
    ]

    private static let text = ValueForm.text(.any)
    private static let duration = ValueForm.text(.duration(longestDuration))
    private static let label = FieldRule("analytics_label", as: .text(.label), from: .fcmLabel)

    /// The rules that no single field has, for the page.
    static let conflicts: [(field: String, rule: String, source: RuleSource)] = [
        ("message", "must stand there", .fcmMessage),
        ("any other field of these objects", "must not stand there", .fcmUnknownName),
        ("message.apns.headers.apns-priority", "must not be 10 for a background push or beside data alone", .fcmPriority),
    ]

    static let legacyBody = ValueForm.open(
        FieldRule.each(["to", "registration_ids", "condition", "notification_key"], as: .target, from: .hubTarget) + [
            FieldRule("data", as: .open([]), from: .fcmLegacy),
            FieldRule("notification", as: .open([]), from: .fcmLegacy),
            FieldRule("collapse_key", as: text, from: .fcmLegacy),
            FieldRule("priority", as: .text(.words(["normal", "high"])), from: .fcmLegacy),
            FieldRule("time_to_live", as: .integer(0...longestLife, isProtocolBuffer: true), from: .fcmLegacy),
        ])
    static let legacyConflicts: [(field: String, rule: String, source: RuleSource)] = [
        ("keys of data", "must not be from or message_type, nor begin with google or gcm", .fcmLegacy)
    ]
}

extension JSONDocument {
    /// The fault of a body for FCM v1. All of it stands below `message`.
    func fcmFault(in body: Node) -> RuleFault? {
        guard given("message", of: body) != nil else {
            return .body(body, "The body for fcmv1 must have a member message that holds everything.")
        }
        if let fault = fault(in: body, by: FCMRules.body) { return .body(fault.node, fault.sentence) }
        guard let message = given("message", of: body), let apns = given("apns", of: message),
            let headers = given("headers", of: apns)
        else { return nil }
        var priority: Node?
        var isBackground = false
        var hasType = false
        var members = children(of: headers)
        while let (key, value) = members.next(in: self) {
            let name = span(text(of: key))
            if name.equalsIgnoringCase("apns-priority"), isEqual(text(of: value), to: "10") { priority = value }
            if name.equalsIgnoringCase("apns-push-type") {
                hasType = true
                isBackground = span(text(of: value)).equalsIgnoringCase("background")
            }
        }
        guard let priority, hasType ? isBackground : isBackgroundPush(message, apns: apns) else { return nil }
        return .body(
            priority, "message.apns.headers.apns-priority must not be 10 for a background push or beside data alone.")
    }

    /// True if an FCM message wakes an app of Apple, or has data for it, and nothing to show. A Live Activity shows its state.
    private func isBackgroundPush(_ message: Node, apns: Node) -> Bool {
        let aps = given("payload", of: apns).flatMap { given("aps", of: $0) }
        guard given("data", of: message) ?? aps.flatMap({ given("content-available", of: $0) }) != nil else { return false }
        guard given("notification", of: message) == nil else { return false }
        return aps.map { shownMember(of: $0) == nil && given("event", of: $0) == nil } ?? true
    }

    /// The fault of a body for the legacy FCM.
    func legacyFCMFault(in body: Node) -> RuleFault? {
        if let fault = fault(in: body, by: FCMRules.legacyBody) { return .body(fault.node, fault.sentence) }
        guard let data = given("data", of: body) else { return nil }
        var members = children(of: data)
        while let (key, value) = members.next(in: self) {
            if isReserved(text(of: key), by: .gcm) { return .body(value, "data has a key that is reserved by gcm.") }
        }
        return nil
    }
}
