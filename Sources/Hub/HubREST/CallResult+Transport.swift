public import CurlHTTP
public import Delivery
internal import HTTP1

extension CallResult {
    /// The input of the verdict on a call without an answer.
    public init(_ failure: TransportFailure) {
        let isAnswerInvalid: Bool
        switch failure.reason {
        // Half an answer is a broken connection, not a peer that does not speak HTTP.
        case .invalidAnswer(let fault): isAnswerInvalid = fault != .truncated
        case .answerTooLarge: isAnswerInvalid = true
        case .resolve, .addressRefused, .proxy, .connect, .connectTimeout, .tls, .certificate, .sendFailed, .timeout, .reset,
            .closedBeforeAnswer, .cancelled:
            isAnswerInvalid = false
        }
        self = .failed(curlCode: failure.verdictCode, isAnswerInvalid: isAnswerInvalid, bodySent: failure.bodySent)
    }
}

extension TransportFailure {
    /// libcurl's number for the failure. Where the exchange itself failed, the number that libcurl's own would have had.
    fileprivate var verdictCode: Int32 {
        guard curlCode == 0 else { return curlCode }
        switch reason {
        case .resolve: return 6
        case .proxy: return 97
        case .addressRefused, .connect: return 7
        case .connectTimeout, .timeout: return 28
        case .tls: return 35
        case .certificate: return 60
        case .sendFailed: return 55
        case .reset: return 56
        case .closedBeforeAnswer: return 52
        case .invalidAnswer(let fault): return fault == .truncated ? 18 : 0
        case .answerTooLarge, .cancelled: return 0
        }
    }
}
