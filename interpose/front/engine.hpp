// The seam between libsluice.so, which is in every process under Sluice, and libsluice-engine.so,
// which is all the rest of the shim: it is opened when the process first calls the driver.
#pragma once

#include <atomic>
#include <cstddef>

namespace sluice::interpose {

// Front is the jump table of libsluice.so, for the engine to lead elsewhere. It lives as long as
// the process. symbols/generate_forwarders.py writes it member by member.
struct Front {
  size_t count;               // of driver functions
  size_t spare;               // of slots behind theirs, for functions without a name here
  std::atomic<void*>* slots;  // where each jumps to
  void* const* exports;       // their addresses
};

// Engine is what libsluice.so calls of the engine. Both functions are thread-safe, throw nothing,
// and leave errno alone.
struct Engine {
  // enter() says where the exported function of a slot goes on to. A slot that needs no work at
  // later calls is pointed there.
  void* (*enter)(size_t index);
  // remember_code() is sluice_remember_code() (run_time_code/remembered_code.hpp).
  void (*remember_code)(const void* image, size_t size, const char* ptx, size_t ptx_size);
};

}  // namespace sluice::interpose

// sluice_engine() is what libsluice-engine.so exports. It may be called again, with the same front.
// Null where that is another build's. Thread-safe.
extern "C" __attribute__((visibility("default"))) const sluice::interpose::Engine* sluice_engine(
    const sluice::interpose::Front* front);
