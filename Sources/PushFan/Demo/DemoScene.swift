/// One request of the demo.
struct DemoScene {
    let id: String
    let title: String
    let json: String

    private init(_ number: Int, _ title: String, _ body: String) {
        id = "demo-\(number)"
        self.title = title
        json = #"{"schema_version":1,"id":"demo-\#(number)","source":"/demo",\#(body)}"#
    }

    static let all: [DemoScene] = [
        DemoScene(
            1, "a message for a user",
            #""audience":{"users":["alice"]},"message":{"title":"Order shipped","body":"Your parcel is on its way","deep_link":"shop://orders/4711"}"#
        ),
        DemoScene(
            2, "categories, with the devices' templates",
            #""audience":{"categories":["World","Sports"]},"template":{"headline":"Breaking: pushfan works"}"#),
        DemoScene(
            3, "a native payload, verbatim",
            #""audience":{"users":["alice"]},"payloads":{"windows":{"body":"<toast><visual><binding template=\"ToastGeneric\"><text>Game tonight</text></binding></visual></toast>","content_type":"application/xml"}}"#
        ),
        DemoScene(
            4, "a category that is no valid tag",
            #""audience":{"categories":["not a tag!"]},"message":{"body":"no one gets this"}"#),
        DemoScene(
            5, "a user whose hub call is throttled first",
            #""audience":{"users":["carol"]},"platforms":["apple"],"message":{"title":"Reminder","body":"It gets there after a second"}"#
        ),
    ]
}
