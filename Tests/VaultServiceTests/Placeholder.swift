import Testing

@testable import VaultService
