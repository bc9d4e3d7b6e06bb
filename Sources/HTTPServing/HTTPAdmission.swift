/// What becomes of a request whose head is there, and of whose body no byte is kept yet.
public enum HTTPAdmission: Sendable {
    /// The body is read, and the handler gets it. One of more bytes, or of more than ``HTTPServerConfiguration/maximumBodyByteCount``,
    /// is answered 413.
    case read(atMost: Int)
    /// The body is read past and not kept; the handler gets none.
    case skip
    /// This is the answer, and the handler is not called. Its delivery and its delay do not count.
    ///
    /// Where the head announces a body, the answer does not wait for it, and ends the connection: with `Expect: 100-continue` the client
    /// sends none, and what another one has on its way is read past, so that it can read the answer. Else the connection stays.
    case answer(HTTPServerResponse)
}
