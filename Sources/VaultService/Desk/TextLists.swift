import Posix
import Wire
import Words

/// The answers to `texts`, made once for each language and reading of the policy. Anybody may ask
/// as often as they like, and making one takes the loop longer than everything else that anybody
/// may ask for.
@LoopActor
final class TextLists {
    private var reading = -1
    private var made: [Language: SharedBody] = [:]

    /// `reading` is the number of the policy that the voice's texts come from.
    func list(_ voice: Voice, reading: Int) -> SharedBody {
        if reading != self.reading {
            made = [:]
            self.reading = reading
        }
        if let list = made[voice.language] { return list }
        let list = SharedBody(voice.list)
        made[voice.language] = list
        return list
    }
}
