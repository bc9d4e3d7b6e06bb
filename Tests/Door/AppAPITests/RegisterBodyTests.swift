@testable import GatewayAPI
import DoorStage
@testable import AppAPI
import DeviceHubs
import FanOut
import HTTPServing
import PushModel
import Testing

struct RegisterBodyTests {
    private let people: People

    init() throws {
        people = try People()
    }

    private func read(_ json: String, _ contentType: String? = "application/json") throws(APIProblem) -> RegisterBody {
        try RegisterBody(reading: Array(json.utf8), contentType: contentType, of: people.alice, by: people.rules)
    }

    private func problem(_ json: String, _ contentType: String? = "application/json") throws -> APIProblem {
        try #require(throws: APIProblem.self) { try read(json, contentType) }
    }

    @Test func theFirstFaultsAreNamedAndNoMore() throws {
        let json = #"{"Platform":"apns","Handle":"6f2a"\#(String(repeating: #","Handle":"6f2a""#, count: 3000))}"#
        #expect(try problem(json).faults.count == RequestFault.maximumCount)
    }

    /// As the tutorials' apps write it, and as other binders would.
    @Test(arguments: [
        "{\n  \"Platform\" : \"apns\",\n  \"Tags\" : [\n\n  ],\n  \"Handle\" : \"6F2A\"\n}",
        #"{"platform":"APNS","handle":"<6f2a>","tags":null}"#, #"{"Platform":null,"platform":"apns","Handle":"6f2a","x":null}"#,
        #"{"PLATFORM":"apns","HANDLE":"6f2a","Extra":[1]}"#,
    ])
    func bodiesOfAppsAreRead(_ json: String) throws {
        #expect(try read(json) == RegisterBody(platform: .apple, handle: "6F2A"))
    }

    @Test(arguments: [
        ("gcm", Platform.fcmv1), ("fcm", .fcmv1), ("FcmV1", .fcmv1), ("wns", .windows), ("WNS", .windows), ("windows", .windows),
    ])
    func platformsHaveTheirWordsInAnyCase(_ word: String, platform: Platform) throws {
        let body = try read(#"{"Platform":"\#(word)","Handle":"cd:x","Tags":["World","username:alice"]}"#)
        #expect(body == RegisterBody(platform: platform, handle: "cd:x", tags: ["World"]))
    }

    @Test(
        arguments: [
            (#"{"Platform":"mpns","Handle":"h"}"#, ["/Platform"]), (#"{"Platform":"foo","Handle":"h"}"#, ["/Platform"]),
            (#"{"Handle":"h"}"#, ["/Platform"]), (#"{"Platform":"apns"}"#, ["/Handle"]), ("{}", ["/Platform", "/Handle"]),
            (#"{"Platform":1,"Handle":null}"#, ["/Platform", "/Handle"]), (#"{"Platform":"apns","Handle":""}"#, ["/Handle"]),
            (#"{"platform":"apns","handle":"xyz"}"#, ["/handle"]), (#"{"Platform":"wns","Handle":"a b"}"#, ["/Handle"]),
            (#"{"Platform":"wns","Handle":"h","Tags":"World"}"#, ["/Tags"]),
            (#"{"Platform":"wns","Handle":"h","Tags":[1]}"#, ["/Tags/0"]),
            (#"{"Platform":"wns","Handle":"h","tags":["ok","username:bob","a b"]}"#, ["/tags/1", "/tags/2"]),
            (#"{"Platform":"wns","Handle":"h","Tags":["Staff"]}"#, ["/Tags/0"]),
            (#"{"Platform":"wns","platform":"apns","Handle":"h"}"#, ["/platform"]), ("[]", [""]), ("\"x\"", [""]),
        ] as [(String, [String])])
    func whatIsWrongIsToldWithItsPlace(_ json: String, pointers: [String]) throws {
        let problem = try problem(json)
        #expect(problem.status == 400 && problem.faults.map(\.pointer) == pointers)
    }

    @Test func templatesAreReadAndCheckedAsTagsAre() throws {
        let device = #""Platform":"wns","Handle":"h""#
        let body = try read(#"{\#(device),"templates":{"news":{"Body":"$(m)","tags":["World"]}}}"#)
        #expect(body.templates == DeviceTemplates(["news": .init(body: "$(m)", tags: ["World"])]))
        #expect(try read(#"{\#(device)}"#).templates == nil)
        #expect(try read(#"{\#(device),"Templates":{}}"#).templates == DeviceTemplates())
        let bad = #"{\#(device),"Templates":{"username:bob":{"body":"b"},"t":{"body":"b","tags":["staff"]},"u":1}}"#
        #expect(
            try problem(bad).faults.map(\.pointer) == ["/Templates/username:bob", "/Templates/t/tags/0", "/Templates/u"])
    }

    @Test func theDescriptionOfATokenIsToldWithItsRemedy() throws {
        let problem = try problem(#"{"Platform":"apns","Handle":"{LENGTH=32,BYTES=0X740F...E6A1}"}"#)
        #expect(problem.status == 400 && problem.faults.first?.message.contains("Hex-encode") == true)
    }

    @Test func whatIsNoJSONIsRefusedWithoutBeingRepeated() throws {
        for json in ["", "{", #"{"Platform":"apns","Handle":"CANARY" "#, "CANARY", #"{"CANARY":tru}"#] {
            let problem = try problem(json)
            #expect(problem.status == 400)
            #expect(!String(decoding: APIAnswer(problem).body, as: UTF8.self).contains("CANARY"))
        }
    }

    @Test func sizeAndContentTypeAreLimited() throws {
        #expect(try problem(String(repeating: " ", count: RegisterBody.maximumByteCount + 1)).status == 413)
        for type in ["text/plain", "application/xml", "application/jsonx"] { #expect(try problem("{}", type).status == 415) }
        for type in [nil, "application/json; charset=utf-8", "Application/JSON"] as [String?] {
            #expect(try problem("{}", type).status == 400)
        }
    }

    @Test func noFaultRepeatsAHandleOrATag() throws {
        for json in [
            #"{"Platform":"apns","Handle":"CANARY"}"#, #"{"Platform":"wns","Handle":"CANARY x"}"#,
            #"{"Platform":"CANARY","Handle":"CANARY"}"#, #"{"Platform":"wns","Handle":"h","Tags":["from:CANARY","CANARY x"]}"#,
        ] {
            #expect(!String(decoding: APIAnswer(try problem(json)).body, as: UTF8.self).contains("CANARY"))
        }
    }

    private func items(_ query: String) -> [HTTPServerRequest.QueryItem] {
        HTTPServerRequest(method: "POST", target: "/api/register?\(query)").percentDecodedQuery
    }

    @Test(
        arguments: [
            ("handle=6f2a", "6F2A", Platform.apple), ("Handle=%3C6f2a%3E", "6F2A", .apple), ("handle=cd:A+b", "cd:A+b", nil),
            ("handle=6f2", "6f2", nil),
        ] as [(String, String, Platform?)])
    func handlesAreReadFromTheQuery(_ query: String, text: String, platform: Platform?) throws {
        let handle = try #require(try HandleQuery.read(items(query)))
        #expect(handle.text == text && handle.platform == platform)
    }

    @Test func anEmptyHandleCountsAsNone() throws {
        for query in ["", "handle", "handle=", "x=1"] { #expect(try HandleQuery.read(items(query)) == nil) }
    }

    @Test(arguments: [
        "handle=%7BLENGTH=32,BYTES=0XCAFE...E6A1%7D", "handle=a%20CAFE", "handle=CAFE&handle=CAFE", "handle=%3C%3E%20",
    ])
    func impossibleHandlesAreRefusedWithoutBeingRepeated(_ query: String) throws {
        let problem = try #require(throws: APIProblem.self) { try HandleQuery.read(items(query)) }
        #expect(problem.status == 400 && !problem.detail.contains("CAFE"))
    }
}
