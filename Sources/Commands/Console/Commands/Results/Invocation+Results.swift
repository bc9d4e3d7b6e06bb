import ResultQuery

extension Invocation {
    /// A filter that results alone answer. A usage failure says so of words, users, devices, titles and states without a result.
    func filterOfResults(_ operands: [String]) throws(CommandFailure) -> ResultFilter {
        let filter = try filter(operands)
        guard !filter.isAboutRequests, !filter.asksForOpen else {
            throw .usage(
                "the filter asks for what no result says: a word, a user, a device, a title or a state without a result",
                hint: "`pushfan results list` finds such requests")
        }
        return filter
    }
}
