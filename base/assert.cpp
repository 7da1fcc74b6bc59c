#include "base/assert.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace sluice {
namespace {

void end_process(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "sluice: bug: assertion '%s' failed at %s:%d\n", condition, file, line);
  std::abort();
}

std::atomic<AssertionHandler> current_handler{end_process};

}  // namespace

AssertionHandler set_assertion_handler(AssertionHandler handler) {
  return current_handler.exchange(handler);
}

void assertion_failed(const char* condition, const char* file, int line) {
  current_handler.load()(condition, file, line);
  std::abort();
}

}  // namespace sluice
