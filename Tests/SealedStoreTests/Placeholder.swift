import Testing

@testable import SealedStore
