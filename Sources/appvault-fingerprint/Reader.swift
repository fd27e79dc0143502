internal import CFprint
import Posix
import Wire

/// One reader, as long as libfprint knows it.
@safe
final class Reader {
    let device: UnsafeMutablePointer<FpDevice>
    let info: FingerprintReader
    /// Fixed to the machine by the kernel's own word, and not by a guess.
    let isFixed: Bool
    private var signals: [gulong] = []
    private var isOpen = false

    /// Takes no reference over, but one of its own.
    init(_ device: UnsafeMutablePointer<FpDevice>, fixed: Bool) {
        // SAFETY: the context has it alive; from here on our reference does, until deinit.
        unsafe g_object_ref(device)
        unsafe self.device = device
        let driver = unsafe Text.of(fp_device_get_driver(device))
        let id = unsafe Text.of(fp_device_get_device_id(device))
        let place = unsafe Place.of(device, driver: driver, fixed: fixed)
        isFixed = place.isFixed
        let swipes = unsafe fp_device_get_scan_type(device) == FP_SCAN_TYPE_SWIPE
        info = FingerprintReader(
            id: Array((driver + [UInt8(ascii: "/")] + id).prefix(FingerprintLink.text)),
            driver: driver, name: unsafe Text.of(fp_device_get_name(device)),
            scan: swipes ? .swipe : .press,
            stages: UInt8(clamping: unsafe fp_device_get_nr_enroll_stages(device)),
            identifies: unsafe Reader.has(device, FP_DEVICE_FEATURE_IDENTIFY),
            stores: unsafe Reader.has(device, FP_DEVICE_FEATURE_STORAGE),
            isInternal: place.isInternal, port: place.port)
    }

    deinit {
        unsafe g_object_unref(device)
    }

    private static func has(
        _ device: UnsafeMutablePointer<FpDevice>, _ feature: FpDeviceFeature
    ) -> Bool {
        unsafe fp_device_has_feature(device, feature) != 0
    }

    func has(_ feature: FpDeviceFeature) -> Bool {
        unsafe Reader.has(device, feature)
    }

    func isMeant(by choice: ReaderChoice) -> Bool {
        info.id == choice.id && (choice.port.isEmpty || choice.port == info.port)
    }

    var isRemoved: Bool { unsafe appvault_removed(device) != 0 }

    /// The touches of an enrolment, which may be known only once it is open.
    var stages: UInt8 { UInt8(clamping: unsafe fp_device_get_nr_enroll_stages(device)) }

    /// What an enrolment fills.
    func emptyPrint() -> Print {
        // SAFETY: a new object without an owner yet; it gets its reference here.
        unsafe Print(
            owning: OpaquePointer(
                g_object_ref_sink(UnsafeMutableRawPointer(fp_print_new(device)))))
    }

    /// Whether the print is of this driver's making, and of this kind of reader's.
    func takes(_ print: Print) -> Bool {
        unsafe fp_print_compatible(print.pointer, device) != 0
    }

    func open(_ stop: Stop) throws(Failure) {
        let call = Call()
        unsafe fp_device_open(device, stop.cancellable, Call.ended, call.data)
        call.wait(stop, until: Clock.bootMilliseconds() + FingerprintLink.readerWait)
        var error: UnsafeMutablePointer<GError>?
        guard unsafe fp_device_open_finish(device, call.result, &error) != 0 else {
            throw unsafe Failure.of(error)
        }
        isOpen = true
    }

    /// Whatever happens, it is not ours any more: a reader that does not let go ends with us.
    func close() {
        guard isOpen else { return }
        isOpen = false
        let call = Call()
        unsafe fp_device_close(device, nil, Call.ended, call.data)
        call.finish()
        // SAFETY: an error is of no interest; NULL takes none.
        _ = unsafe fp_device_close_finish(device, call.result, nil)
    }
}

/// All readers there are.
@safe
final class Readers {
    private var context: UnsafeMutablePointer<FpContext>?
    private let fixed: Bool
    private var slept: UInt64 = 0

    init(fixed: Bool) {
        self.fixed = fixed
    }

    /// What libfprint knew before a sleep may be a ghost after it.
    func forgetAfterSleep() {
        // Less is rounding.
        let slept = Clock.sleptMilliseconds()
        if slept > self.slept + 50 { forget() }
        self.slept = slept
    }

    /// Looked for anew where there is none of them, or the one that is asked for is missing.
    func all() -> [Reader] {
        let found = known()
        guard found.isEmpty else { return found }
        forget()
        return known()
    }

    func find(_ choice: ReaderChoice) -> Reader? {
        if let reader = known().first(where: { $0.isMeant(by: choice) && !$0.isRemoved }) {
            return reader
        }
        forget()
        return known().first { $0.isMeant(by: choice) }
    }

    /// Looks for them anew the next time.
    func forget() {
        guard let context = unsafe context else { return }
        unsafe self.context = nil
        unsafe g_object_unref(context)
    }

    private func known() -> [Reader] {
        let context: UnsafeMutablePointer<FpContext>
        if let known = unsafe self.context {
            unsafe context = known
        } else {
            unsafe context = fp_context_new()
            unsafe self.context = context
            unsafe fp_context_enumerate(context)
        }
        var readers: [Reader] = []
        while readers.count < FingerprintLink.readersMost,
            let device = unsafe appvault_device(context, UInt32(readers.count))
        {
            readers.append(unsafe Reader(device, fixed: fixed))
        }
        return readers
    }
}
