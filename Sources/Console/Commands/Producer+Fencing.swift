import Kafka

extension Producer {
    /// Fences every earlier producer of the same transactional id, and settles what it left open.
    ///
    /// - Parameter limit: How long it is tried again while the coordinator is busy, such as with a transaction that it is ending.
    /// - Throws: The last attempt's error; also when the person has interrupted the command.
    func fenceOthers(within limit: Duration) throws(KafkaError) {
        let deadline = Deadline(after: limit)
        while true {
            do throws(KafkaError) {
                return try initTransactions(timeout: .seconds(10))
            } catch {
                guard error.isRetriable, !deadline.hasPassed, !Interruption.isRequested else { throw error }
            }
        }
    }

    /// Commits the open transaction, and asks again for as long as that is all it takes.
    ///
    /// - Throws: As `commitTransaction(timeout:)` does, for another reason.
    func commitWhateverItTakes() throws(KafkaError) {
        while true {
            do throws(KafkaError) {
                return try commitTransaction(timeout: nil)
            } catch {
                guard error.isRetriable, !error.isFatal else { throw error }
            }
        }
    }
}
