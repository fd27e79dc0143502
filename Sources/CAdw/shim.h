// GTK 4 and libadwaita 1.2, imported by Desktop alone. Newer releases call some of it deprecated; Debian 12 has no more.
#ifndef APPVAULT_CADW_H
#define APPVAULT_CADW_H

#define GLIB_DISABLE_DEPRECATION_WARNINGS
#define GDK_DISABLE_DEPRECATION_WARNINGS
#define ADW_DISABLE_DEPRECATION_WARNINGS

#include <adwaita.h>
#include <glib-unix.h>
#include <string.h>

// What Swift does not see: casts, variadic functions, macros. Objects are plain pointers there.

typedef void (*appvault_handler)(void *data);

// The handler gets its data first, and has no use for the rest. The data goes with the connection.
static inline void appvault_on(void *object, const char *signal, appvault_handler handler, void *data,
                               appvault_handler end) {
    g_signal_connect_data(object, signal, G_CALLBACK(handler), data, (GClosureNotify)(void *)end, G_CONNECT_SWAPPED);
}

// The same before a window is closed, which goes on.
struct appvault_closing {
    appvault_handler handler, end;
    void *data;
};
static inline gboolean appvault_close_now(gpointer window, gpointer pointer) {
    (void)window;
    struct appvault_closing *closing = (struct appvault_closing *)pointer;
    closing->handler(closing->data);
    return FALSE;
}
static inline void appvault_closing_end(gpointer pointer, GClosure *closure) {
    (void)closure;
    struct appvault_closing *closing = (struct appvault_closing *)pointer;
    closing->end(closing->data);
    g_free(closing);
}
static inline void appvault_on_close(void *window, appvault_handler handler, void *data, appvault_handler end) {
    struct appvault_closing *closing = g_new(struct appvault_closing, 1);
    closing->handler = handler;
    closing->end = end;
    closing->data = data;
    g_signal_connect_data(window, "close-request", G_CALLBACK(appvault_close_now), closing, appvault_closing_end,
                          (GConnectFlags)0);
}

// Called by the main loop, from whatever thread it was asked for.
struct appvault_later {
    appvault_handler handler;
    void *data;
};
static inline gboolean appvault_run_later(gpointer pointer) {
    struct appvault_later *later = (struct appvault_later *)pointer;
    later->handler(later->data);
    return G_SOURCE_REMOVE;
}
static inline void appvault_later(unsigned milliseconds, appvault_handler handler, void *data) {
    struct appvault_later *later = g_new(struct appvault_later, 1);
    later->handler = handler;
    later->data = data;
    if (milliseconds == 0) {
        g_idle_add_full(G_PRIORITY_DEFAULT, appvault_run_later, later, g_free);
    } else {
        g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, appvault_run_later, later, g_free);
    }
}

// Somebody chooses a picture's file, or none: then there is no path. It lives as long as the call.
struct appvault_choosing {
    void (*handler)(void *data, const char *path);
    void *data;
};
static inline void appvault_chosen(gpointer dialog, int response, gpointer pointer) {
    struct appvault_choosing *choosing = (struct appvault_choosing *)pointer;
    GFile *file = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog)) : NULL;
    char *path = file ? g_file_get_path(file) : NULL;
    if (file) g_object_unref(file);
    choosing->handler(choosing->data, path);
    g_free(path);
    g_free(choosing);
    gtk_native_dialog_destroy(GTK_NATIVE_DIALOG(dialog));
    g_object_unref(dialog);
}
static inline void appvault_choose_picture(GtkWindow *window, const char *title,
                                           void (*handler)(void *data, const char *path), void *data) {
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(title, window, GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
    GtkFileFilter *pictures = gtk_file_filter_new();
    struct appvault_choosing *choosing = g_new(struct appvault_choosing, 1);
    choosing->handler = handler;
    choosing->data = data;
    gtk_file_filter_set_name(pictures, "PNG, JPEG");
    gtk_file_filter_add_mime_type(pictures, "image/png");
    gtk_file_filter_add_mime_type(pictures, "image/jpeg");
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), pictures);
    g_signal_connect(dialog, "response", G_CALLBACK(appvault_chosen), choosing);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

// A frame begins before its layout, so at the second one everything has its place.
struct appvault_frames {
    appvault_handler handler, end;
    void *data;
    int left;
};
static inline gboolean appvault_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer pointer) {
    (void)widget, (void)clock;
    struct appvault_frames *frames = (struct appvault_frames *)pointer;
    if (--frames->left > 0) return G_SOURCE_CONTINUE;
    frames->handler(frames->data);
    return G_SOURCE_REMOVE;
}
static inline void appvault_frames_end(gpointer pointer) {
    struct appvault_frames *frames = (struct appvault_frames *)pointer;
    frames->end(frames->data);
    g_free(frames);
}
static inline void appvault_once_placed(void *widget, appvault_handler handler, void *data, appvault_handler end) {
    struct appvault_frames *frames = g_new(struct appvault_frames, 1);
    frames->handler = handler;
    frames->end = end;
    frames->data = data;
    frames->left = 2;
    gtk_widget_add_tick_callback(GTK_WIDGET(widget), appvault_frame, frames, appvault_frames_end);
}

// A key of the whole widget, such as "Escape".
struct appvault_key {
    appvault_handler handler, end;
    void *data;
};
static inline gboolean appvault_key_pressed(GtkWidget *widget, GVariant *arguments, gpointer pointer) {
    (void)widget, (void)arguments;
    struct appvault_key *key = (struct appvault_key *)pointer;
    key->handler(key->data);
    return TRUE;
}
static inline void appvault_key_end(gpointer pointer) {
    struct appvault_key *key = (struct appvault_key *)pointer;
    key->end(key->data);
    g_free(key);
}
static inline void appvault_on_key(void *widget, const char *trigger, appvault_handler handler, void *data,
                                   appvault_handler end) {
    struct appvault_key *key = g_new(struct appvault_key, 1);
    key->handler = handler;
    key->end = end;
    key->data = data;
    GtkEventController *controller = gtk_shortcut_controller_new();
    gtk_shortcut_controller_set_scope(GTK_SHORTCUT_CONTROLLER(controller), GTK_SHORTCUT_SCOPE_MANAGED);
    gtk_shortcut_controller_add_shortcut(
        GTK_SHORTCUT_CONTROLLER(controller),
        gtk_shortcut_new(gtk_shortcut_trigger_parse_string(trigger),
                         gtk_callback_action_new(appvault_key_pressed, key, appvault_key_end)));
    gtk_widget_add_controller(GTK_WIDGET(widget), controller);
}

// What assistive programs are told.
static inline void appvault_says(void *widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}
static inline void appvault_labelled_by(void *widget, void *label) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY, label, NULL, -1);
}
static inline void appvault_described_by(void *widget, void *label) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY, label, NULL, -1);
}

// A label that is read out as soon as it is there.
static inline GtkWidget *appvault_alert(const char *text) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_ALERT, "label", text, NULL));
}
static inline GtkWidget *appvault_heading(const char *text) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_HEADING, "label", text, NULL));
}
// A picture that says nothing: what it stands for is written beside it.
static inline GtkWidget *appvault_picture(void) {
    return GTK_WIDGET(
        g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL));
}

// Draws in the colour that the style gives to text.
typedef void (*appvault_drawer)(void *data, cairo_t *cairo, int width, int height);
struct appvault_drawing {
    appvault_drawer draw;
    appvault_handler end;
    void *data;
};
static inline void appvault_draw_now(GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer pointer) {
    struct appvault_drawing *drawing = (struct appvault_drawing *)pointer;
    GdkRGBA colour;
    gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(area)), &colour);
    gdk_cairo_set_source_rgba(cairo, &colour);
    drawing->draw(drawing->data, cairo, width, height);
}
static inline void appvault_drawing_end(gpointer pointer) {
    struct appvault_drawing *drawing = (struct appvault_drawing *)pointer;
    drawing->end(drawing->data);
    g_free(drawing);
}
static inline void appvault_draws(void *area, appvault_drawer draw, void *data, appvault_handler end) {
    struct appvault_drawing *drawing = g_new(struct appvault_drawing, 1);
    drawing->draw = draw;
    drawing->end = end;
    drawing->data = data;
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), appvault_draw_now, drawing, appvault_drawing_end);
}

// The whole widget, as it is drawn now, in a file. Works while it is on a display, in front or not.
static inline gboolean appvault_save(void *widget, const char *path) {
    GtkNative *native = gtk_widget_get_native(GTK_WIDGET(widget));
    GskRenderer *renderer = native ? gtk_native_get_renderer(native) : NULL;
    int width = gtk_widget_get_width(GTK_WIDGET(widget)), height = gtk_widget_get_height(GTK_WIDGET(widget));
    if (!renderer || width == 0 || height == 0) return FALSE;
    GdkPaintable *paintable = gtk_widget_paintable_new(GTK_WIDGET(widget));
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    gboolean saved = FALSE;
    if (node) {
        GdkTexture *texture = gsk_renderer_render_texture(
            renderer, node, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
        saved = gdk_texture_save_to_png(texture, path);
        g_object_unref(texture);
        gsk_render_node_unref(node);
    }
    g_object_unref(paintable);
    return saved;
}

// GTK tells assistive programs, over a bus, each letter that is typed into a password's entry, and all of it when it is
// deleted. So both are done here, before GTK hears of it.
static inline void appvault_hushed_insert(GtkEditable *text, const char *typed, int length, int *place, gpointer data) {
    (void)data;
    int letters = (int)g_utf8_strlen(typed, length);
    *place += (int)gtk_entry_buffer_insert_text(gtk_text_get_buffer(GTK_TEXT(text)), (guint)*place, typed, letters);
    g_signal_stop_emission_by_name(text, "insert-text");
}
static inline void appvault_hushed_delete(GtkEditable *text, int start, int end, gpointer data) {
    (void)data;
    gtk_entry_buffer_delete_text(gtk_text_get_buffer(GTK_TEXT(text)), (guint)start, end < 0 ? -1 : end - start);
    g_signal_stop_emission_by_name(text, "delete-text");
}
static inline void appvault_hushes(void *secret_entry) {
    GtkEditable *text = gtk_editable_get_delegate(GTK_EDITABLE(secret_entry));
    g_signal_connect(text, "insert-text", G_CALLBACK(appvault_hushed_insert), NULL);
    g_signal_connect(text, "delete-text", G_CALLBACK(appvault_hushed_delete), NULL);
}

// Nothing that is typed there is kept for undoing.
static inline void appvault_forgets(void *editable) {
    g_object_set(editable, "enable-undo", FALSE, NULL);
    GtkEditable *inner = gtk_editable_get_delegate(GTK_EDITABLE(editable));
    if (inner) g_object_set(inner, "enable-undo", FALSE, NULL);
}
static inline void appvault_enters(void *secret_entry) { g_object_set(secret_entry, "activates-default", TRUE, NULL); }

// Text twice as large, and the like, for looking at it.
static inline void appvault_scale_text(double factor) {
    GtkSettings *settings = gtk_settings_get_default();
    int dpi = 0;
    g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    if (dpi <= 0) dpi = 96 * 1024;
    g_object_set(settings, "gtk-xft-dpi", (int)(dpi * factor), NULL);
}
static inline void appvault_still(void) {
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", FALSE, NULL);
}

// A thread of its own, whose end nobody waits for.
static inline void appvault_thread(const char *name, appvault_handler handler, void *data);
struct appvault_threading {
    appvault_handler handler;
    void *data;
};
static inline gpointer appvault_thread_body(gpointer pointer) {
    struct appvault_threading threading = *(struct appvault_threading *)pointer;
    g_free(pointer);
    threading.handler(threading.data);
    return NULL;
}
static inline void appvault_thread(const char *name, appvault_handler handler, void *data) {
    struct appvault_threading *threading = g_new(struct appvault_threading, 1);
    threading->handler = handler;
    threading->data = data;
    g_thread_unref(g_thread_new(name, appvault_thread_body, threading));
}

#endif
