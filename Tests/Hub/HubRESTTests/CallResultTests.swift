import CurlHTTP
import Delivery
import HTTP1
import HubREST
import PushModel
import Testing

struct CallResultTests {
    private static let reasons: [TransportFailure.Cause] =
        [
            .resolve, .addressRefused, .proxy, .connect, .connectTimeout, .tls, .certificate, .sendFailed, .timeout, .reset,
            .closedBeforeAnswer, .answerTooLarge, .cancelled,
        ] + AnswerFault.allCases.map { .invalidAnswer($0) }

    private func verdict(_ reason: TransportFailure.Cause, code: Int32 = 0, bodySent: Bool) -> CallVerdict {
        CallVerdict(
            of: CallResult(TransportFailure(reason: reason, curlCode: code, requestBytesSent: bodySent, bodySent: bodySent)))
    }

    @Test(
        arguments: [
            (.resolve, .transient, .dnsFailed), (.addressRefused, .transient, .connectFailed),
            (.proxy, .transient, .connectFailed), (.connect, .transient, .connectFailed),
            (.connectTimeout, .transient, .connectFailed), (.tls, .transient, .tlsFailed), (.certificate, .transient, .tlsFailed),
            (.sendFailed, .transient, .connectFailed), (.timeout, .transient, .connectFailed),
            (.reset, .transient, .connectFailed),
            (.closedBeforeAnswer, .transient, .connectFailed), (.cancelled, .transient, .connectFailed),
            (.answerTooLarge, .transient, .responseInvalid), (.invalidAnswer(.truncated), .transient, .connectFailed),
            (.invalidAnswer(.invalidStatusLine), .transient, .responseInvalid),
            (.invalidAnswer(.headTooLarge), .transient, .responseInvalid),
        ] as [(TransportFailure.Cause, Outcome, ErrorCode)])
    func aFailureBeforeTheBodyLeftMeans(reason: TransportFailure.Cause, outcome: Outcome, code: ErrorCode) {
        let verdict = verdict(reason, bodySent: false)
        #expect(verdict.outcome == outcome)
        #expect(verdict.code == code)
        #expect(verdict.retry == .backoff)
    }

    @Test(
        arguments: [
            (.timeout, .hubTimeout), (.reset, .hubUnavailable), (.closedBeforeAnswer, .hubUnavailable),
            (.cancelled, .hubUnavailable),
            (.invalidAnswer(.truncated), .hubUnavailable), (.invalidAnswer(.invalidStatusLine), .responseInvalid),
            (.invalidAnswer(.bytesAfterAnswer), .responseInvalid), (.answerTooLarge, .responseInvalid),
        ] as [(TransportFailure.Cause, ErrorCode)])
    func aFailureAfterTheBodyLeftMeans(reason: TransportFailure.Cause, code: ErrorCode) {
        #expect(verdict(reason, bodySent: true).code == code)
    }

    @Test(arguments: reasons)
    func everyReasonHasAVerdictThatDependsOnTheBody(reason: TransportFailure.Cause) {
        #expect(verdict(reason, bodySent: true).outcome == .ambiguous)
        #expect(verdict(reason, bodySent: true).retry == .ifAmbiguityAllowed)
        #expect(verdict(reason, bodySent: false).outcome == .transient)
    }

    /// libcurl's own number counts where there is one.
    @Test(
        arguments: [(6, .dnsFailed), (7, .connectFailed), (60, .tlsFailed), (27, .internal), (28, .connectFailed)]
            as [(Int32, ErrorCode)])
    func libcurlsNumberIsMoreExactThanTheReason(number: Int32, code: ErrorCode) {
        #expect(
            CallResult(TransportFailure(reason: .connect, curlCode: number))
                == .failed(curlCode: number, isAnswerInvalid: false, bodySent: false))
        #expect(verdict(.connect, code: number, bodySent: false).code == code)
    }
}
