// A store outside of this module makes registrations and installations again from what it has kept.

extension Registration {
    /// A native registration without tags.
    package init(id: String, etag: Int, platform: HubPlatform, handle: String) {
        self.init(id: id, etag: etag, platform: platform, handle: handle, tags: [])
    }
}

extension Registration.Template {
    /// A template without header fields.
    package init(name: String?, text: String, body: BodyTemplate) {
        (self.name, self.text, self.body) = (name, text, body)
    }
}

extension StoredInstallation {
    /// An installation of a device without a user.
    package init(id: String, platform: HubPlatform, target: InstallationTarget) {
        (self.id, self.platform, self.target) = (id, platform, target)
    }
}

extension InstallationTarget {
    /// A target without templates.
    package init(pushChannel: String, tags: [String]) {
        (self.pushChannel, self.tags) = (pushChannel, tags)
    }
}

extension InstallationTarget.Template {
    /// A template without header fields and tags.
    package init(name: String, text: String, body: BodyTemplate) {
        (self.name, self.text, self.body) = (name, text, body)
    }
}
