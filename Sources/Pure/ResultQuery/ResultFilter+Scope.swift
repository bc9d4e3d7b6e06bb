/// The records that can decide about a filter: results, or requests as they were published.
extension ResultFilter {
    /// True if a condition is on the request as it was published.
    public var isAboutRequests: Bool { !sought.isEmpty }

    /// True if a state is asked for that only a request without a result has, such as `state:waiting`.
    public var asksForOpen: Bool { terms.contains { !$0.isNegated && $0.namesOpenState } }

    /// True if a term is about something that a result alone has: its ending, its calls or its worker.
    public var asksOfResults: Bool { terms.contains(where: \.isAboutResults) }
}

extension ResultFilter.Term {
    /// True if it has a word for requests without a result.
    fileprivate var namesOpenState: Bool {
        subject == .field(.state)
            && values.contains { value in
                OpenState.allCases.contains { value == .text(Array($0.rawValue.utf8)) }
            }
    }

    fileprivate var isAboutResults: Bool {
        switch subject {
        case .label: false
        case .field(let field):
            switch field {
            case .state: !namesOpenState
            case .outcome, .error, .status, .safety, .platform, .attempts, .took, .queued, .kind, .hubState, .worker: true
            case .request, .hub, .source, .tenant, .topic, .partition, .root, .parent, .job, .actor, .generation: false
            }
        }
    }
}
