@testable import DeviceAPI
import DeviceHubs
import FanOut
import GatewayAPI
import HTTPServing
import HubREST
import PushModel
import Testing

struct DeviceAnswerTests {
    private let parties: DeviceParties

    init() throws { parties = try DeviceParties() }

    private func device(_ platform: Platform = .apple, _ handle: String = "6F2A", tags: [String] = []) -> Installation {
        Installation(id: "a", platform: .known(platform), pushChannel: handle, tags: ["username:alice"] + tags, userID: "alice")
    }

    private func text(_ answer: DeviceAnswer) -> String { String(decoding: answer.answer.body, as: UTF8.self) }

    @Test func allMembersStandInOneOrder() {
        var installation = device(tags: ["World", "$InstallationId:{a}", "News"])
        installation.expirationTime = "2030-01-01T00:00:00"
        installation.isChannelExpired = true
        installation.templates = JSONObjectText(#"{"t":{"body":"b","tags":["T"]}}"#)
        let answer = DeviceAnswer(installation, at: "main", for: parties.alice)
        #expect(
            text(answer) == """
                {"id":"a","platform":"apns","handle":"6F2A","user":"alice","tags":["News","World"],\
                "templates":{"t":{"body":"b","tags":[]}},"expires_at":"2030-01-01T00:00:00.000Z","is_expired":true,"hub":"main"}

                """)
        #expect(answer.answer.headers.single("ETag") == answer.tag && answer.unchanged.status == 304)
    }

    @Test func withoutTheScopeTheDigestOfTheHandleIsShown() {
        let answer = text(DeviceAnswer(device(), at: "main", for: parties.backEnd))
        #expect(!answer.contains("6F2A") && answer.contains(#""handle_sha256":""#))
        let other = text(DeviceAnswer(device(.apple, "<6f2a>"), at: "main", for: parties.backEnd))
        #expect(answer == other)
    }

    @Test func theHandleOfABrowserIsAnObject() {
        let handle = #"{"endpoint":"https://b/1","p256dh":"k","auth":"s"}"#
        #expect(text(DeviceAnswer(device(.browser, handle), at: "main", for: parties.alice)).contains(#""handle":\#(handle)"#))
    }

    @Test func aTagIsTheSameForTheSameDeviceInAnyOrder() {
        let one = DeviceAnswer(device(tags: ["A", "B"]), at: "main", for: parties.alice)
        let moved = DeviceAnswer(device(tags: ["B", "A"]), at: "main", for: parties.alice, moved: [.init(id: "b", user: nil)])
        let other = DeviceAnswer(device(tags: ["A"]), at: "main", for: parties.alice)
        #expect(one.tag == moved.tag && one.tag != other.tag)
        #expect(text(moved).contains(#""moved_from":[{"id":"b"}]"#) && !text(one).contains("moved_from"))
    }

    @Test(
        arguments: [
            ("alice", "alice"), ("x.616c696365", "alice"), ("x.c3a9", "é"), ("x.ff", "x.ff"), ("x.6", "x.6"), ("h.00", "h.00"),
        ])
    func aUsersNameIsReadFromItsForm(_ form: String, name: String) {
        let pattern = parties.alice.rules.users
        #expect(DeviceOwner(tags: ["username:\(form)"], userID: nil, by: pattern)?.name == name)
        #expect(DeviceOwner(tags: ["World"], userID: form, by: pattern)?.name == name)
        #expect(DeviceOwner(tags: ["World"], userID: nil, by: pattern) == nil)
    }

    @Test func noDescriptionShowsAHandle() {
        let answer = DeviceAnswer(device(.adm, "CANARY"), at: "main", for: parties.alice)
        var dumped = ""
        dump(answer, to: &dumped)
        #expect(!"\(answer) \(dumped)".contains("CANARY"))
    }
}
