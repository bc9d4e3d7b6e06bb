import PushModel
import Testing

/// What a strict reader says of names that were mistyped or stand in the wrong place.
@Suite struct RequestSuggestionTests {
    static let mistyped: [(fragment: String, pointer: String, hint: String?)] = [
        (#""mesage":{"title":"x"}"#, "/mesage", "Did you mean `message`?"),
        (#""message":{"title":"x","titel":"y"}"#, "/message/titel", "Did you mean `title`?"),
        (#""options":{"maxAttempts":3}"#, "/options/maxAttempts", "Did you mean `max_attempts`?"),
        (#""dedupe":{"key":"k","windowSeconds":5}"#, "/dedupe/windowSeconds", "Did you mean `window_seconds`?"),
        (#""payloads":{"gcm":{"body":{},"header":{}}}"#, "/payloads/gcm/header", "Did you mean `headers`?"),
        (#""ttl":5"#, "/ttl", "Did you mean `ttl_seconds`?"),
        (#""collapseKey":"x""#, "/collapseKey", "Did you mean `collapse_key`?"),
        (#""title":"x""#, "/title", "It belongs into `message`."),
        (#""users":["a"]"#, "/users", "It belongs into `audience`."),
        (#""max_attempts":3"#, "/max_attempts", "It belongs into `options`."),
        (#""audience":{"user":["a"]}"#, "/audience/user", "Did you mean `users`?"),
        (#""zebra":1"#, "/zebra", nil), (#""":1"#, "/", nil), (#""to":"a""#, "/to", nil), (#""replays":{}"#, "/replays", nil),
    ]

    @Test(arguments: mistyped) func theNameThatWasMeantIsSuggested(fragment: String, pointer: String, hint: String?) {
        var strict = Reading([], .strict)
        let faults = strict.faults(record(fragment))
        #expect(faults.map(\.pointer) == [pointer])
        let message = faults.first?.message ?? ""
        if let hint {
            #expect(message.hasSuffix(" " + hint), "\(message)")
        } else {
            #expect(!message.contains("Did you mean") && !message.contains("belongs"), "\(message)")
        }
    }

    @Test func aTolerantReaderSuggestsNothing() {
        var tolerant = Reading()
        let faults = tolerant.faults(record(#""mesage":{},"audience":{"user":["a"]}"#))
        #expect(faults.map(\.pointer) == ["/audience/user"])
        #expect(faults.first?.message.contains("Did you mean") == false)
    }

    @Test(arguments: [RequestReader.Strictness.tolerant, .strict], [#""labels":{}"#, #""audience":{}"#])
    func whoForgetsAnAudienceIsShownOneAndNotEverybody(strictness: RequestReader.Strictness, fragment: String) {
        var reading = Reading([], strictness)
        let faults = reading.faults("{\(fragment),\"message\":{\"title\":\"x\"}}")
        #expect(faults.map(\.pointer) == ["/audience"])
        #expect(faults.first?.message.contains(#"{"users": ["alice"]}"#) == true)
        #expect(faults.first?.message.contains("broadcast") == false)
    }
}
