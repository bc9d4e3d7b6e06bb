import EventLoop

/// A gateway's file of users or keys, as commands read and change it.
struct EntryFile<Content: FileContent> {
    private let store: FileStore<Content>
    private let entries: String
    private let maker: String

    /// The file at a path, which fails where no setting gives one. `entries` says of what it is, and `maker` is the command that makes it.
    init(of entries: String, at path: String?, madeBy maker: String) throws(CommandFailure) {
        guard let path else {
            throw CommandFailure(
                .configuration, "gateway.\(entries)_file is not set, so there is no file of \(entries)",
                hint: "name it with --file or PUSHFAN_GATEWAY_\(entries.uppercased())_FILE")
        }
        store = FileStore(path)
        self.entries = entries
        self.maker = maker
    }

    /// Its path in quotes.
    var name: String { Sanitised.quoted(store.path) }

    func read() throws(CommandFailure) -> Content {
        do throws(FileError<Content.Fault>) { return try store.read() } catch { throw failure(error) }
    }

    /// Changes the file. `refusal` may have another failure for a fault.
    func change<Outcome>(
        refusal: (Content.Fault) -> CommandFailure? = { _ in nil }, by change: (inout Content) throws(Content.Fault) -> Outcome
    ) throws(CommandFailure) -> Outcome {
        do throws(FileError<Content.Fault>) {
            return try store.change(by: change)
        } catch {
            if case .fault(let fault) = error, let refusal = refusal(fault) { throw refusal }
            throw failure(error)
        }
    }

    private func failure(_ error: FileError<Content.Fault>) -> CommandFailure {
        let message = "the \(entries) file \(name) \(error)"
        return switch error {
        case .missing: CommandFailure(.configuration, message, hint: "`pushfan \(maker)` makes it")
        case .unreadable, .fault, .cut, .unsettled: CommandFailure(.configuration, message)
        case .locked: CommandFailure(.temporary, message)
        case .notWritten: CommandFailure(.failed, message)
        }
    }
}
