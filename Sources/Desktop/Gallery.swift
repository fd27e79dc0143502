import Client
import Posix
import ToolTexts
import Wire
import Words

/// Every screen with made-up contents, one after the other.
final class Gallery {
    private let window: Window
    private let options: Options
    private let screens: [Screen]
    private let voice: Words.Voice
    private let words: OwnWords
    private var place = 0
    private var page: ScreenPage?

    /// The one that stands, for as long as the window is there.
    private static var running: Gallery?

    static func start(_ window: Window, _ options: Options, _ name: String?) {
        let gallery = Gallery(window, options)
        running = gallery
        if let name {
            let found = gallery.screens.firstIndex { screen in
                String(decoding: screen.id, as: UTF8.self) == name
                    || Shown.name(screen.id) == name
            }
            guard let found = Int(name).map({ $0 - 1 }) ?? found,
                gallery.screens.indices.contains(found)
            else {
                let names = gallery.screens.map { String(decoding: $0.id, as: UTF8.self) }
                try? ToolIO.write(
                    2, Array("appvault-desktop: no screen \(name), of: \(names)\n".utf8).span)
                ToolIO.exit(2)
            }
            gallery.place = found
        }
        gallery.begin()
    }

    private init(_ window: Window, _ options: Options) {
        (self.window, self.options) = (window, options)
        voice = Words.Voice.installed(for: Desktop.locale)
        words = OwnWords.installed(for: Desktop.locale)
        screens = DemoScreens(voice).all
    }

    private func begin() {
        window.inHeader(
            Widget.iconButton("go-previous-symbolic", text(.windowBackScreen)) { [weak self] in
                self?.go(-1)
            }.named("gallery-back"))
        window.inHeader(
            Widget.iconButton("go-next-symbolic", text(.windowNextScreen)) { [weak self] in
                self?.go(1)
            }
            .named("gallery-next"))
        window.onEscape { [weak self] in self?.page?.cancel() }
        window.onKey("<Alt>Left") { [weak self] in self?.go(-1) }
        window.onKey("<Alt>Right") { [weak self] in self?.go(1) }
        draw()
        window.present()
        page?.focus()
        if let path = options.screenshot { Shot.take(window, path) }
    }

    private func text(_ text: ToolText) -> String { String(decoding: words(text), as: UTF8.self) }

    private func go(_ by: Int) {
        place = (place + by + screens.count) % screens.count
        page?.end()
        draw()
        page?.focus()
    }

    private func draw() {
        let made = ScreenPage(screens[place], words, window) { [weak self] act in
            guard let self else { return }
            switch act {
            case .draft(_, let typed): page?.show(DemoScreens.judge(typed, voice))
            case .answer, .cancel: go(1)
            }
        }
        page = made
        window.show(made.root, standard: made.standard)
    }
}

/// A picture of the window, once it is drawn.
enum Shot {
    static func take(_ window: Window, _ path: String) {
        // The theme's own transitions are over by then.
        Loop.after(600) {
            guard window.save(path) else {
                try? ToolIO.write(2, Array("appvault-desktop: \(path) was not written\n".utf8).span)
                ToolIO.exit(1)
            }
            ToolIO.exit(0)
        }
    }
}
