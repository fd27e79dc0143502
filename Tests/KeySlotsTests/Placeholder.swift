import Testing

@testable import KeySlots
