import Basics
package import HTTPServing

extension HTTPFields {
    /// The seconds of the preference `wait` (RFC 7240), at most ``APILimit/wait``, or nil for none. The first one counts.
    package var preferredWait: Int? {
        for preference in members("Prefer") {
            let word = preference.unquotedParts(between: ";")[0].unquotedParts(between: "=")
            guard word[0].equalsIgnoringCase("wait") else { continue }
            guard word.count == 2, let digits = word[1].unquoted, !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else {
                return nil
            }
            return min(Int(digits) ?? .max, APILimit.wait)
        }
        return nil
    }
}
