import JobSupport
import Publishing
import Results
import GatewayAPI
import GroupPositions
import ResultQuery

/// Searches the whole life of a request in the results, and where it is while it has none. Blocks the calling thread.
struct LifeSearch: Sendable {
    let context: JobContext
    package let answers: ResultAnswers
    let terms: GroupTerms

    /// The same, whose work ends by another condition, too.
    func ending(when isOver: @escaping @Sendable () -> Bool) -> LifeSearch {
        LifeSearch(context: context.ending(when: isOver), answers: answers.ending(when: isOver), terms: terms)
    }

    /// The results of a request that an asker may see, or nil for none. Others may have published under its id.
    func life(of id: String, for asker: Asker) throws(APIProblem) -> RequestLife? {
        let life = try APIProblem.catching { () throws(JobFailure) in
            try answers.life(of: id, ResultFilter()) { result in
                asker.maySee(RequestOwner(source: result.source, tenant: result.tenant))
            }
        }
        return life.latest == nil ? nil : life
    }

    /// The place of a request that has no result. A record says nothing of tenants before it is read, so this is for keys that see all.
    func whereabouts(of id: String) throws(APIProblem) -> FoundLife {
        try APIProblem.catching { () throws(JobFailure) in
            var search = WhereaboutsSearch(for: id, in: terms, context: context)
            let report = try search.run()
            return report.whereabouts.isUnknown ? .nothing : .whereabouts(report)
        }
    }
}
