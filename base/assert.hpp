// Assertions for our own bugs. They stay on in release builds.
#pragma once

namespace sluice {

// AssertionHandler is told of a failed assertion and must not return: it ends the process (the
// default, for tools and tests) or throws AssertionFailure (inside a user's process, where the C
// boundary catches it, turns Sluice off and passes the call through).
using AssertionHandler = void (*)(const char* condition, const char* file, int line);

struct AssertionFailure {
  const char* condition;
  const char* file;
  int line;
};

// set_assertion_handler() installs the process-wide handler and returns the one before; call it
// before threads start.
AssertionHandler set_assertion_handler(AssertionHandler handler);

// assertion_failed() calls the handler; it ends the process should the handler return.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace sluice

// SLUICE_ASSERT(condition) states what only a bug of ours can make false.
#define SLUICE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::sluice::assertion_failed(#condition, __FILE__, __LINE__))
