import FanOut
import HubREST

/// The hubs that one piece of work is done at: one, or those of a spread, of which the home takes what is written.
struct HubReach: Sendable {
    /// The number of the hub that has the device, or is to have it.
    let home: Int
    /// The form of the user whose home it is, or nil where the user is not known.
    let user: String?
    /// The spread, or nil where the home is all there is.
    let spread: HubRoutes.Spread?

    init(home: Int, of user: UserTag? = nil, spread: HubRoutes.Spread? = nil) {
        self.home = home
        self.user = user?.form
        self.spread = spread
    }

    /// The numbers of the hubs, the home first.
    var hubs: [Int] { [home] + (spread?.numbers ?? []).filter { $0 != home } }

    /// The hub in which the sender looks for an installation, or nil where it cannot be told by what it says of its user.
    func home(of installation: Installation) -> Int? {
        guard let spread, user == nil || installation.userID != user else { return home }
        guard let form = installation.userID else { return spread.number(of: installation.id) }
        return UserTag.address(ofForm: form).map(spread.number(of:))
    }
}

extension HubRoutes.Spread {
    /// The number of the hub that has a name.
    func number(of name: String) -> Int { numbers[hubs.hub(of: Array(name.utf8).span)] }
}
