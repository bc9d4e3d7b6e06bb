internal import Basics
internal import Keys
internal import PushModel

// The rows of `/v1/installations` and `/v1/users` (page Devices).
extension APIOperation {
    static let putInstallationRow = Row(
        method: "PUT", path: "/v1/installations/{id}", label: "installations.put",
        summary: "Registers a device, or replaces what is known of it.", access: .device,
        parameters: [installationParameter, deviceHubParameter],
        body: Content(
            schema: installationInput,
            example: ["platform": "apns", "handle": .text(exampleHandle), "user": "alice", "tags": ["World"]]),
        answers: [Answer(summary: "The device, as the hub has it now.", content: installation, headers: [.entityTag])],
        problems: deviceProblems)

    static let changeInstallationRow = Row(
        method: "PATCH", path: "/v1/installations/{id}", label: "installations.change",
        summary: "Changes some of what is known of a device (RFC 6902).", access: .device,
        parameters: [installationParameter, deviceHubParameter],
        body: Content(
            mediaType: "application/json-patch+json", schema: JSONSchema.list(of: installationChange, count: 0...100),
            example: [["op": "add", "path": "/tags/World"]]),
        answers: [Answer(summary: "The device, as the hub has it now.", content: installation, headers: [.entityTag])],
        problems: deviceProblems)

    static let showInstallationRow = Row(
        method: "GET", path: "/v1/installations/{id}", label: "installations.show", summary: "Shows a device.",
        access: .device, parameters: [installationParameter, deviceHubParameter, knownTagParameter],
        answers: [
            Answer(summary: "The device.", content: installation, headers: [.entityTag]),
            Answer(status: 304, summary: "If-None-Match names what the hub has.", headers: [.entityTag]),
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
        summary: "Lists the devices of a user.", access: .key([.register]),
        parameters: [userParameter, deviceHubParameter, cursorParameter],
        answers: [
            Answer(
                summary: "A page of the devices. One that has no installation has registration_id in place of id.",
                content: Content(
                    schema: JSONSchema.object(
                        [("items", JSONSchema.list(of: userInstallation)), ("next", ["type": ["string", "null"]])],
                        required: ["items"], isOpen: true
                    ).named("InstallationList"),
                    example: ["items": [exampleInstallation], "next": .null]))
        ], problems: deviceProblems)

    static let eraseUserRow = Row(
        method: "DELETE", path: "/v1/users/{user}", label: "users.erase", summary: "Removes all devices of a user.",
        access: .key([.register]), parameters: [userParameter, deviceHubParameter, erasureWaitParameter],
        answers: [
            Answer(
                status: 202, summary: "It is being done, and how far it is.", content: erasure,
                headers: [.location, .preferenceApplied])
        ], problems: deviceProblems)

    static let showErasureRow = Row(
        method: "GET", path: "/v1/users/{user}/erasure", label: "users.erasure",
        summary: "Says how far the removal of a user's devices is.", access: .key([.register]),
        parameters: [userParameter, deviceHubParameter],
        answers: [Answer(summary: "How far it is.", content: erasure)], problems: deviceProblems)

    private static let installationParameter = Parameter(
        name: "id", place: .path, schema: JSONSchema.text(), summary: "The installation's id.", example: exampleID)
    private static let tagParameter = Parameter(
        name: "tag", place: .path, schema: JSONSchema.text(1...120), summary: "The tag.", example: "World")
    private static let userParameter = Parameter(
        name: "user", place: .path, schema: JSONSchema.text(), summary: "The user's name.", example: "alice")
    private static let deviceHubParameter = Parameter(
        name: "hub", schema: JSONSchema.text(), summary: "The hub or spread, by its name; without it the default.",
        example: "main")
    private static let erasureWaitParameter = Parameter(
        name: "Prefer", place: .header, schema: JSONSchema.text(),
        summary: "wait=SECONDS waits until all are removed (RFC 7240), \(APILimit.wait) at most.", example: "wait=10")
    private static let deviceProblems =
        [Problem(status: 404, codes: [.notFound]), Problem(status: 429, hasResultCodes: true)] + hubProblems

    // MARK: Parts

    private static let template = JSONSchema.object(
        [
            ("body", JSONSchema.text()), ("headers", JSONSchema.map(of: JSONSchema.text()).named("TemplateHeaders")),
            ("tags", JSONSchema.list(of: JSONSchema.text())),
        ], required: ["body"], isOpen: true
    ).named("Template")

    private static let handle: JSONTree = [
        "oneOf": [
            JSONSchema.text(),
            JSONSchema.object(
                [("endpoint", JSONSchema.text()), ("p256dh", JSONSchema.text()), ("auth", JSONSchema.text())],
                required: ["endpoint", "p256dh", "auth"]
            ).named("BrowserHandle"),
        ]
    ]

    private static let templates = JSONSchema.map(of: template).named("Templates")

    private static let installationInput = JSONSchema.input(
        [
            (
                "platform",
                JSONSchema.words(["apns", "fcmv1", "fcm", "gcm", "wns", "adm", "baidu", "browser", "xiaomi"])
                    .described("In any case, and under the hub's names, too.")
            ),
            ("handle", handle), ("user", JSONSchema.text(1...UserName.maximumByteCount)),
            ("tags", JSONSchema.list(of: JSONSchema.text(1...120))), ("templates", templates),
            ("expires_at", JSONSchema.moment.described("In the future.")),
        ], required: ["platform", "handle"]
    ).named("InstallationInput")

    private static let installationChange = JSONSchema.object(
        [
            ("op", JSONSchema.words(["add", "replace", "remove"])),
            ("path", JSONSchema.text(pattern: "^/(tags|handle|user|expires_at|templates)(/.*)?$")), ("value", [:]),
        ], required: ["op", "path"]
    ).named("InstallationChange")

    private static let movedInstallation = JSONSchema.object(
        [("id", JSONSchema.text()), ("user", JSONSchema.text().described("For keys alone."))], required: ["id"], isOpen: true
    ).named("MovedInstallation")

    /// The members of a device but for its id.
    private static let installationMembers: [(String, JSONTree)] = [
        ("platform", JSONSchema.text()), ("handle", handle),
        ("handle_sha256", JSONSchema.text(pattern: "^[0-9a-f]{64}$").described("Without the scope register:handles.")),
        ("user", JSONSchema.text()), ("tags", JSONSchema.list(of: JSONSchema.text())), ("templates", templates),
        ("expires_at", JSONSchema.moment), ("is_expired", JSONSchema.boolean), ("hub", JSONSchema.text()),
    ]

    private static let installation = Content(
        schema: JSONSchema.object(
            [("id", JSONSchema.text())] + installationMembers + [
                (
                    "moved_from",
                    JSONSchema.list(of: movedInstallation).described("Those that had this handle, and are removed.")
                )
            ], required: ["id", "platform", "tags", "templates", "is_expired", "hub"], isOpen: true
        ).named("Installation"), example: exampleInstallation)

    private static let userInstallation = JSONSchema.object(
        [
            ("id", JSONSchema.text()), ("registration_id", JSONSchema.text()), ("platform", JSONSchema.text()),
            ("handle", handle),
            ("handle_sha256", JSONSchema.text(pattern: "^[0-9a-f]{64}$").described("Without the scope register:handles.")),
            ("user", JSONSchema.text().described("The name that was asked for.")),
            ("tags", JSONSchema.list(of: JSONSchema.text())), ("template_names", JSONSchema.list(of: JSONSchema.text())),
            ("hub", JSONSchema.text()),
        ], required: ["platform", "hub"], isOpen: true
    ).named("UserInstallation")

    private static let exampleInstallation: JSONTree = [
        "id": .text(exampleID), "platform": "apns",
        "handle_sha256": "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00", "user": "alice", "tags": ["World"],
        "templates": [:], "is_expired": false, "hub": "main",
    ]

    private static let erasure = Content(
        schema: JSONSchema.object(
            [
                ("user", JSONSchema.text()), ("state", JSONSchema.words(["running", "done", "failed"])),
                ("found", JSONSchema.count), ("removed", JSONSchema.count), ("left", JSONSchema.count),
                ("started_at", JSONSchema.moment), ("ended_at", JSONSchema.moment), ("problem", JSONSchema.text()),
            ], required: ["user", "state", "found", "removed", "left", "started_at"], isOpen: true
        ).named("Erasure"),
        example: [
            "user": "alice", "state": "running", "found": 6, "removed": 4, "left": 2, "started_at": "2026-11-21T17:00:00.100Z",
        ])
}
