import Delivery
package import GatewayAPI
import Kafka
import Publishing
package import PushModel
import Replay
package import ResultQuery
import Results

/// Adds to answers what the records of requests say: to whom, the holds that concerned it, and what it repeats.
package struct AnswerCompletion: Sendable {
    /// Finds the twins of a request for an asker. Nil where they were not found in time.
    package typealias Pairing =
        @Sendable (
            _ facts: RequestFacts, _ publishedAt: Timestamp, _ asker: Asker, _ then: @escaping @Sendable ([Twin]?) -> Void
        ) -> Void

    package let lookup: RequestLookup
    /// The topics of requests: no other is read, whatever a caller says.
    let topics: Set<String>
    let read: LookupEndpoints.Reading
    let search: LookupEndpoints.Searching
    /// Says for which times requests were held.
    package var heldRequests = HeldRequests()
    /// Says what keeps the calls of hubs back.
    package var hubs = HubObstacles()
    package var findTwins: Pairing = { $3(nil) }

    init(
        lookup: RequestLookup, topics: Set<String>, read: @escaping LookupEndpoints.Reading,
        search: @escaping LookupEndpoints.Searching
    ) {
        (self.lookup, self.topics, self.read, self.search) = (lookup, topics, read, search)
    }

    /// Reads the record of a request, if that tells more. `then` is called once, before this returns or later, in any thread.
    func complete(
        _ found: LookupAnswer, query: LookupQuery, for asker: Asker, then: @escaping @Sendable (LookupAnswer) -> Void
    ) {
        guard let place = found.place, topics.contains(place.record.partition.topic),
            query.wantsPayload || asker.mayRead && isSearched(found, by: query)
                || found.request.map(heldRequests.mayConcern) ?? false
        else { return then(found) }
        read(place.record, "key/" + asker.keyID) { result in
            var found = found
            guard case .success(let record?) = result else { return then(found) }
            take(record, at: place, into: &found, query: query, for: asker)
            findOriginal(of: found, for: asker) { found in findTwins(of: found, query: query, for: asker, then: then) }
        }
    }

    /// True if Kafka is asked in any case, so that one record more costs little.
    private func isSearched(_ found: LookupAnswer, by query: LookupQuery) -> Bool {
        query.wantsLife || found.report != nil && query.wait == 0
    }

    /// Takes what a record says of a request, if it is its own and the asker may see it. Of its value anything but JSON is left out.
    private func take(
        _ record: StoredRecord, at place: RequestPlace, into found: inout LookupAnswer, query: LookupQuery, for asker: Asker
    ) {
        let now = lookup.clock.wall()
        var request = PushRequest()
        let isOwn = place.record.partition.topic == heldRequests.topics.requestsOwn
        guard request.read(record, at: place, isOwn: isOwn) else { return }
        let facts = RequestFacts(request)
        guard let published = found.request ?? PublishedRequest(record, at: place, withID: facts.id),
            facts.id == published.id, asker.maySee(RequestOwner(source: facts.source, tenant: facts.tenant))
        else { return }
        if heldRequests.mayConcern(published) {
            found.held = heldRequests.spans(of: record, at: place, of: published)
            found.story.take(found.held, now: now, namesAuthors: false)
        }
        if asker.mayRead, query.wantsPayload || isSearched(found, by: query) {
            found.facts = facts
            found.story.audience = facts.audience
        }
        hubs.take(request, into: &found.story, at: now, isTold: asker.mayRead && asker.tenant == nil)
        var document = JSONDocument()
        if query.wantsPayload, let value = record.value, (try? document.read(value.span)) != nil {
            found.payload = value.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        }
    }

    /// Finds the request that another one repeats, and what became of it, as far as the asker may see it.
    private func findOriginal(
        of found: LookupAnswer, for asker: Asker, then: @escaping @Sendable (LookupAnswer) -> Void
    ) {
        guard let place = (found.story.original?.id).flatMap({ RecordPlace($0) }), topics.contains(place.topic) else {
            return then(found)
        }
        let record = StoredPlace(topic: place.topic, partition: place.partition, offset: place.offset)
        read(record, "key/" + asker.keyID) { result in
            var request = PushRequest()
            guard case .success(let stored?) = result, request.read(stored, at: RequestPlace(record: record)) else {
                return then(found)
            }
            let facts = RequestFacts(request)
            let owner = RequestOwner(source: facts.source, tenant: facts.tenant)
            guard facts.id != found.story.id, asker.maySee(owner) else { return then(found) }
            var found = found
            found.story.original = RequestStory.Original(id: facts.id)
            if let state = lookup.find(facts.id, for: asker)?.request.ending?.state {
                found.story.original?.state = state
                return then(found)
            }
            search(facts.id, asker) { [found] other in
                var found = found
                if case .success(.life(let life)) = other { found.story.original?.state = life.final?.state }
                then(found)
            }
        }
    }

    private func findTwins(
        of found: LookupAnswer, query: LookupQuery, for asker: Asker, then: @escaping @Sendable (LookupAnswer) -> Void
    ) {
        guard query.wantsLife, let facts = found.facts, let moment = found.story.publishedAt else { return then(found) }
        findTwins(facts, moment, asker) { twins in
            var found = found
            found.twins = twins
            then(found)
        }
    }
}
