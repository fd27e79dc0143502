import Wire
import Words

extension DemoScreens {
    package static func judge(_ typed: Typed, _ voice: Words.Voice) -> [Checklist.Entry] {
        typed.withBuffer { judge($0, voice) }
    }
}
