import PushModel
import Testing
import Webhooks

/// Bodies of callbacks.
struct CallbackBodyTests {
    private static let line = Array(#"{"result_id":"r-1","state":"delivered","note":"ä😀"}"#.utf8)

    private static func body(
        _ form: Receiver.Form, source: String? = "shop", request: String = "r-1", at moment: Int64 = 1_790_000_000_120
    ) -> (mediaType: String, text: String) {
        let body = CallbackBody.make(
            result: line, resultID: "r-1@0", requestID: request, source: source, kind: "final", at: moment, form: form)
        return (body.mediaType, String(decoding: body.bytes, as: UTF8.self))
    }

    @Test func aResultIsSentByteForByte() {
        let body = Self.body(.result)
        #expect(body.mediaType == "application/json")
        #expect(Array(body.text.utf8) == Self.line)
    }

    @Test func anEventCarriesTheResultAsItsData() {
        let body = Self.body(.cloudevent)
        #expect(body.mediaType == "application/cloudevents+json; charset=UTF-8")
        #expect(
            body.text == #"{"specversion":"1.0","id":"r-1@0","source":"/pushfan/shop","type":"pushfan.result.final","#
                + #""subject":"r-1","time":"2026-09-21T14:13:20.120Z","datacontenttype":"application/json","#
                + #""data":{"result_id":"r-1","state":"delivered","note":"ä😀"}}"#)
    }

    @Test(
        arguments: [
            (nil, "/pushfan"), ("", "/pushfan"), ("a b", "/pushfan/a%20b"), ("a/b?c#d", "/pushfan/a%2Fb%3Fc%23d"),
            ("ü\"", "/pushfan/%C3%BC%22"), ("\n", "/pushfan/%0A"),
        ] as [(String?, String)])
    func anEventsSourceIsAlwaysAURIReference(source: String?, reference: String) {
        #expect(Self.body(.cloudevent, source: source).text.contains("\"source\":\"\(reference)\","))
    }

    @Test(arguments: ["\"},{\"", "\\", "\n\u{0}\u{1F}", "ä😀"]) func noIdBreaksAnEvent(_ request: String) throws {
        let body = Self.body(.cloudevent, request: request)
        var expected = ByteWriter()
        expected.append(json: request)
        #expect(body.text.contains("\"subject\":\(String(decoding: expected.bytes, as: UTF8.self)),"))
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func anyMomentHasATime(_ moment: Int64) {
        #expect(Self.body(.cloudevent, at: moment).text.contains(#""time":""#))
    }
}
