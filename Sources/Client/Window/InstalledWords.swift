import ToolTexts
import Words

extension OwnWords {
    /// Without a daemon, in the person's language, if its texts are installed.
    package static func installed(for locale: [UInt8]) -> OwnWords {
        let texts = Words.Texts(catalogues: CatalogueFolder.read(CatalogueFolder.usual).good)
        let language = texts.language(locale)
        return OwnWords {
            Dictionary(
                ListedText.all.map { text in
                    (
                        Array(text.id.utf8),
                        Printable.escaped(Array(texts.template(text, language).text.utf8))
                    )
                }, uniquingKeysWith: { $1 })
        }
    }
}
