import Testing

@testable import Client
