import HubEmulator
import TestSupport
import Testing

/// The breaking-news tutorial: apps register templates at the hub with a Listen key, and news go to categories, by REST and by requests.
@Suite(.tags(.threads)) struct BreakingNewsTests {
    private let stage: AppStage
    /// Sends to the hub itself.
    private let desk: HubSession

    init() throws {
        stage = try AppStage.shared.get()
        desk = HubSession(port: stage.hubPort, AppStage.sendPolicy)
    }

    /// A token as apps write it.
    private func handle(_ token: [UInt8]) -> String { IOSApp(stage.port, token: token).handle }

    /// An app that was started and has subscribed.
    private func started(_ categories: [String]) throws -> NewsApp {
        let app = NewsApp(stage.hubPort, handle: handle(stage.token()))
        try app.start()
        try app.subscribe(to: categories)
        return app
    }

    private func alerts(_ app: NewsApp) -> [String?] { stage.rung(app.handle).map(\.alert) }

    /// Publishes a request, and waits until the hub has accepted its one call.
    private func publish(_ categories: [String], _ properties: String) throws -> Bool {
        let list = categories.map { "\"\($0)\"" }.joined(separator: ",")
        try stage.publish(#"{"audience":{"categories":[\#(list)]},"template":{\#(properties)}}"#)
        return eventually { !sends(categories).isEmpty }
    }

    /// The accepted calls that are for all of these categories.
    private func sends(_ categories: [String]) -> [RecordedCall] {
        stage.hub.calls().filter { call in
            guard let tags = call.tags, call.isAccepted, call.format == "template" else { return false }
            return Set(tags.split(whereSeparator: { " |()".contains($0) }).map(String.init)).isSuperset(of: categories)
        }
    }

    @Test func newsOverRESTRingSubscribersAlone() throws {
        let (world, sports) = (stage.word("World"), stage.word("Sports"))
        let apps = [try started([world]), try started([sports]), try started([world, sports]), try started([])]
        #expect(try desk.send("it works", to: world) == 201)
        let text = "Breaking \(world) News : it works"
        #expect(apps.map(alerts) == [[text], [], [text], []])
    }

    @Test func newsThroughKafkaRingSubscribersAlone() throws {
        let (world, sports) = (stage.word("World"), stage.word("Sports"))
        let apps = [try started([world]), try started([sports]), try started([])]
        let isSent = try publish([world], #""messageParam":"it works""#)
        try #require(isSent)
        #expect(apps.map(alerts) == [["it works"], [], []])
    }

    @Test func oneExpressionRingsADeviceOfTwoCategoriesOnce() throws {
        let (world, sports) = (stage.word("World"), stage.word("Sports"))
        let both = try started([world, sports])
        let isSent = try publish([world, sports], #""messageParam":"once""#)
        try #require(isSent)
        #expect(alerts(both) == ["once"] && sends([world, sports]).count == 1)
        #expect(try desk.send("once", to: "\(world) || \(sports)") == 201)
        #expect(alerts(both).count == 2)
        // The tutorial's app sends for each category by itself.
        for category in [world, sports] { #expect(try desk.send("twice", to: category) == 201) }
        #expect(alerts(both).count == 4)
    }

    @Test func aDeviceHasOneRegistrationHoweverOftenItStartsAndChanges() throws {
        let categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"].map { stage.word($0) }
        let app = try started([])
        #expect(stage.device(app.handle)?.registrationCount == 1 && stage.device(app.handle)?.tags == [])
        for chosen in [categories, Array(categories.prefix(2)), [categories[5]]] {
            try app.subscribe(to: chosen)
            try app.start()
            #expect(stage.device(app.handle).map { Set($0.tags) } == Set(chosen))
        }
        // Installed again, it looks up what the hub has, with the key that may listen.
        let again = NewsApp(stage.hubPort, handle: app.handle)
        try again.start()
        #expect(stage.device(app.handle)?.registrationCount == 1 && stage.device(app.handle)?.tags == [])
        try again.subscribe(to: [categories[0]])
        #expect(try desk.send("x", to: categories[5]) == 201)
        #expect(try desk.send("y", to: categories[0]) == 201)
        #expect(alerts(again) == ["Breaking \(categories[0]) News : y"])
    }

    @Test func theKeyOfTheAppCannotSend() throws {
        let world = stage.word("World")
        let app = try started([world])
        let session = HubSession(port: stage.hubPort, AppStage.listenPolicy)
        #expect(try session.send("forged", to: world) == 403)
        #expect(alerts(app).isEmpty)
    }

    @Test func oneRequestTellsEachDeviceItsLanguage() throws {
        let world = stage.word("World")
        let name = "localizednewsTemplate"
        let phone = NewsApp(
            stage.hubPort, handle: handle(stage.token()),
            template: NewsApp.Template(name: name, body: #"{"aps":{"alert":"$(News_English)"}}"#))
        let android = NewsApp(
            stage.hubPort, handle: stage.word("f"), on: .android,
            template: NewsApp.Template(name: name, body: #"{"message":{"data":{"message":"$(News_French)"}}}"#))
        let line = #"<text id="1">$(News_Mandarin)</text>"#
        let toast = #"<toast><visual><binding template="ToastText01">\#(line)</binding></visual></toast>"#
        let windows = NewsApp(
            stage.hubPort, handle: stage.channel(), on: .windows, template: NewsApp.Template(name: name, body: toast))
        for app in [phone, android, windows] { try app.subscribe(to: [world]) }
        let isSent = try publish(
            [world], #""News_English":"News","News_French":"Dernière heure","News_Mandarin":"新闻""#)
        try #require(isSent)
        #expect(alerts(phone) == ["News"])
        #expect(stage.rung(android.handle).map { $0.data("message") } == ["Dernière heure"])
        #expect(stage.rung(windows.handle).map { $0.body.contains(">新闻<") } == [true])
        #expect(sends([world]).count == 1)
    }

    /// One device that has a user and categories: both reach it, and neither disturbs the other.
    @Test func newsAndNotificationsLiveOnOneDevice() throws {
        let (alice, world) = (stage.word("alice"), stage.word("World"))
        let token = stage.token()
        let news = NewsApp(stage.hubPort, handle: handle(token))
        try news.subscribe(to: [world])
        let app = IOSApp(stage.port, token: token)
        try app.logIn(alice, alice)
        try news.start()
        #expect(try app.send("Hi", to: alice, on: ["apns"]) == [200])
        #expect(try desk.send("x", to: world) == 201)
        #expect(alerts(news) == ["From \(alice): Hi", "Breaking \(world) News : x"])
    }
}
