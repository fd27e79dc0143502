internal import CFprint
import Wire

/// An error of libfprint or of what lies below it.
enum Failure: Error, Equatable {
    /// The touch could not be used; the reader is fine.
    case retry(FingerprintScan.Retry)
    case fault(FingerprintFault)

    /// Takes the error over.
    // SAFETY: the caller got it from a GLib function, which gives it away.
    static func of(_ error: UnsafeMutablePointer<GError>?) -> Failure {
        guard let error = unsafe error else { return .fault(.general) }
        defer { unsafe g_error_free(error) }
        let code = unsafe error.pointee.code
        let failure = unsafe of(appvault_error_kind(error), code)
        if failure == .fault(.general) {
            // The driver's words are for the journal alone.
            let words = unsafe String(cString: error.pointee.message)
            Journal.note(
                "the reader failed: \(words.filter { $0 >= " " && $0 <= "~" }.prefix(200))")
        }
        return failure
    }

    private static func of(_ kind: appvault_error, _ code: Int32) -> Failure {
        switch kind {
        case APPVAULT_RETRY:
            switch FpDeviceRetry(rawValue: UInt32(bitPattern: code)) {
            case FP_DEVICE_RETRY_TOO_SHORT: .retry(.tooShort)
            case FP_DEVICE_RETRY_CENTER_FINGER: .retry(.center)
            case FP_DEVICE_RETRY_REMOVE_FINGER: .retry(.removeFinger)
            default: .retry(.general)
            }
        case APPVAULT_DEVICE: .fault(device(FpDeviceError(rawValue: UInt32(bitPattern: code))))
        case APPVAULT_IO:
            switch GIOErrorEnum(rawValue: UInt32(bitPattern: code)) {
            case G_IO_ERROR_CANCELLED: .fault(.cancelled)
            case G_IO_ERROR_TIMED_OUT: .fault(.timedOut)
            case G_IO_ERROR_BUSY, G_IO_ERROR_ADDRESS_IN_USE, G_IO_ERROR_PERMISSION_DENIED:
                .fault(.busy)
            default: .fault(.general)
            }
        case APPVAULT_USB: .fault(usb(code))
        case APPVAULT_CLAIMED: .fault(.busy)
        default: .fault(.general)
        }
    }

    private static func device(_ error: FpDeviceError) -> FingerprintFault {
        switch error {
        case FP_DEVICE_ERROR_NOT_SUPPORTED: .notSupported
        case FP_DEVICE_ERROR_ALREADY_OPEN, FP_DEVICE_ERROR_BUSY: .busy
        case FP_DEVICE_ERROR_DATA_INVALID: .badTemplate
        case FP_DEVICE_ERROR_DATA_NOT_FOUND: .notStored
        case FP_DEVICE_ERROR_DATA_FULL: .storageFull
        case FP_DEVICE_ERROR_DATA_DUPLICATE: .duplicate
        case FP_DEVICE_ERROR_REMOVED: .removed
        case FP_DEVICE_ERROR_TOO_HOT: .tooHot
        default: .general
        }
    }

    /// GUsb's own numbers: its header is not needed for them.
    private static func usb(_ code: Int32) -> FingerprintFault {
        switch code {
        case 2: .timedOut
        case 4: .removed
        case 6, 9: .busy
        case 7: .cancelled
        default: .general
        }
    }
}
