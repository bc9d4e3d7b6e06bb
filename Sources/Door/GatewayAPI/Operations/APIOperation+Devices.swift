internal import Keys
internal import PushModel

// The rows of `/v1/installations` and `/v1/users` (page Devices).
extension APIOperation {
    static let putInstallationRow = Row(
        method: "PUT", path: "/v1/installations/{id}", label: "installations.put",
        summary: "Registers a device, or replaces what is known of it.", access: .device,
        parameters: [installationParameter, deviceHubParameter],
        body: Content(
            schema: JSONSchema.input(
                [("platform", JSONSchema.text()), ("handle", JSONSchema.text()), ("user", JSONSchema.text())],
                required: ["platform", "handle"]),
            example: ["platform": "apns", "handle": .text(exampleHandle), "user": "alice"]),
        answers: [Answer(summary: "The device, as the hub has it now.")], problems: deviceProblems)

    static let changeInstallationRow = Row(
        method: "PATCH", path: "/v1/installations/{id}", label: "installations.change",
        summary: "Changes some of what is known of a device (RFC 6902).", access: .device,
        parameters: [installationParameter, deviceHubParameter],
        body: Content(
            mediaType: "application/json-patch+json", schema: JSONSchema.list(of: ["type": "object"]),
            example: [["op": "add", "path": "/tags/World"]]),
        answers: [Answer(summary: "The device, as the hub has it now.")], problems: deviceProblems)

    static let showInstallationRow = Row(
        method: "GET", path: "/v1/installations/{id}", label: "installations.show", summary: "Shows a device.",
        access: .device, parameters: [installationParameter, deviceHubParameter],
        answers: [
            Answer(summary: "The device."), Answer(status: 304, summary: "If-None-Match names what the hub has."),
        ], problems: deviceProblems)

    static let removeInstallationRow = Row(
        method: "DELETE", path: "/v1/installations/{id}", label: "installations.remove", summary: "Removes a device.",
        access: .device, parameters: [installationParameter, deviceHubParameter],
        answers: [Answer(status: 204, summary: "The device is not registered any more.")], problems: deviceProblems)

    static let addInstallationTagRow = Row(
        method: "PUT", path: "/v1/installations/{id}/tags/{tag}", label: "installations.tags.add",
        summary: "Gives a device a tag.", access: .device,
        parameters: [installationParameter, tagParameter, deviceHubParameter],
        answers: [Answer(status: 204, summary: "The device has the tag.")], problems: deviceProblems)

    static let removeInstallationTagRow = Row(
        method: "DELETE", path: "/v1/installations/{id}/tags/{tag}", label: "installations.tags.remove",
        summary: "Takes a tag from a device.", access: .device,
        parameters: [installationParameter, tagParameter, deviceHubParameter],
        answers: [Answer(status: 204, summary: "The device does not have the tag.")], problems: deviceProblems)

    static let listUserInstallationsRow = Row(
        method: "GET", path: "/v1/users/{user}/installations", label: "users.installations",
        summary: "Lists the devices of a user.", access: .key([.register]), parameters: [userParameter, deviceHubParameter],
        answers: [Answer(summary: "The devices.")], problems: deviceProblems)

    static let eraseUserRow = Row(
        method: "DELETE", path: "/v1/users/{user}", label: "users.erase", summary: "Removes all devices of a user.",
        access: .key([.register]), parameters: [userParameter, deviceHubParameter],
        answers: [Answer(status: 202, summary: "It is being done, and how far it is.")], problems: deviceProblems)

    static let showErasureRow = Row(
        method: "GET", path: "/v1/users/{user}/erasure", label: "users.erasure",
        summary: "Says how far the removal of a user's devices is.", access: .key([.register]),
        parameters: [userParameter, deviceHubParameter],
        answers: [Answer(summary: "How far it is.")], problems: deviceProblems)

    private static let installationParameter = Parameter(
        name: "id", place: .path, schema: JSONSchema.text(), summary: "The installation's id.", example: exampleID)
    private static let tagParameter = Parameter(
        name: "tag", place: .path, schema: JSONSchema.text(1...120), summary: "The tag.", example: "World")
    private static let userParameter = Parameter(
        name: "user", place: .path, schema: JSONSchema.text(), summary: "The user's name.", example: "alice")
    private static let deviceHubParameter = Parameter(
        name: "hub", schema: JSONSchema.text(), summary: "The hub or spread, by its name; without it the default.",
        example: "main")
    private static let deviceProblems = [Problem(status: 404, codes: [.notFound])] + hubProblems
}
