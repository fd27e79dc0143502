import Posix

/// What a flow asks an organisation's servers, of `FetchWorker` or of whoever plays it. What comes is
/// checked by the flow.
@LoopActor
package protocol ServerLink: AnyObject {
    /// What an invitation leads to.
    func find(_ url: [UInt8]) async -> Fetched
    /// What a person has typed, as JSON; the server's line comes back as the content.
    func signIn(_ typed: WipedBuffer, at url: [UInt8]) async -> Fetched
    /// Nothing more is asked; what is under way ends.
    func end()
}
