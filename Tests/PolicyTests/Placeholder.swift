import Testing

@testable import Policy
