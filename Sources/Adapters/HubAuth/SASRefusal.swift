/// The reason that a hub refuses a request's `Authorization` header.
public enum SASRefusal: Error, Equatable, Sendable {
    /// There is no header, or its scheme is another one.
    case missingToken
    /// A part is absent, given twice, empty or not decodable.
    case malformedToken
    /// `skn` names no policy.
    case unknownPolicy
    /// The signature fits none of the policy's keys.
    case invalidSignature
    /// `se` is past, or not a number.
    case expiredToken
    /// The token is for something else.
    case invalidAudience
    /// The policy has none of the rights that the operation takes.
    case claimMissing(anyOf: SASRights)

    /// The status the service answers with.
    ///
    /// 401, but 403 for a missing Send or Listen claim; both recorded from the service, as is 401 where Manage alone is
    /// asked for.
    public var status: Int {
        switch self {
        case .missingToken, .malformedToken, .unknownPolicy, .invalidSignature, .expiredToken, .invalidAudience: 401
        case .claimMissing(let rights): rights == .manage ? 401 : 403
        }
    }

    /// The beginning of the error's `Detail`, up to `.TrackingId:`. Nil means that the answer has no body at all.
    ///
    /// The texts for a bad signature and a missing claim are the service's own, as recorded; the others follow their form,
    /// with the names of .NET's `ExceptionErrorCodes`.
    public var detail: String? {
        switch self {
        case .missingToken: "MissingToken: The request has no shared access signature."
        case .malformedToken: "MalformedToken: The token is malformed."
        case .unknownPolicy: "IssuerNotFound: The token names an unknown policy."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .expiredToken: "ExpiredToken: The token is expired."
        case .invalidAudience: "InvalidAudience: The token is not valid for the requested resource."
        case .claimMissing(let rights): rights == .manage ? "Manage claim is required for this operation." : nil
        }
    }
}
