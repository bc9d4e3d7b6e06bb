import TestSupport
import Tokens

/// The present of these tests, in seconds since 1970.
let present: Int64 = 1_700_000_000

/// A token whose signature no one looks at.
func token(
    _ claims: String = #"{"iss":"https://id.example","aud":"push","exp":1700000600,"sub":"alice"}"#,
    header: String = #"{"alg":"RS256"}"#
) throws -> JSONWebToken {
    try JSONWebToken(Array((TokenText.unsigned(header: header, claims: claims) + ".AAAA").utf8))
}
