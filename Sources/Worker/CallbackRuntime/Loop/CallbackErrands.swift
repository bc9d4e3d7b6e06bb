import CallbackRecords
import Dispatch
import Kafka
import ResultFeed

/// Does for the loop whatever blocks, in queues of their own threads, and puts the ends into its inbox.
final class CallbackErrands: Sendable {
    private let parts: CallbackParts
    private let inbox: CallbackInbox
    /// Positions are loaded and saved one after the other, so that what was saved last counts.
    private let positions = DispatchQueue(label: "pushfan-positions")
    private let decisions = DispatchQueue(label: "pushfan-decisions")

    init(_ parts: CallbackParts, inbox: CallbackInbox) { (self.parts, self.inbox) = (parts, inbox) }

    /// Asks where a receiver goes on in partitions. The port's number and the assignment's come back with the answer.
    func load(_ partitions: Set<TopicPartition>, of receiver: String, port number: Int, assignment: Int) {
        positions.async { [positions = parts.positions, inbox] in
            let result = Result { () throws(KafkaError) in try positions.load(receiver, in: Array(partitions)) }
            inbox.put(.loaded(number, assignment: assignment, result))
        }
    }

    /// Saves positions, by receiver.
    func save(_ offsets: [String: [TopicPartition: Int64]]) {
        positions.async { [positions = parts.positions, inbox] in
            do throws(KafkaError) {
                try positions.save(offsets)
                inbox.put(.saved(nil))
            } catch {
                inbox.put(.saved(error))
            }
        }
    }

    /// Saves the last positions of a receiver that is gone. If they are lost, some of its results come twice when it is back.
    func saveLast(_ offsets: [TopicPartition: Int64], of receiver: String) {
        positions.async { [positions = parts.positions] in try? positions.save(receiver, at: offsets) }
    }

    /// Writes the decision about the receiver of a port.
    func note(_ state: ReceiverState, of receiver: String, port number: Int) {
        decisions.async { [decide = parts.decide, inbox] in
            do throws(KafkaError) {
                try decide(state, receiver)
                inbox.put(.noted(number, nil))
            } catch {
                inbox.put(.noted(number, error))
            }
        }
    }

    /// Writes the dead letter of a result. Its end comes from the thread of the sink.
    func bury(_ result: UntakenResult, of receiver: String, port number: Int) {
        let letter = CallbackDeadLetter(
            receiver: receiver, reason: result.reason.rawValue, attempts: result.attempts, firstAt: result.firstAt,
            lastAt: result.lastAt, status: result.status, resultID: result.record.resultID, partition: result.place,
            offset: result.record.offset, result: result.record.line)
        parts.deadLetters.write(letter) { [inbox] problem in inbox.put(.buried(number, result, problem: problem)) }
    }

    /// Gives all partitions back.
    func leave(_ sharing: any PartitionSharing) {
        decisions.async { [inbox] in
            sharing.close()
            inbox.put(.left)
        }
    }
}
