import Crypto
import EventLoop
import Foundation
import GatewayAPI
import TestSupport
import Testing
import TokenIssuer
import UserTokens

@testable import Gateway

/// Users who sign in by tokens of an issuer, whose keys are in a file.
@Suite(.tags(.threads)) struct TokenRouteTests {
    private let folder: TemporaryFolder
    private var configuration: TokenVerifier.Configuration

    init() throws {
        folder = try TemporaryFolder()
        configuration = .init(issuer: "https://login.example.com/", audiences: ["pushfan"], source: .file(folder.path("jwks")))
    }

    private func gateway(_ issuers: TokenIssuer...) throws -> TestGateway {
        let set = #"{"keys":[\#(try issuers.map { try $0.key() }.joined(separator: ","))]}"#
        try Data(set.utf8).write(to: URL(fileURLWithPath: folder.path("jwks")))
        return try TestGateway(change: { [configuration] in $0.tokens = configuration })
    }

    private func claims(
        issuer: String = "https://login.example.com/", audience: String = "pushfan", life: Int64 = 600, more: String = ""
    ) -> String {
        let now = WallClock.millisecondsSince1970() / 1000
        return #"{"iss":"\#(issuer)","aud":"\#(audience)","sub":"auth0|5f","exp":\#(now + life)\#(more)}"#
    }

    private func ask(_ gateway: TestGateway, _ path: String = "/api/register", token: String) throws -> (
        status: Int, text: String
    ) {
        let answer = try gateway.ask(request("POST", path, ["Authorization: Bearer \(token)"]))
        return (answer.status, answer.head + String(decoding: answer.body, as: UTF8.self))
    }

    @Test(arguments: TokenIssuer.Kind.allCases) func aTokenOfTheIssuerSignsItsUserIn(kind: TokenIssuer.Kind) throws {
        let issuer = try TokenIssuer(kind, keyID: "k1")
        let gateway = try gateway(issuer)
        #expect(!gateway.services.readiness.contains("tokens"))
        let token = try issuer.token(claims())
        for _ in 0..<2 {
            let answer = try ask(gateway, token: token)
            #expect(answer.status == 200 && answer.text.hasSuffix("auth0|5f"))
        }
        #expect(gateway.services.metrics.contains("pushfan_gateway_token_keys_age_seconds 0\n"))
    }

    @Test func aHostileTokenIs401() throws {
        let (issuer, stranger) = (try TokenIssuer(.rsa, keyID: "k1"), try TokenIssuer(.rsa, keyID: "k1"))
        let gateway = try gateway(issuer)
        let confused = TokenText.unsigned(header: #"{"alg":"HS256","kid":"k1"}"#, claims: claims())
        let code = try HMACSHA256.code(of: Array(confused.utf8), key: Array(try issuer.publicPEM().utf8))
        let tokens = [
            TokenText.unsigned(header: #"{"alg":"none"}"#, claims: claims()) + ".", confused + "." + TokenText.part(code),
            try stranger.token(claims()), try issuer.token(claims(issuer: "https://evil.example.com/")),
            try issuer.token(claims(audience: "other")), try issuer.token(claims(life: -61)),
            String(try issuer.token(claims()).dropLast(2)), String(repeating: "a", count: 6000),
        ]
        for token in tokens {
            let answer = try ask(gateway, token: token)
            #expect(answer.status == 401 && answer.text.contains(#"error="invalid_token""#) && !answer.text.contains(token))
        }
        #expect(try ask(gateway, token: String(repeating: "a", count: 9000)).status == 431)
        #expect(try ask(gateway, token: try issuer.token(claims())).status == 200)
    }

    @Test func theScopesOfItsClaimBoundAUser() throws {
        var suite = self
        suite.configuration.scopesClaim = "scope"
        let issuer = try TokenIssuer(.p256, keyID: "k1")
        let gateway = try suite.gateway(issuer)
        let token = try issuer.token(claims(more: #","scope":"openid register""#))
        #expect(try ask(gateway, token: token).status == 200)
        #expect(try ask(gateway, "/api/notifications", token: token).status == 403)
        #expect(try ask(gateway, token: try issuer.token(claims())).status == 403, "without the claim there is no scope")
    }
}
