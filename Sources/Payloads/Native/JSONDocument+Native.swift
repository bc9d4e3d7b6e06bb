internal import PushModel

extension JSONDocument {
    /// The fault of a native body for `platform`, at the first place where something is wrong, or nil.
    func nativeFault(in body: Node, for platform: Platform) -> (node: Node, sentence: String)? {
        guard kind(of: body) == .object else { return (body, "The body must be a JSON object.") }
        switch platform {
        case .apple:
            // APNs takes any dictionary that is not empty (page HubProtocol, "Platforms").
            return childCount(of: body) > 0 ? nil : (body, "The body must not be an empty object.")
        case .fcmv1: return fcmFault(in: body)
        case .gcm: return targetFault(in: body, among: ["to", "registration_ids", "condition", "notification_key"])
        case .windows, .adm, .baidu, .browser, .xiaomi: return nil
        }
    }

    /// The body of an FCM v1 send has all its content below `message`, and no target in it.
    private func fcmFault(in body: Node) -> (node: Node, sentence: String)? {
        var fault: (node: Node, sentence: String)?
        var hasMessage = false
        forEachMember(of: body) { key, value in
            guard fault == nil && isEqual(key, to: "message") else { return }
            hasMessage = true
            guard kind(of: value) == .object else {
                fault = (value, "message must be an object.")
                return
            }
            fault = targetFault(in: value, among: ["token", "topic", "condition", "fid"]) ?? dataFault(in: value)
        }
        return fault ?? (hasMessage ? nil : (body, "The body for fcmv1 must have a member message that holds everything."))
    }

    /// A target in the body does not replace the audience: without tags, such a push reached every device of a hub
    /// (azure-notificationhubs-dotnet issue 318).
    private func targetFault(in object: Node, among names: [StaticString]) -> (node: Node, sentence: String)? {
        var fault: (node: Node, sentence: String)?
        forEachMember(of: object) { key, value in
            guard fault == nil, let name = names.first(where: { isEqual(key, to: $0) }) else { return }
            fault = (value, "\(name) names a target; only the request's audience does.")
        }
        return fault
    }

    /// FCM's `data` maps strings to strings, without the names that FCM keeps for itself.
    private func dataFault(in message: Node) -> (node: Node, sentence: String)? {
        guard let data = member("data", of: message) else { return nil }
        guard kind(of: data) == .object else { return (data, "data must be an object.") }
        var fault: (node: Node, sentence: String)?
        forEachMember(of: data) { key, value in
            guard fault == nil else { return }
            if kind(of: value) != .string {
                fault = (value, "A data value is no string; data holds strings only.")
            } else if isReserved(key, by: .fcmv1) {
                fault = (value, "This data key is reserved by fcmv1.")
            }
        }
        return fault
    }

    /// True if the payload for Apple wakes the app and shows nothing.
    func isBackgroundPush(_ body: Node) -> Bool {
        guard let aps = member("aps", of: body), member("content-available", of: aps) != nil else { return false }
        return member("alert", of: aps) == nil && member("badge", of: aps) == nil && member("sound", of: aps) == nil
    }
}
