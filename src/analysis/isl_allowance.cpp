#include "analysis/isl_allowance.hpp"

#include <csetjmp>
#include <cstddef>

#include "base/assert.hpp"

struct isl_ctx;

namespace {

struct Allowance {
  uint64_t left = 0;
  std::jmp_buf end;
};

thread_local Allowance* current = nullptr;

// Spending ends with the work, however that ends: a jump, a return or an exception.
struct Spending {
  Spending() = default;
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;
  ~Spending() { current = nullptr; }
};

void spend() {
  if (current == nullptr || current->left-- > 0) return;
  std::longjmp(current->end, 1);
}

}  // namespace

extern "C" {

// The names are the linker's (ld --wrap).
void* __real_isl_malloc_or_die(isl_ctx* context, size_t bytes);
void* __real_isl_calloc_or_die(isl_ctx* context, size_t count, size_t bytes);
void __real_isl_handle_error(isl_ctx* context, int error, const char* message, const char* file,
                             int line);
void* __wrap_isl_malloc_or_die(isl_ctx* context, size_t bytes);
void* __wrap_isl_calloc_or_die(isl_ctx* context, size_t count, size_t bytes);
void __wrap_isl_handle_error(isl_ctx* context, int error, const char* message, const char* file,
                             int line);

void* __wrap_isl_malloc_or_die(isl_ctx* context, size_t bytes) {
  spend();
  return __real_isl_malloc_or_die(context, bytes);
}

void* __wrap_isl_calloc_or_die(isl_ctx* context, size_t count, size_t bytes) {
  spend();
  return __real_isl_calloc_or_die(context, count, bytes);
}

void __wrap_isl_handle_error(isl_ctx* context, int error, const char* message, const char* file,
                             int line) {
  if (current != nullptr) std::longjmp(current->end, 1);
  __real_isl_handle_error(context, error, message, file, line);
}

}  // extern "C"

namespace sluice::analysis {

bool run_within(uint64_t allocations, llvm::function_ref<void()> work) {
  SLUICE_ASSERT(current == nullptr);
  Allowance allowance{allocations, {}};
  const Spending spending;
  if (setjmp(allowance.end) != 0) return false;
  current = &allowance;
  work();
  return true;
}

}  // namespace sluice::analysis
