import CallbackRecords
import CurlHTTP
import HTTP1
import JobSupport
import Webhooks

/// The command `callbacks check`.
enum CheckReceiversCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        let timeout = try invocation.timeout()
        let set = try invocation.receivers(try invocation.settings(), file: arguments.operands.first)
        Interruption.catchSignals()
        let guarded = AddressGuard(allowed: set.allowedNetworks)
        var table = Table("RECEIVER", "TO", "ADDRESSES", "FORM", "KINDS", "STATE", "DETAIL")
        var isGood = true
        for receiver in set.receivers {
            let addresses = HostAddresses(of: receiver.url.host)
            var (state, detail) = Self.state(of: addresses, by: guarded)
            if state == "ok", arguments.has("connect") {
                guard !Interruption.isRequested else { return Interruption.exitCode }
                switch try ReceiverCall(receiver, of: set, timeout: timeout).ask() {
                case .answer(let answer): detail = "it answers HEAD with \(answer.status)"
                case .failure(let failure): (state, detail) = ("failed", failure.description)
                }
            }
            if state != "ok" { isGood = false }
            table.add([
                "receiver": receiver.name, "to": "\(receiver.url)", "addresses": addresses.all.map(\.text),
                "form": receiver.form.rawValue, "kinds": receiver.kinds.sorted(), "state": state,
                "detail": Sanitised.line(detail),
            ])
        }
        try invocation.out(table)
        invocation.streams.note(Counted.text(set.receivers.count, "receiver", "receivers"))
        return isGood ? .done : .failed
    }

    private static func state(of addresses: HostAddresses, by guarded: AddressGuard) -> (state: String, detail: String) {
        if let problem = addresses.problem { return ("failed", problem) }
        let refused = addresses.all.filter { guarded.refuses($0.bytes) }
        if refused.isEmpty { return ("ok", "") }
        let which = refused.map(\.text).joined(separator: ", ")
        return refused.count == addresses.all.count
            ? ("refused", "\(which) is not of the open internet; allow its network in the file if it is yours")
            : ("ok", "\(which) is not of the open internet, and is not called")
    }
}
