import Page
import PublishAPI

extension KeySignIn: SessionKeys {}
