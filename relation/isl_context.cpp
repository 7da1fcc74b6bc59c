#include "relation/isl_context.hpp"

#include <algorithm>
#include <limits>
#include <optional>

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
    : context_(isl_ctx_get_max_operations(context) == 0 ? context : nullptr) {
  if (context_ == nullptr) return;
  isl_ctx_reset_operations(context_);
  isl_ctx_set_max_operations(context_, tidying_budget);
}

TidyingBudget::~TidyingBudget() {
  if (context_ == nullptr) return;
  isl_ctx_reset_error(context_);
  isl_ctx_set_max_operations(context_, 0);
}

isl::set grid_blocks(const IslContext& context, const Dim3& grid) {
  return isl::set(context.get(),
                  fmt::format("{{ B[x, y, z] : 0 <= x < {} and 0 <= y < {} and 0 <= z < {} }}",
                              grid.x, grid.y, grid.z));
}

isl::set byte_set(const IslContext& context, const Range& bytes) {
  return isl::set(context.get(), fmt::format("{{ A[o] : {} <= o < {} }}", bytes.begin, bytes.end));
}

isl::set empty_bytes(const IslContext& context) {
  return isl::set(context.get(), "{ A[o] : false }");
}

isl::map empty_access(const IslContext& context) {
  return isl::map(context.get(), "{ B[x, y, z] -> A[o] : false }");
}

isl::map shifted(const isl::map& access, uint64_t offset) {
  if (offset == 0) return access;
  const isl::map shift(access.ctx(), fmt::format("{{ A[o] -> A[o + {}] }}", offset));
  return access.apply_range(shift);
}

std::optional<Range> hull(const isl::set& bytes) {
  if (yes(bytes.is_empty())) return std::nullopt;
  constexpr int64_t widest = std::numeric_limits<int64_t>::max();
  return Range{number(bytes.dim_min_val(0), -widest), number(bytes.dim_max_val(0), widest - 1) + 1};
}

}  // namespace sluice
