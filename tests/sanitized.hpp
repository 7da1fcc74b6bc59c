// SLUICE_IS_SANITIZED: a sanitizer watches and multiplies what everything costs. GCC says so by
// macros, clang by features.
#pragma once

#if defined(__has_feature)
#define SLUICE_IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLUICE_IS_SANITIZED 1
#else
#define SLUICE_IS_SANITIZED 0
#endif
