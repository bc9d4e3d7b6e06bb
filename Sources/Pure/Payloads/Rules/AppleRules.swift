internal import PushModel

/// The rules of APNs.
enum AppleRules {
    static let headers: [HeaderRule] = [
        HeaderRule("apns-collapse-id", as: .bytes(CollapseID.maximumByteCount), from: .appleHeaders),
        HeaderRule("apns-priority", as: .words(["1", "5", "10"]), from: .appleHeaders),
        HeaderRule("apns-expiration", as: .digits, from: .appleHeaders),
        HeaderRule("apns-id", as: .uuid, from: .appleHeaders),
        HeaderRule("apns-push-type", as: .words(pushTypes), from: .appleHeaders),
    ]

    private static let pushTypes: [StaticString] = [
        "alert", "background", "voip", "complication", "fileprovider", "location", "liveactivity", "pushtotalk", "widgets",
        "controls", "mdm",
    ]

    /// The form that FCM asks of `message.apns.payload`. APNs itself does not judge what is inside `aps`: a device passes over what it does not know.
    static let body = ValueForm.open([FieldRule("aps", as: .open(aps), from: .applePayload)])

    private static let aps: [FieldRule] =
        [FieldRule("alert", as: .textOrOpen(alert), from: .applePayload)]
        + [
            FieldRule("badge", as: .integer(0...(.max), isProtocolBuffer: false), from: .applePayload),
            FieldRule("sound", as: .textOrObject, from: .applePayload),
        ]
        + FieldRule.each(["content-available", "mutable-content"], as: .toggle, from: .applePayload)
        + FieldRule.each(["thread-id", "category", "target-content-id", "filter-criteria"], as: .text(.any), from: .applePayload)
        + [
            FieldRule(
                "interruption-level", as: .text(.words(["passive", "active", "time-sensitive", "critical"])), from: .applePayload)
        ]
        + FieldRule.each(
            ["relevance-score", "timestamp", "stale-date", "dismissal-date"], as: .number(isProtocolBuffer: false),
            from: .applePayload)
        + FieldRule.each(["content-state", "attributes"], as: .object, from: .applePayload)
        + [FieldRule("attributes-type", as: .text(.any), from: .applePayload)]

    /// A title or a body is an object in the alert of a Live Activity.
    private static let alert: [FieldRule] =
        FieldRule.each(["title", "subtitle", "body"], as: .textOrObject, from: .applePayload)
        + FieldRule.each(
            ["launch-image", "title-loc-key", "subtitle-loc-key", "loc-key"], as: .text(.any), from: .applePayload)
        + FieldRule.each(["title-loc-args", "subtitle-loc-args", "loc-args"], as: .array(.text(.any)), from: .applePayload)

    /// The rules about headers and body together, for the page.
    static let conflicts: [(field: String, rule: String, source: RuleSource)] = [
        ("body", "must not be empty", .appleReasons),
        ("apns-priority", "must not be 10 \(ofBackgroundPush)", .appleHeaders),
        ("aps.{alert, badge, sound}", "must not stand there with apns-push-type background", .appleHeaders),
    ]

    static let ofBackgroundPush = "for a background push"
}

extension JSONDocument {
    /// The fault of a body for Apple and what contradicts its headers.
    func appleFault(in body: Node, beside given: NativeHeaders) -> RuleFault? {
        if childCount(of: body) == 0 { return .body(body, "The body must not be an empty object.") }
        if given.hasHighestPriority && (given.names.contains(.pushType) ? given.isBackground : isBackgroundPush(body)) {
            return .header("apns-priority", "apns-priority must not be 10 \(AppleRules.ofBackgroundPush).")
        }
        guard let aps = self.given("aps", of: body) else { return nil }
        if given.isBackground, let shown = shownMember(of: aps) {
            return .body(shown, "aps must not have alert, badge or sound when apns-push-type is background.")
        }
        return nil
    }

    /// True if the payload for Apple wakes the app and shows nothing.
    func isBackgroundPush(_ body: Node) -> Bool {
        guard let aps = given("aps", of: body), let wakes = given("content-available", of: aps) else { return false }
        return integer(at: wakes) != 0 && kind(of: wakes) != .false && shownMember(of: aps) == nil
    }

    /// The member of `aps` that the device shows or plays.
    func shownMember(of aps: Node) -> Node? { given("alert", of: aps) ?? given("badge", of: aps) ?? given("sound", of: aps) }
}
