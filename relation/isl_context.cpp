#include "relation/isl_context.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/val.h>

namespace sluice {
namespace {

constexpr unsigned long tidying_budget = 200'000;  // isl operations: a quarter of a second

// number() is the value of `value`, or `otherwise` where it is infinite, unknown or too large.
int64_t number(const isl::val& value, int64_t otherwise) {
  if (value.is_null() || !yes(value.is_int())) return otherwise;
  const isl::val limit(value.ctx(), long{1} << 61);
  if (!yes(value.abs().le(limit))) return otherwise;
  return value.get_num_si();
}

// has_done() is whether isl has done so many operations since its count was reset. To isl each
// allocation is one; its count can be compared, and not read. Leaves that as the limit.
bool has_done(isl_ctx* context, unsigned long operations) {
  isl_ctx_set_max_operations(context, operations);
  void* const block = isl_malloc_or_die(context, 1);
  std::free(block);
  return block == nullptr;
}

// operations_of() is how many isl has done, give or take a few, at most `most`. The limit is
// changed, and an error forgotten.
unsigned long operations_of(isl_ctx* context, unsigned long most) {
  unsigned long low = 0, high = 64;
  while (high < most && has_done(context, high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, most);
  while (high - low > 1 + low / 16) {
    const unsigned long middle = low + (high - low) / 2;
    (has_done(context, middle) ? low : high) = middle;
  }
  isl_ctx_reset_error(context);
  return high;
}

}  // namespace

IslContext::IslContext() : context_(isl_ctx_alloc()) {
  isl_options_set_on_error(context_, ISL_ON_ERROR_CONTINUE);
}

IslContext::~IslContext() {
  isl_ctx_free(context_);
}

void IslContext::limit(unsigned long operations) {
  isl_ctx_reset_error(context_);
  isl_ctx_reset_operations(context_);
  isl_ctx_set_max_operations(context_, operations);
}

TidyingBudget::TidyingBudget(isl_ctx* context)
    : context_(context), outer_(isl_ctx_get_max_operations(context)) {
  if (outer_ == 0) {
    isl_ctx_reset_operations(context_);
    isl_ctx_set_max_operations(context_, tidying_budget);
  } else if (isl_ctx_last_error(context_) != isl_error_none) {
    context_ = nullptr;
  } else {
    const unsigned long done = operations_of(context_, outer_);
    isl_ctx_set_max_operations(context_, done + std::min(tidying_budget, (outer_ - done) / 2 + 1));
  }
}

TidyingBudget::~TidyingBudget() {
  if (context_ == nullptr) return;
  isl_ctx_reset_error(context_);
  isl_ctx_set_max_operations(context_, outer_);
}

IslWork::IslWork(const IslContext& context, sluice::Budget& budget)
    : context_(context.get().get()),
      is_inner_(isl_ctx_get_max_operations(context_) != 0),
      budget_(budget) {
  if (is_inner_) return;
  isl_ctx_reset_error(context_);
  isl_ctx_reset_operations(context_);
  isl_ctx_set_max_operations(context_,
                             std::max<uint64_t>(1, budget_.left().steps / steps_of_operation));
}

bool IslWork::has_failed() const {
  return isl_ctx_last_error(context_) != isl_error_none;
}

IslWork::~IslWork() {
  if (is_inner_) return;
  if (has_failed()) {
    budget_.use_up();
  } else {
    const uint64_t done = operations_of(context_, isl_ctx_get_max_operations(context_));
    budget_.take(std::min(done * steps_of_operation, budget_.left().steps));
  }
  isl_ctx_reset_error(context_);
  isl_ctx_set_max_operations(context_, 0);
}

namespace {

// read() reads a set or map from a short text, whatever isl has left of its operations: where they
// run out, its reader leaves memory behind.
template <class Read>
Read read(isl::ctx context, const std::string& text) {
  const unsigned long most = isl_ctx_get_max_operations(context.get());
  isl_ctx_set_max_operations(context.get(), 0);
  Read result(context, text);
  isl_ctx_set_max_operations(context.get(), most);
  return result;
}

}  // namespace

isl::set grid_blocks(const IslContext& context, const Dim3& grid) {
  return read<isl::set>(
      context.get(), fmt::format("{{ B[x, y, z] : 0 <= x < {} and 0 <= y < {} and 0 <= z < {} }}",
                                 grid.x, grid.y, grid.z));
}

isl::set byte_set(const IslContext& context, const Range& bytes) {
  return read<isl::set>(context.get(),
                        fmt::format("{{ A[o] : {} <= o < {} }}", bytes.begin, bytes.end));
}

isl::set empty_bytes(const IslContext& context) {
  return read<isl::set>(context.get(), "{ A[o] : false }");
}

isl::map empty_access(const IslContext& context) {
  return read<isl::map>(context.get(), "{ B[x, y, z] -> A[o] : false }");
}

isl::map shifted(const isl::map& access, uint64_t offset) {
  if (offset == 0 || access.is_null()) return access;
  const auto shift = read<isl::map>(access.ctx(), fmt::format("{{ A[o] -> A[o + {}] }}", offset));
  return access.apply_range(shift);
}

std::optional<Range> hull(const isl::set& bytes) {
  if (yes(bytes.is_empty())) return std::nullopt;
  constexpr int64_t widest = std::numeric_limits<int64_t>::max();
  return Range{number(bytes.dim_min_val(0), -widest), number(bytes.dim_max_val(0), widest - 1) + 1};
}

}  // namespace sluice
