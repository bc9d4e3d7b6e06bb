import EventLoop
import Testing

@testable import Console

/// Who replays, where no flag says it.
@Suite struct ActorTests {
    @Test(
        arguments: [
            (["USER": "ann", "LOGNAME": "bob"], "root", "ann"), (["USER": "", "LOGNAME": "bob"], "root", "bob"),
            ([:], "root", "root"),
            ([:], nil, nil),
        ] as [([String: String], String?, String?)])
    func itIsTheUserOfTheEnvironmentElseTheAccount(environment: [String: String], account: String?, user: String?) {
        #expect(PlanCommand.user(of: environment, account: account) == user)
    }

    @Test func anAccountHasANameOrNone() {
        #expect(ProcessAccount.name != "")
    }
}
