import Client
import Wire

/// A reader waits for a finger: what it wants, and how far it has come.
final class ScanPage {
    let root: Widget
    private let line = Widget.alert("").centredText()
    private let stage = Widget.label("").centredText()
    private let bar = Widget.progress(0)
    private let skipButton: Widget
    private let words: OwnWords

    init(_ words: OwnWords, skip: @escaping () -> Void) {
        self.words = words
        skipButton = Widget.button(String(decoding: words(.windowWithout), as: UTF8.self), skip)
            .named("scan-skip").styled("pill")
        bar.named("scan-progress").saying(String(decoding: words(.windowFinger), as: UTF8.self))
        let content = Widget.column(
            18,
            [
                Widget.picture(.finger, 120).named("scan-picture").styled(
                    "appvault-picture", "accent"),
                line.named("scan-line").styled("title-3"), bar,
                stage.named("scan-stage").styled("dim-label"),
            ]
        ).margins(24, 18)
        let all = Widget.column(
            0,
            [
                Widget.clamped(content, 520).tall(),
                Widget.clamped(Widget.column(12, [skipButton]).margins(18), 420),
            ])
        root = Widget.column(0, [Widget.scrolled(all).tall()]).named("scan")
            .styled("appvault-screen")
    }

    func show(_ scan: Scan) {
        if !scan.line.text.isEmpty { line.setText(Shown.text(scan.line.text)) }
        bar.isVisible = scan.stages > 0
        stage.isVisible = scan.stages > 0
        guard scan.stages > 0 else { return }
        bar.setFraction(Double(min(scan.stage, scan.stages)) / Double(scan.stages))
        stage.setText(
            String(
                decoding: words(.windowFingerStage, Int(scan.stage), Int(scan.stages)),
                as: UTF8.self))
    }

    func note(_ text: String) { if !text.isEmpty { line.setText(text) } }

    func skip() { skipButton.press() }
}
