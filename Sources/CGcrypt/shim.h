// libgcrypt, imported by SessionCrypto alone. What is a macro or takes any number of arguments is a function here.
#ifndef APPVAULT_CGCRYPT_H
#define APPVAULT_CGCRYPT_H

#include <gcrypt.h>
#include <stddef.h>

// Once, before anything else. Where memory cannot be locked libgcrypt says so on stderr and goes on.
static inline int appvault_gcrypt_begin(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 0;
    if (!gcry_check_version("1.8.0")) return -1;
    gcry_control(GCRYCTL_SUSPEND_SECMEM_WARN);
    gcry_control(GCRYCTL_INIT_SECMEM, 65536, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 0;
}

// A number of big-endian bytes. Nil if there is no memory.
static inline gcry_mpi_t appvault_gcrypt_number(const void *bytes, size_t count) {
    gcry_mpi_t number = NULL;
    return gcry_mpi_scan(&number, GCRYMPI_FMT_USG, bytes, count, NULL) == 0 ? number : NULL;
}

// The same in secure memory: from these bytes, or random ones where there are none.
static inline gcry_mpi_t appvault_gcrypt_secret_number(const void *bytes, size_t count) {
    unsigned char *copy = bytes ? gcry_malloc_secure(count) : gcry_random_bytes_secure(count, GCRY_STRONG_RANDOM);
    if (!copy) return NULL;
    for (size_t at = 0; bytes && at < count; at++) copy[at] = ((const unsigned char *)bytes)[at];
    // libgcrypt makes a secret number of what lies in secure memory, and wipes that memory when it is freed.
    gcry_mpi_t number = appvault_gcrypt_number(copy, count);
    gcry_free(copy);
    return number;
}

// Big-endian, without leading zeros; the count of bytes, or -1.
static inline long appvault_gcrypt_print(void *bytes, size_t room, gcry_mpi_t number) {
    size_t written = 0;
    return gcry_mpi_print(GCRYMPI_FMT_USG, bytes, room, &written, number) == 0 ? (long)written : -1;
}

// HMAC-SHA256 into 32 bytes. 0 is success.
static inline int appvault_gcrypt_hmac(
    const void *key, size_t key_count, const void *data, size_t count, void *result) {
    gcry_md_hd_t hash;
    if (gcry_md_open(&hash, GCRY_MD_SHA256, GCRY_MD_FLAG_HMAC | GCRY_MD_FLAG_SECURE)) return -1;
    int failed = gcry_md_setkey(hash, key, key_count) != 0;
    if (!failed) {
        gcry_md_write(hash, data, count);
        const unsigned char *digest = gcry_md_read(hash, GCRY_MD_SHA256);
        failed = digest == NULL;
        for (size_t at = 0; !failed && at < 32; at++) ((unsigned char *)result)[at] = digest[at];
    }
    gcry_md_close(hash);
    return failed ? -1 : 0;
}

// AES-128-CBC of whole blocks, in place. 0 is success.
static inline int appvault_gcrypt_aes(const void *key, const void *vector, void *bytes, size_t count, int decrypts) {
    gcry_cipher_hd_t cipher;
    if (gcry_cipher_open(&cipher, GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_CBC, GCRY_CIPHER_SECURE)) return -1;
    int failed = gcry_cipher_setkey(cipher, key, 16) != 0 || gcry_cipher_setiv(cipher, vector, 16) != 0;
    if (!failed) {
        failed = decrypts ? gcry_cipher_decrypt(cipher, bytes, count, NULL, 0) != 0
                          : gcry_cipher_encrypt(cipher, bytes, count, NULL, 0) != 0;
    }
    gcry_cipher_close(cipher);
    return failed ? -1 : 0;
}

static inline void appvault_gcrypt_nonce(void *bytes, size_t count) { gcry_create_nonce(bytes, count); }

#endif
