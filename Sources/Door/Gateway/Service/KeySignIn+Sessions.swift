extension KeySignIn: SessionKeys {}
