import CallbackRecords
import EventLoop
import Settings
import Webhooks

extension Invocation {
    /// The receivers of a file, or of the one that settings name.
    ///
    /// - Throws: `configuration` with every fault of the file, a line each.
    func receivers(_ settings: Settings, file: String? = nil) throws(CommandFailure) -> ReceiverSet {
        let path: String
        if let file {
            path = file
        } else {
            do throws(SettingsError) { path = try settings.receiversFile() } catch { throw CommandFailure(error) }
        }
        let text = try InputFile.read(path, or: streams)
        do throws(ReceiversFault) {
            return try ReceiversFile.read(text)
        } catch {
            let lines = error.items.map { "\(path): \(Sanitised.line($0.description, atMost: 1024))" }
            throw CommandFailure(
                .configuration, lines.joined(separator: "\n"), hint: "`pushfan help --page callbacks` shows such a file")
        }
    }

    /// The name that the operand gives.
    func receiverName() throws(CommandFailure) -> String {
        guard let name = arguments.operands.first else {
            throw .usage("which receiver? give its name", hint: "`pushfan callbacks list` lists them")
        }
        let isName = name.wholeMatch(of: #/[A-Za-z0-9._-]{1,100}/#) != nil
        guard isName else { throw .usage("\(Sanitised.quoted(name)) is no name: 1 to 100 letters, digits, '.', '_' and '-'") }
        return name
    }

    /// The receiver that the operand names.
    func receiver(of set: ReceiverSet) throws(CommandFailure) -> Receiver {
        let name = try receiverName()
        if let receiver = set.receivers.first(where: { $0.name == name }) { return receiver }
        throw CommandFailure(
            .nothingMatched, "there is no receiver \(Sanitised.quoted(name)) in the file",
            hint: "`pushfan callbacks list` lists them")
    }
}
