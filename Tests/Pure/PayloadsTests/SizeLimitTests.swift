import Payloads
import PushModel
import Testing

/// A body of exactly the limit passes; one byte more is refused with both counts.
struct SizeLimitTests {
    @Test(arguments: [(Platform.apple, 4096), (.fcmv1, 4096), (.gcm, 4096), (.windows, 5000)])
    func messageOfExactlyTheLimitPassesAndOneByteMoreDoesNot(_ platform: Platform, _ limit: Int) throws {
        func padded(_ count: Int) throws -> PushRequest {
            try #require(count >= 0)
            let values = [2048, 2048, 2048].reduce(into: (left: count, texts: [String]())) { state, room in
                state.texts.append(String(repeating: "a", count: min(state.left, room)))
                state.left -= min(state.left, room)
            }.texts
            return try broadcast(
                #""message":{"title":"Hi","data":{"a":"\#(values[0])","b":"\#(values[1])","c":"\#(values[2])"}}"#)
        }
        let empty = try rendered(padded(0), platform).body.count
        #expect(try rendered(padded(limit - empty), platform).body.count == limit)
        let larger = try padded(limit - empty + 1)
        let error = try payloadError { try rendered(larger, platform) }
        #expect(error.code == .payloadTooLarge && error.pointer == "/message")
        #expect(error.measuredByteCount == limit + 1 && error.allowedByteCount == limit)
        #expect(error.sentence.contains("\(limit + 1) bytes") && error.sentence.contains("at most \(limit) "))
    }

    @Test func silentMessageForWindowsMayHaveARawBodysSize() throws {
        func padded(_ count: Int) throws -> PushRequest {
            try #require(count >= 0)
            let first = String(repeating: "a", count: 2048)
            let last = String(repeating: "a", count: count)
            return try broadcast(#""message":{"silent":true,"data":{"a":"\#(first)","b":"\#(first)","c":"\#(last)"}}"#)
        }
        let empty = try rendered(padded(0), .windows).body.count
        #expect(try rendered(padded(5120 - empty), .windows).body.count == 5120)
        let larger = try padded(5121 - empty)
        let error = try payloadError { try rendered(larger, .windows) }
        #expect(error.measuredByteCount == 5121 && error.allowedByteCount == 5120)
    }

    @Test(
        arguments: [
            (Platform.apple, #"{"aps":{"alert":""#, #""}}"#, "", 4096),
            (.apple, #"{"aps":{"alert":""#, #""}}"#, #""apns-push-type":"voip""#, 5120),
            (.fcmv1, #"{"message":{"data":{"k":""#, #""}}}"#, "", 4096),
            (.gcm, #"{"data":{"k":""#, #""}}"#, "", 4096),
            (.windows, "<toast>", "</toast>", "", 5000),
            (.windows, "<tile>", "</tile>", #""X-WNS-Type":"wns/tile""#, 5000),
            (.windows, "r", "r", #""X-WNS-Type":"wns/raw""#, 5120),
            (.adm, #"{"data":{"k":""#, #""}}"#, "", 6144),
            (.baidu, #"{"k":""#, #""}"#, "", 65_536),
            (.browser, #"{"k":""#, #""}"#, "", 65_536),
            (.xiaomi, #"{"k":""#, #""}"#, "", 65_536),
        ])
    func nativeBodyOfExactlyTheLimitPassesAndOneByteMoreDoesNot(
        _ platform: Platform, _ head: String, _ tail: String, _ headers: String, _ limit: Int
    ) throws {
        func sized(_ count: Int) throws -> PushRequest {
            let text = head + String(repeating: "a", count: count - head.utf8.count - tail.utf8.count) + tail
            let body = text.replacing("\"", with: "\\\"")
            return try broadcast(#""payloads":{"\#(platform.name)":{"body":"\#(body)","headers":{\#(headers)}}}"#)
        }
        #expect(try rendered(sized(limit), platform).body.count == limit)
        let larger = try sized(limit + 1)
        let error = try payloadError { try rendered(larger, platform) }
        #expect(error.code == .payloadTooLarge && error.pointer == "/payloads/\(platform.name)/body")
        #expect(error.measuredByteCount == limit + 1 && error.allowedByteCount == limit)
    }

    @Test func headersCountTowardsTheHubsLimit() throws {
        func sized(_ count: Int) throws -> PushRequest {
            let text = String(repeating: "a", count: count - 8)
            return try broadcast(#""payloads":{"xiaomi":{"body":{"k":"\#(text)"},"headers":{"X-A":"bc"}}}"#)
        }
        // "X-A: bc" and its line end are 9 bytes.
        #expect(try rendered(sized(65_527), .xiaomi).body.count == 65_527)
        let larger = try sized(65_528)
        let error = try payloadError { try rendered(larger, .xiaomi) }
        #expect(error.measuredByteCount == 65_537 && error.allowedByteCount == PayloadLimit.hubByteCount)
    }

    @Test func templateOfExactlyTheHubsLimitPassesAndOneByteMoreDoesNot() throws {
        func padded(_ count: Int) throws -> PushRequest {
            try #require(count >= 0)
            var left = count
            let properties = (0..<40).map { index in
                let length = min(left, 2048)
                left -= length
                return "\"p\(index)\":\"\(String(repeating: "a", count: length))\""
            }
            return try broadcast("\"template\":{\(properties.joined(separator: ","))}")
        }
        let empty = try renderedTemplate(padded(0))
        let room = PayloadLimit.hubByteCount - empty.body.count - empty.headers.count
        let full = try renderedTemplate(padded(room))
        #expect(full.body.count + full.headers.count == PayloadLimit.hubByteCount)
        let larger = try padded(room + 1)
        let error = try payloadError { try renderedTemplate(larger) }
        #expect(error.code == .payloadTooLarge && error.pointer == "/template")
        #expect(error.measuredByteCount == 65_537 && error.allowedByteCount == 65_536)
    }
}
