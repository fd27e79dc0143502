internal import CAdw
import Client

extension Widget {
    /// Drawn by us: there is no icon that could be missing, and it has the colour of text.
    static func picture(_ strokes: Strokes, _ size: Int32) -> Widget {
        // SAFETY: the strokes are kept until the area drops them, which calls the last function.
        let area = unsafe Widget(appvault_picture())
        let drawn = unsafe area.raw.assumingMemoryBound(to: GtkDrawingArea.self)
        unsafe gtk_drawing_area_set_content_width(drawn, size)
        unsafe gtk_drawing_area_set_content_height(drawn, size)
        let box = unsafe UnsafeMutableRawPointer(
            Unmanaged.passRetained(StrokesBox(strokes)).toOpaque())
        unsafe appvault_draws(
            area.raw,
            { pointer, cairo, width, height in
                guard let pointer = unsafe pointer, let cairo = unsafe cairo else { return }
                unsafe Unmanaged<StrokesBox>.fromOpaque(pointer).takeUnretainedValue()
                    .draw(cairo, Double(width), Double(height))
            }, box,
            { pointer in
                guard let pointer = unsafe pointer else { return }
                unsafe Unmanaged<StrokesBox>.fromOpaque(pointer).release()
            })
        return area.centred().middle()
    }
}

extension Widget {
    /// What a camera sees, as in a mirror.
    static func picture(_ seen: CameraPicture, _ width: Int32) -> Widget {
        var colours: [UInt8] = []
        colours.reserveCapacity(3 * seen.points.count)
        for row in 0..<seen.height {
            for column in (0..<seen.width).reversed() {
                let point = seen.points[row * seen.width + column]
                colours += [point, point, point]
            }
        }
        // SAFETY: GLib copies the bytes; the texture holds the copy, and the picture the texture.
        let bytes = unsafe g_bytes_new(colours, gsize(colours.count))
        let texture = unsafe gdk_memory_texture_new(
            Int32(seen.width), Int32(seen.height), GDK_MEMORY_R8G8B8, bytes, gsize(3 * seen.width))
        let picture = unsafe Widget(gtk_picture_new_for_paintable(texture))
        unsafe g_object_unref(texture.map { unsafe UnsafeMutableRawPointer($0) })
        unsafe g_bytes_unref(bytes)
        unsafe gtk_widget_set_size_request(
            picture.widget, width, width * Int32(seen.height) / Int32(seen.width))
        return picture.centred()
    }
}

private final class StrokesBox {
    private let strokes: Strokes

    init(_ strokes: Strokes) { self.strokes = strokes }

    func draw(
        _ cairo: OpaquePointer, _ width: Double, _ height: Double
    ) {
        let scale = min(width, height) / Strokes.size
        unsafe cairo_translate(
            cairo, (width - Strokes.size * scale) / 2, (height - Strokes.size * scale) / 2)
        unsafe cairo_scale(cairo, scale, scale)
        unsafe cairo_set_line_width(cairo, strokes.width)
        unsafe cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
        unsafe cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
        for step in strokes.steps {
            switch step {
            case .move(let x, let y): unsafe cairo_move_to(cairo, x, y)
            case .line(let x, let y): unsafe cairo_line_to(cairo, x, y)
            case .arc(let x, let y, let radius, let from, let to):
                unsafe cairo_arc(cairo, x, y, radius, from * .pi / 180, to * .pi / 180)
            case .close: unsafe cairo_close_path(cairo)
            case .lift: unsafe cairo_new_sub_path(cairo)
            }
        }
        unsafe cairo_stroke(cairo)
    }
}

extension Widget {
    /// A round place with the first letters of a name in it, in a colour that goes by the name.
    static func letter(of name: String, _ size: Int32) -> Widget {
        // SAFETY: libadwaita copies the text.
        unsafe Widget(adw_avatar_new(size, name, 1)).centred().middle()
    }
}
