import Basics
import PushModel

/// The body of a callback.
public enum CallbackBody {
    /// Writes a body.
    ///
    /// - Parameters:
    ///   - line: The result as on the results topic, a JSON object.
    ///   - resultID: The id of the result, which stays the same in each call.
    ///   - requestID: The id of the request.
    ///   - source: Who published the request, if anybody said so.
    ///   - kind: The kind of the result, such as `final`.
    ///   - moment: The moment of the result, in milliseconds since 1970.
    ///   - form: The form of the body.
    /// - Returns: The field `content-type`, and the body.
    public static func make(
        result line: [UInt8], resultID: String, requestID: String, source: String?, kind: String, at moment: Int64,
        form: Receiver.Form
    ) -> (mediaType: String, bytes: [UInt8]) {
        guard form == .cloudevent else { return ("application/json", line) }
        var json = ByteWriter(capacity: line.count + 512)
        json.append("{\"specversion\":\"1.0\"")
        json.append(",\"id\":", json: resultID)
        json.append(",\"source\":", json: reference(to: source))
        json.append(",\"type\":", json: "pushfan.result.\(kind)")
        json.append(",\"subject\":", json: requestID)
        json.append(",\"time\":", moment: Timestamp(milliseconds: moment))
        json.append(",\"datacontenttype\":\"application/json\",\"data\":")
        json.append(line.span)
        json.append("}")
        return ("application/cloudevents+json; charset=UTF-8", json.bytes)
    }

    /// The event's `source`, which is a URI reference and never empty: `/pushfan/shop`, or `/pushfan` where no source is known.
    private static func reference(to source: String?) -> String {
        guard let source, !source.isEmpty else { return "/pushfan" }
        return "/pushfan/" + PercentEncoding.encoded(source)
    }
}
