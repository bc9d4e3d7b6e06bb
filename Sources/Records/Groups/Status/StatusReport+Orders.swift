import Delivery
package import JobSupport

extension StatusReport {
    /// Reads the orders that stand. Those that cannot be read are a gap: few users may read the control topic.
    package mutating func readOrders(_ context: JobContext) {
        do throws(JobFailure) {
            take(try context.orderBook())
        } catch {
            gaps.append(.unread(topic: context.topics.control, error))
        }
    }

    /// Takes in the orders that stand, with what the workers that were heard of late say of them.
    package mutating func take(_ book: OrderBook) {
        let heard = workers.filter { !$0.isStale }.compactMap { worker in
            (try? worker.page.get()).map { (name: worker.name, page: $0) }
        }
        orders = StandingOrders(book, workers: heard, now: now)
    }

    /// A line for each hold or limit that stands, and for each worker that goes on as if there were none.
    package var orderLines: [String] {
        guard let orders else { return [] }
        return orders.entries.map { orders.text($0) }
            + orders.ignorant.map { StandingOrders.text(ofIgnorant: $0.worker, version: $0.version) }
    }
}
