#include "analysis/rewrite/isl_allowance.hpp"

#include <csetjmp>
#include <cstddef>

#include "base/assert.hpp"
#include "relation/isl_context.hpp"

struct isl_ctx;

namespace {

using sluice::analysis::IslAllowance;

struct Allowance {
  IslAllowance left;
  std::jmp_buf end;
};

thread_local Allowance* current = nullptr;
thread_local IslAllowance spent = {0, 0, 0};

// So many numbers of a row are combined in a step.
constexpr uint64_t numbers_of_step = 8;

// Spending ends with the work, however that ends: a jump, a return or an exception.
struct Spending {
  Spending() = default;
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;
  ~Spending() { current = nullptr; }
};

void spend(uint64_t IslAllowance::* what, uint64_t amount) {
  spent.*what += amount;
  if (current == nullptr) return;
  uint64_t& left = current->left.*what;
  if (left < amount) std::longjmp(current->end, 1);
  left -= amount;
}

}  // namespace

extern "C" {

// The names are the linker's (ld --wrap).
void* __real_isl_malloc_or_die(isl_ctx* context, size_t bytes);
void* __real_isl_calloc_or_die(isl_ctx* context, size_t count, size_t bytes);
void __real_isl_handle_error(isl_ctx* context, int error, const char* message, const char* file,
                             int line);
// Numbers are of a type that isl keeps to itself.
void __real_isl_seq_normalize(isl_ctx* context, void* row, unsigned numbers);
void __real_isl_seq_combine(void* row, void* factor, void* first, void* other_factor, void* second,
                            unsigned numbers);
void* __wrap_isl_malloc_or_die(isl_ctx* context, size_t bytes);
void* __wrap_isl_calloc_or_die(isl_ctx* context, size_t count, size_t bytes);
void __wrap_isl_handle_error(isl_ctx* context, int error, const char* message, const char* file,
                             int line);
void __wrap_isl_seq_normalize(isl_ctx* context, void* row, unsigned numbers);
void __wrap_isl_seq_combine(void* row, void* factor, void* first, void* other_factor, void* second,
                            unsigned numbers);

void* __wrap_isl_malloc_or_die(isl_ctx* context, size_t bytes) {
  spend(&IslAllowance::allocations, 1);
  spend(&IslAllowance::bytes, bytes);
  return __real_isl_malloc_or_die(context, bytes);
}

void* __wrap_isl_calloc_or_die(isl_ctx* context, size_t count, size_t bytes) {
  spend(&IslAllowance::allocations, 1);
  spend(&IslAllowance::bytes, count * bytes);
  return __real_isl_calloc_or_die(context, count, bytes);
}

void __wrap_isl_seq_normalize(isl_ctx* context, void* row, unsigned numbers) {
  spend(&IslAllowance::numbers, numbers);
  __real_isl_seq_normalize(context, row, numbers);
}

void __wrap_isl_seq_combine(void* row, void* factor, void* first, void* other_factor, void* second,
                            unsigned numbers) {
  spend(&IslAllowance::numbers, numbers);
  __real_isl_seq_combine(row, factor, first, other_factor, second, numbers);
}

void __wrap_isl_handle_error(isl_ctx* context, int error, const char* message, const char* file,
                             int line) {
  if (current != nullptr) std::longjmp(current->end, 1);
  __real_isl_handle_error(context, error, message, file, line);
}

}  // extern "C"

namespace sluice::analysis {

const IslAllowance& isl_spent() {
  return spent;
}

Budget::Cost cost_since(const IslAllowance& before) {
  return {(spent.allocations - before.allocations) * IslWork::steps_of_operation +
              (spent.numbers - before.numbers) / numbers_of_step,
          spent.bytes - before.bytes};
}

bool run_within(const IslAllowance& most, llvm::function_ref<void()> work) {
  SLUICE_ASSERT(current == nullptr);
  Allowance allowance{most, {}};
  const Spending spending;
  if (setjmp(allowance.end) != 0) return false;
  current = &allowance;
  work();
  return true;
}

}  // namespace sluice::analysis
