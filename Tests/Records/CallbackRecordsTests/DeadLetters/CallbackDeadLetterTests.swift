import Kafka
import PushModel
import TestSupport
import Testing

@testable import CallbackRecords

@Suite struct CallbackDeadLetterTests {
    private static let now = SampleLetter.now

    @Test func aDeadLetterSurvivesItsRecord() {
        var letter = SampleLetter.make()
        #expect(CallbackDeadLetter(json: letter.json(at: Self.now).span) == letter)
        (letter.status, letter.result, letter.reason) = (nil, nil, "\"\n\u{0}")
        #expect(CallbackDeadLetter(json: letter.json(at: Self.now).span) == letter)
        (letter.attempts, letter.offset, letter.resultID) = (0, .max - 1, "")
        #expect(CallbackDeadLetter(json: letter.json(at: Self.now).span) == letter)
    }

    @Test func aResultThatIsTooLargeIsLeftOut() {
        let most = [UInt8](repeating: 0x20, count: CallbackDeadLetter.largestResult)
        let letter = SampleLetter.make(line: most)
        #expect(letter.result == most)
        #expect(letter.json(at: Self.now).count < 1_000_000)
        #expect(SampleLetter.make(line: most + [0x20]).result == nil)
    }

    @Test func aLongReasonIsCut() {
        let reason = String(repeating: "x", count: 10_000)
        let letter = CallbackDeadLetter(
            receiver: "shop", reason: reason, attempts: 1, firstAt: 0, lastAt: 0, status: nil, resultID: "1",
            partition: partition(0), offset: 0, result: nil)
        #expect(letter.reason.count == CallbackDeadLetter.maximumReasonLength)
    }

    @Test(arguments: [
        "", "null", "{}", #"{"receiver":"shop"}"#, #"{"receiver":"shop","place":{}}"#,
        #"{"receiver":7,"place":{"topic":"t","partition":0,"offset":"0"}}"#,
        #"{"receiver":"shop","place":{"topic":"t","partition":-1,"offset":"0"}}"#,
        #"{"receiver":"shop","place":{"topic":"t","partition":4294967296,"offset":"0"}}"#,
        #"{"receiver":"shop","place":{"topic":"t","partition":0,"offset":"-1"}}"#,
        #"{"receiver":"shop","place":{"topic":"t","partition":0,"offset":"9223372036854775807"}}"#,
        #"{"receiver":"shop","place":{"topic":"t","partition":0,"offset":"99999999999999999999"}}"#,
    ])
    func whatIsNoDeadLetterIsNone(json: String) { #expect(CallbackDeadLetter(json: Array(json.utf8).span) == nil) }

    @Test(arguments: ["7", "[]", #""text""#, "null"]) func aResultThatIsNoObjectIsNone(result: String) {
        let json = #"{"receiver":"shop","place":{"topic":"t","partition":0,"offset":"0"},"attempts":-1,"result":\#(result)}"#
        let letter = CallbackDeadLetter(json: Array(json.utf8).span)
        #expect(letter?.result == nil && letter?.attempts == 0)
    }
}
