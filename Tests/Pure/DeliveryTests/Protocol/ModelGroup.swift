/// The consumer group of the model: one place for each worker, who sits in it, and who owns which partition.
///
/// It refuses positions as a broker with classic groups does: by member and generation, not by partition, and not at all for a
/// member of a group without static membership that names neither.
struct ModelGroup {
    /// What a worker says of itself with its positions.
    struct Member {
        let slot: Int
        var id = 0
        var generation = -1
    }

    let isStatic: Bool
    private(set) var generation = 0
    /// The member in each place; 0 is nobody.
    private(set) var members: [Int]
    private(set) var isRebalancing = false
    private var hasJoined: [Bool]
    /// The place that owns each partition; -1 is none.
    private(set) var owners: [Int]
    private var lastID = 0

    init(slots: Int, partitions: Int, isStatic: Bool) {
        self.isStatic = isStatic
        members = Array(repeating: 0, count: slots)
        hasJoined = Array(repeating: false, count: slots)
        owners = Array(repeating: -1, count: partitions)
    }

    func isMember(_ member: Member) -> Bool { member.id != 0 && members[member.slot] == member.id }

    func isOwner(_ member: Member, of partition: Int) -> Bool {
        isMember(member) && member.generation == generation && owners[partition] == member.slot
    }

    /// Whether a broker takes positions from `member`.
    func accepts(_ member: Member) -> Bool {
        if !isStatic && member.id == 0 && member.generation < 0 { return true }
        return isMember(member) && member.generation == generation
    }

    /// A process takes its place in the group. With static membership it takes over what its predecessor owned.
    ///
    /// - Returns: What it is now.
    mutating func enter(_ slot: Int) -> Member {
        lastID += 1
        if isStatic && members[slot] != 0 && !isRebalancing {
            members[slot] = lastID
            return Member(slot: slot, id: lastID, generation: generation - 1)
        }
        members[slot] = lastID
        isRebalancing = true
        let member = Member(slot: slot, id: lastID, generation: generation)
        join(member)
        return member
    }

    /// A member has given up what it had and waits for its share.
    mutating func join(_ member: Member) {
        guard isMember(member) else { return }
        hasJoined[member.slot] = true
        completeIfAllJoined()
    }

    /// Whether `member` still has to give up what it has.
    func mustJoin(_ member: Member) -> Bool { isRebalancing && !hasJoined[member.slot] }

    mutating func rebalance() {
        if members.contains(where: { $0 != 0 }) { isRebalancing = true }
    }

    /// A member was not heard of for the session timeout.
    mutating func expire(_ slot: Int) {
        guard members[slot] != 0 else { return }
        members[slot] = 0
        hasJoined[slot] = false
        isRebalancing = true
        completeIfAllJoined()
    }

    /// A member says that it goes.
    mutating func leave(_ member: Member) { if isMember(member) { expire(member.slot) } }

    /// There is one more partition. A group whose members have names of their own may not hear of it.
    mutating func grow() {
        owners.append(-1)
        if !isStatic { rebalance() }
    }

    /// The partitions without a consumer; none while that is being settled.
    var unread: [Int] { isRebalancing ? [] : owners.indices.filter { owners[$0] < 0 } }

    private mutating func completeIfAllJoined() {
        guard isRebalancing else { return }
        for slot in members.indices where members[slot] != 0 && !hasJoined[slot] { return }
        generation += 1
        isRebalancing = false
        let present = members.indices.filter { members[$0] != 0 }
        for partition in owners.indices {
            // Turned by one each time, so that partitions move.
            owners[partition] = present.isEmpty ? -1 : present[(partition + generation) % present.count]
        }
        for slot in hasJoined.indices { hasJoined[slot] = false }
    }
}
