import Basics
import FanOut
import PushModel

// The rows of `/`, `/api` and `/ui` (page Gateway).
extension APIOperation {
    /// The text for a browser.
    package static let welcomeText =
        "pushfan gateway\nApps register at /api/register and notify at /api/notifications. Back ends publish at /v1/requests.\n"

    /// The version of OpenAPI.
    package static let openAPIVersion = "3.1.0"

    /// The words of the tutorials' apps for platforms, which are the usual ones.
    private static let platforms = ["apns", "fcm", "gcm", "fcmv1", "wns", "browser"]

    static let welcomeRow = Row(
        method: "GET", path: "/", label: "welcome", summary: "Shows two lines of text.", access: .anyone,
        answers: [
            Answer(
                summary: "Text for a browser.",
                content: Content(mediaType: "text/plain", schema: JSONSchema.text(), example: .text(welcomeText)))
        ])

    static let newRegistrationRow = Row(
        method: "POST", path: "/api/register", label: "register.new",
        summary: "Gives the id of the device with a handle, or a new one.",
        parameters: [
            Parameter(
                name: "handle", schema: JSONSchema.text(), summary: "The device's handle; without it the id is always new.",
                example: exampleHandle)
        ],
        answers: [Answer(summary: "The id.", content: Content(schema: JSONSchema.text(), example: .text(exampleID)))],
        problems: hubProblems)

    static let putRegistrationRow = Row(
        method: "PUT", path: "/api/register/{id}", label: "register.put",
        summary: "Registers a device of the caller, or changes it.",
        parameters: [idParameter],
        body: Content(
            schema: JSONSchema.input(
                [
                    ("Platform", JSONSchema.words(platforms).described("In any case.")),
                    ("Handle", JSONSchema.text().described("The device's address at its push service.")),
                    (
                        "Tags",
                        JSONSchema.list(of: JSONSchema.text(1...120))
                            .described("At most \(TagRules.maximumCount) besides the user's own.")
                    ),
                ], required: ["Platform", "Handle"], isOpen: true
            ).named("Registration"),
            example: ["Platform": "apns", "Handle": .text(exampleHandle), "Tags": ["World"]]),
        answers: [Answer(summary: "The device is registered.")],
        problems: [Problem(status: 404, codes: [.notFound])] + hubProblems)

    static let deleteRegistrationRow = Row(
        method: "DELETE", path: "/api/register/{id}", label: "register.delete", summary: "Removes a device of the caller.",
        parameters: [idParameter],
        answers: [Answer(summary: "The device is not registered any more.")],
        problems: [Problem(status: 404, codes: [.notFound])] + hubProblems)

    static let notifyRow = Row(
        method: "POST", path: "/api/notifications", label: "notify", summary: "Sends a text to the devices of a user.",
        parameters: [
            Parameter(
                name: "pns", schema: JSONSchema.words(platforms.filter { $0 != "browser" }),
                summary: "The platform, in any case; together with to_tag.", example: "apns"),
            Parameter(
                name: "to_tag", schema: JSONSchema.text(0...UserName.maximumByteCount),
                summary: "The user's name; without it the caller.", example: "alice"),
            Parameter(
                name: "secure", schema: JSONSchema.boolean, summary: "The push carries an id, and the app fetches the text.",
                example: "true"),
        ],
        body: Content(
            schema: JSONSchema.text().described("The text; without a body a greeting."), example: "Lunch?", isRequired: false),
        answers: [Answer(summary: "The hub accepted at least one call.", content: sent)],
        problems: [
            Problem(status: 429, codes: [.tooManyRequests]), Problem(status: 500, hasResultCodes: true),
            Problem(status: 504, codes: [.ackUnknown, .resultPending, .outcomePending], hasResultCodes: true),
        ] + kafkaProblems)

    static let secureTextRow = Row(
        method: "GET", path: "/api/notifications/{id}", label: "notify.text",
        summary: "Gives the text of a secure push to the user it was sent to.",
        parameters: [
            Parameter(
                name: "id", place: .path, schema: JSONSchema.text(), summary: "The id that the push carries.",
                example: exampleID)
        ],
        answers: [
            Answer(
                summary: "The text.",
                content: Content(
                    schema: JSONSchema.object([("Payload", JSONSchema.text())], required: ["Payload"], isOpen: true)
                        .named("SecureText"),
                    example: ["Payload": "From bob: Lunch?"]))
        ],
        problems: [
            Problem(status: 404, codes: [.notFound]), Problem(status: 429, codes: [.tooManyRequests]),
            Problem(status: 503, codes: [.brokerUnavailable]),
        ])

    static let openAPIRow = Row(
        method: "GET", path: "/v1/openapi.json", label: "openapi", summary: "Describes these routes for programs.",
        access: .anyone, parameters: [knownTagParameter],
        answers: [
            Answer(
                summary: "An OpenAPI 3.1 document.",
                content: Content(
                    schema: (["type": "object", "required": ["openapi"]] as JSONTree).named("OpenAPIDocument"),
                    example: ["openapi": .text(openAPIVersion)]), headers: [.entityTag]),
            Answer(status: 304, summary: "It is still the one of If-None-Match.", headers: [.entityTag]),
        ])

    static let showPageRow = pageRow("GET", path: "/ui", label: "page", summary: "Shows the page.")
    static let leadToPageRow = pageRow("GET", path: "/ui/", label: "page", summary: "Leads to the page.")
    static let giveFileRow = pageRow("GET", path: "/ui/{name}", label: "page.file", summary: "Gives a file of the page.")
    static let showSessionRow = pageRow("GET", path: "/ui/session", label: "page.session.show", summary: "Shows the session.")
    static let beginSessionRow = pageRow(
        "POST", path: "/ui/session", label: "page.session.begin", summary: "Begins a session of the page.",
        body: Content(schema: JSONSchema.input([("key", JSONSchema.text())], required: ["key"]), example: ["key": "pf_…"]))
    static let endSessionRow = pageRow("DELETE", path: "/ui/session", label: "page.session.end", summary: "Ends the session.")

    /// A row of the page, which the description does not have.
    private static func pageRow(_ method: String, path: String, label: String, summary: String, body: Content? = nil) -> Row {
        Row(
            method: method, path: path, label: label, summary: summary, access: .anyone, bodyLimit: APILimit.sessionByteCount,
            body: body, answers: [])
    }

    static let exampleID = "5b9f3f9e-8d7c-4f53-9f0b-2f1f6a1c7e11"
    static let exampleHandle = "c0ffee00c0ffee00"

    private static let idParameter = Parameter(
        name: "id", place: .path, schema: JSONSchema.text(), summary: "The id that POST /api/register gave.",
        example: exampleID)

    static let knownTagParameter = Parameter(
        name: "If-None-Match", place: .header, schema: JSONSchema.text(), summary: "The ETag of what the caller has.",
        example: "\"6b1f0e8d5c37\"")

    /// A call to the hub failed.
    static let hubProblems = [500, 502, 503].map { Problem(status: $0, hasResultCodes: true) }

    private static var sent: Content {
        let call = JSONSchema.object(
            [("platform", JSONSchema.text()), ("code", JSONSchema.errorCode)], required: ["platform", "code"], isOpen: true
        ).named("UnsentCall")
        return Content(
            schema: JSONSchema.object(
                [
                    ("request_id", JSONSchema.text()),
                    ("state", JSONSchema.words([ResultState.sent, .partial, .duplicate].map(\.rawValue))),
                    ("calls", JSONSchema.list(of: call).described("Those that were refused, or that nothing good is known of.")),
                ], required: ["request_id", "state"], isOpen: true
            ).named("SentText"),
            example: ["request_id": "01890a5d-ac96-774b-bcce-b302099a8057", "state": "sent"])
    }
}
