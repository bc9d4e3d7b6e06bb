@testable import OperatorAPI
@testable import PublishAPI
@testable import GatewayAPI
@testable import AppAPI
import CurlHTTP
import HTTPServing
import HubREST
import Kafka
import PushModel
import Testing

struct APIAnswerTests {
    private func text(_ answer: APIAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

    @Test func anIDIsQuotedAndNothingStandsAroundIt() {
        let answer = APIAnswer(Registrar.Ending.id("4f1c-22"))
        #expect(answer.status == 200 && text(answer) == "\"4f1c-22\"")
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        // As the tutorials' apps do it.
        #expect(text(answer).dropFirst().dropLast() == "4f1c-22")
    }

    @Test func whatIsDoneIs200WithoutABody() {
        #expect(APIAnswer(Registrar.Ending.done) == APIAnswer(status: 200))
        #expect(APIAnswer(Registrar.Ending.notFound).status == 404)
        #expect(APIAnswer.done.response.status == 200 && APIAnswer.done.response.body.isEmpty)
    }

    @Test func aProblemIsProblemJSON() {
        let fault = RequestFault(.schemaInvalid, at: "/Tags/0", message: "A \"tag\" must be a string.")
        let answer = APIAnswer(APIProblem.invalid([fault]))
        #expect(answer.status == 400 && answer.headers["Content-Type"] == "application/problem+json")
        #expect(
            text(answer) == #"{"title":"Bad Request","status":400,"#
                + #""detail":"The body is not what this call takes; errors names each fault.","code":"invalid_request","#
                + #""retry":"never","errors":[{"pointer":"/Tags/0","code":"schema_invalid","#
                + #""detail":"A \"tag\" must be a string."}]}"# + "\n")
    }

    @Test func aJSONObjectEndsWithALineEndAndTheTextsForAppsDoNot() {
        let answer = APIAnswer(status: 200, json: Array("{}".utf8), headers: ["ETag": "x"])
        #expect(text(answer) == "{}\n" && answer.headers["ETag"] == "x")
        #expect(answer.headers["Content-Type"] == "application/json; charset=utf-8")
        #expect(text(.payload("a")) == #"{"Payload":"a"}"#)
    }

    @Test func aProblemNamesThePageOfItsCodeWhereThereIsOne() {
        let answer = APIAnswer(APIProblem.stopping)
        #expect(answer.documented(at: nil) == answer)
        let documented = answer.documented(at: "https://example.com/pushfan#")
        #expect(text(documented) == #"{"type":"https://example.com/pushfan#stopping","# + text(answer).dropFirst())
        #expect(documented.headers == answer.headers && documented.status == 503)
        #expect(APIAnswer.registration("r").documented(at: "https://example.com/") == APIAnswer.registration("r"))
    }

    @Test func missingCredentialsAre401WithAChallenge() {
        let answer = APIAnswer(APIProblem.unauthorized)
        #expect(answer.status == 401 && text(answer).contains(#""retry":"never""#))
        #expect(answer.headers["WWW-Authenticate"] == #"Basic realm="pushfan", charset="UTF-8""#)
    }

    @Test(
        arguments: [
            (0, "1"), (1, "1"), (999, "1"), (1000, "1"), (1001, "2"), (3_600_000, "3600"), (.max, "9223372036854776"),
        ] as [(Int64, String)])
    func waitsAreToldInWholeSeconds(_ milliseconds: Int64, seconds: String) {
        #expect(APIAnswer(APIProblem.overloaded(after: milliseconds)).headers["Retry-After"] == seconds)
    }

    @Test(
        arguments: [
            .stopping, .ofServer(503), .overloaded(after: 1), .notWritten, .resultsUnread, .resultsUnwatched, .recordUnread,
            .notTaken(.unknownTopic("t"), in: "t", retryAfter: 1), .notTaken(.queueFull, in: "t", retryAfter: 1),
        ] as [APIProblem])
    func whateverIs503IsNotWrittenAndMayBeRepeated(problem: APIProblem) {
        #expect(problem.status == 503 && problem.retry == .safe && problem.retryAfter != nil)
        #expect(!problem.detail.contains("may have"))
    }

    @Test func otherProblemsHaveTheirStatusAndFields() {
        #expect(APIAnswer(APIProblem.methodNotAllowed(["PUT", "DELETE"])).headers["Allow"] == "PUT, DELETE")
        #expect(APIAnswer(APIProblem.bodyTooLarge(limit: 10)).status == 413)
        #expect(APIAnswer(APIProblem.unsupportedMediaType).status == 415)
        #expect(APIAnswer(APIProblem.tooManyRequests(after: 500)).status == 429)
        #expect(APIAnswer(APIProblem.stopping).status == 503)
        #expect(APIAnswer(APIProblem.notWritten).status == 503)
        let perhaps = APIAnswer(APIProblem.perhapsWritten("r-1"))
        #expect(perhaps.status == 504 && perhaps.headers["Location"] == "/v1/requests/r-1")
        #expect(text(perhaps).contains(#""request_id":"r-1""#) && text(perhaps).contains("pushfan results show r-1"))
    }

    // MARK: The hub's failures

    private func failure(
        _ cause: RegistrationFailure.Cause, _ code: ErrorCode, status: Int? = nil, retryAfter: Int64? = nil, retry: Bool = false
    ) -> RegistrationFailure {
        var failure = RegistrationFailure(cause, code: code, isWorthRetrying: retry)
        failure.status = status
        failure.retryAfter = retryAfter
        return failure
    }

    @Test func whatTheHubAnswersIsNeverTakenForSuccess() {
        let table: [(RegistrationFailure, Int, String?)] = [
            (failure(.refused, .hubUnauthorized, status: 401), 502, nil),
            (failure(.refused, .hubForbidden, status: 403), 502, nil),
            (failure(.refused, .hubNotFound, status: 404), 502, nil),
            (failure(.refused, .responseInvalid, status: 410), 502, nil),
            (failure(.refused, .payloadRejected, status: 400), 400, nil),
            (failure(.refused, .hubUnavailable, status: 500, retry: true), 502, nil),
            (failure(.refused, .hubThrottled, status: 429, retryAfter: 10_000, retry: true), 503, "10"),
            (failure(.refused, .hubThrottled, status: 429, retry: true), 503, "5"),
            (failure(.refused, .hubUnavailable, status: 503, retryAfter: 1500, retry: true), 503, "2"),
            (failure(.refused, .hubThrottled, status: 409, retry: true), 503, "5"),
            (failure(.unanswered(.timeout), .hubTimeout, retry: true), 502, nil),
            (failure(.unanswered(.connect), .connectFailed, retry: true), 502, nil),
            (failure(.unreadable(.malformed), .responseInvalid), 502, nil), (failure(.unusable, .payloadRejected), 400, nil),
        ]
        for (failure, status, wait) in table {
            let answer = APIAnswer(Registrar.Ending.failed(failure))
            #expect(answer.status == status && answer.headers["Retry-After"] == wait, "\(failure)")
            #expect(text(answer).contains(failure.isWorthRetrying ? #""retry":"safe""# : #""retry":"never""#), "\(failure)")
        }
    }
}
