import DeviceHubs
import HubREST
import PushModel
import Testing

struct DeviceTemplatesTests {
    @Test func theHubsTemplatesAreReadAndWrittenBack() throws {
        let found = #"{"b":{"body":"2","tags":["B","x"],"expiry":"2030"},"a":{"body":"1","headers":{"X":"1","n":2}},"c":{}}"#
        let templates = DeviceTemplates(JSONObjectText(found))
        #expect(templates.all.keys.sorted() == ["a", "b"])
        #expect(templates.all["b"]?.tags == ["x"] && templates.all["a"]?.headers == ["X": "1"])
        let told = #"{"a":{"body":"1","headers":{"X":"1"},"tags":[]},"b":{"body":"2","tags":["x"]}}"#
        #expect(String(decoding: templates.json, as: UTF8.self) == told)
        let text = try #require(templates.hubText)
        #expect(text.text.contains(#""expiry":"2030""#) && DeviceTemplates(text) == templates)
    }

    @Test func withoutTemplatesTheHubIsToldNothing() {
        #expect(DeviceTemplates().hubText == nil && DeviceTemplates(nil) == DeviceTemplates())
    }

    @Test(arguments: [(56, false), (57, true)]) func aTemplateCountsWithTheDevicesTags(_ count: Int, isCrowded: Bool) {
        #expect(DeviceTemplates(["t": .init(body: "b", tags: ["x", "y"])]).isCrowded(beside: count) == isCrowded)
    }

    @Test func duplicatesOfAHandleAreFoundByWhatTheHubLists() {
        func registration(_ platform: Platform, _ handle: String) -> DeviceRegistration {
            DeviceRegistration(id: "1", platform: platform, handle: handle)
        }
        let browser = #"{"endpoint":"https://b/1","p256dh":"k","auth":"s"}"#
        #expect(HandleDuplicates.has(registration(.browser, "https://b/1"), handle: browser))
        #expect(!HandleDuplicates.has(registration(.browser, "https://b/"), handle: browser))
        #expect(HandleDuplicates.has(registration(.baidu, "2"), handle: "1-2"))
        #expect(HandleDuplicates.has(registration(.apple, "6f2a"), handle: "6F2A"))
        #expect(!HandleDuplicates.has(registration(.adm, "a"), handle: "A"))
    }
}
