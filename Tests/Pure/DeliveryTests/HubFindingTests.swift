import Delivery
import Testing

struct HubFindingTests {
    private static let unknownHub = "No service is hosted at the specified address."
    private static let noTier = "The operation is not available for the Basic tier of this hub"
    private static let claim = "Manage claim is required for this operation."

    /// The question is for a notification that there never was: 404 is what a hub says that lets us in.
    @Test(arguments: [
        (404, "The notification does not exist", false, HubFinding.Kind.good), (404, "", false, .good), (200, "", false, .good),
        (400, "", false, .good), (403, noTier, false, .good),
        (429, "", false, .throttled), (403, "", true, .throttled),
        (404, unknownHub, false, .missing), (404, unknownHub.lowercased(), true, .missing),
        (401, "InvalidSignature: The token has an invalid signature.", false, .keyRefused), (401, "", true, .keyRefused),
        (403, "", false, .rightUnknown), (401, claim, false, .rightUnknown),
        (500, "", false, .failing), (502, "", false, .failing), (503, "", true, .failing), (408, "", false, .failing),
        (405, "", false, .unclear), (501, "", false, .unclear), (302, "", false, .unclear), (407, "", false, .unclear),
    ])
    func anAnswerTellsHowTheHubIs(status: Int, detail: String, asksToWait: Bool, kind: HubFinding.Kind) {
        #expect(HubFinding(status: status, detail: detail, asksToWait: asksToWait).kind == kind)
    }

    /// A proxy's page under a status by which a hub would say that it knows the key, or does not.
    @Test(arguments: [200, 400, 401, 403, 404, 410]) func aPageOfSomethingElseIsNoProofOfAHub(_ status: Int) {
        let finding = HubFinding(status: status, detail: "", asksToWait: false, isHubs: false)
        #expect(finding.kind == (status == 200 ? .foreign : .failing) && finding.isBad && finding.isProof == false)
        #expect(finding.words == "answers \(status) with a page that is no hub's, as that of a sign-in or a proxy")
    }

    @Test(arguments: [(429, false), (403, true), (503, true), (302, false)])
    func aPageOfAFrontThatThrottlesOrFailsIsReadByItsStatus(_ status: Int, _ asksToWait: Bool) {
        let page = HubFinding(status: status, detail: "", asksToWait: asksToWait, isHubs: false)
        #expect(page == HubFinding(status: status, detail: "", asksToWait: asksToWait))
    }

    @Test func noAnswerIsToldApartFromAConnectionThatIsNotTrusted() {
        #expect(HubFinding(unanswered: "timeout: no answer", isTrust: false).words == "does not answer: timeout: no answer")
        #expect(HubFinding(unanswered: "self-signed", isTrust: true).kind == .untrusted)
    }

    /// What is not known is no reason to call the hub bad; a right that is missing is no proof that it works either.
    @Test(arguments: [
        (404, "", false, true as Bool?), (405, "", false, true), (429, "", false, true), (403, "", false, nil),
        (401, "", true, false), (503, "", true, false), (404, unknownHub, true, false),
    ])
    func onlyWhatCallsWouldMeetAsWellIsBad(status: Int, detail: String, isBad: Bool, isProof: Bool?) {
        let finding = HubFinding(status: status, detail: detail, asksToWait: false)
        #expect(finding.isBad == isBad && finding.isProof == isProof)
    }

    @Test func theStatusAndTheDetailAreInTheWords() {
        #expect(HubFinding(status: 401, detail: "ExpiredToken", asksToWait: false).words == "refuses the key: 401, ExpiredToken")
        #expect(HubFinding(status: 503, detail: "", asksToWait: false).words == "answers 503")
    }
}
