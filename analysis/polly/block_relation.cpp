#include "analysis/polly/block_relation.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>

#include "analysis/polly/translate_folding.hpp"
#include "base/assert.hpp"
#include "relation/isl_context.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::analysis {
namespace {

// About a tenth of a second; operations are counted, so the answer is the same on every machine.
constexpr unsigned long operation_budget = 300'000;
// Each check of a coalesced relation, and all that may follow one which took more. An operation on
// existentially quantified variables with large coefficients takes up to fifty times as long as
// others.
constexpr unsigned long check_budget = 16'000;
constexpr unsigned long hard_budget = 16'000;

thread_local OperationBudget* current_budget = nullptr;

// Union collects the touches of one kind through one slot.
struct Union {
  isl::map relation;
  Precision precision = Precision::exact;
  WideningReason reason;
  bool over_budget = false;

  void widen(Precision to, const WideningReason& why) {
    if (to > precision) {
      precision = to;
      reason = why;
    }
  }
  void add(const isl::map& bytes) {
    if (bytes.is_null()) return;
    relation = relation.is_null() ? bytes : relation.unite(bytes);
    over_budget = over_budget || relation.is_null();
  }
  // finish() is nothing where the budget was spent, or numbers pass 64 bits.
  std::optional<Access> finish(std::span<const std::string> symbols) {
    Access access{{}, precision, reason};
    if (precision == Precision::whole_buffer) return access;
    if (over_budget) return std::nullopt;
    if (relation.is_null()) return access;
    relation = fold_translates(coalesced(relation));
    const isl_bool empty = isl_map_is_empty(relation.get());
    if (empty == isl_bool_error) return std::nullopt;
    if (empty == isl_bool_true) return Access{};
    auto rows = rows_of(relation, symbols);
    if (!rows) return std::nullopt;
    access.relation = std::move(*rows);
    return access;
  }
};

struct ArgumentAccesses {
  Union reads, may_writes, must_writes;

  void add(const Touch& touch, const PlacedTouch& placed) {
    const bool whole = placed.bytes.is_null();
    const Precision place = whole                ? Precision::whole_buffer
                            : placed.exact_place ? Precision::exact
                                                 : Precision::bounded;
    if (touch.reads) {
      reads.add(placed.bytes);
      // What is read under a condition on data may also not be read.
      reads.widen(placed.certain ? place : std::max(place, Precision::bounded), placed.reason);
    }
    if (!touch.writes) return;
    if (placed.exact_place && placed.certain && !touch.may_only) {
      must_writes.add(placed.bytes);
    } else {
      may_writes.add(placed.bytes);
      may_writes.widen(place, placed.reason);
    }
  }
};

}  // namespace

isl::set blocks_of(isl::ctx context, const ShapeFamily& family) {
  std::string parameters, constraints;
  for (const SymbolicNumber& symbol : family.symbols) {
    const std::string name = symbol_name(symbol.number);
    parameters += (parameters.empty() ? "" : ", ") + name;
    constraints += fmt::format(" and {} <= {} <= {}", symbol.low, name, symbol.high);
  }
  const auto extent = [&](unsigned dimension) {
    const auto symbol = family.grid_symbol(dimension);
    return symbol ? symbol_name(family.symbols[*symbol].number)
                  : std::to_string(family.largest_grid(dimension));
  };
  return isl::set(
      context,
      fmt::format("[{}] -> {{ B[x, y, z] : 0 <= x < {} and 0 <= y < {} and 0 <= z < {}{} }}",
                  parameters, extent(0), extent(1), extent(2), constraints));
}

isl::map sloped_bytes(isl::ctx context, const std::array<int64_t, 3>& slope,
                      const std::vector<Range>& spans, const ShapeFamily& family) {
  const std::string place = fmt::format("{}x + {}y + {}z", slope[0], slope[1], slope[2]);
  std::string text;
  for (const Range& span : spans) {
    text += fmt::format("{} B[x, y, z] -> A[o] : {} + {} <= o < {} + {}", text.empty() ? "" : ";",
                        place, span.begin, place, span.end);
  }
  const isl::map map(context, "{" + text + " }");
  return map.intersect_domain(blocks_of(context, family));
}

std::optional<std::vector<ArgumentFootprint>> assemble(const AccessForm& form,
                                                       const std::vector<PlacedTouch>& touches,
                                                       const ShapeFamily& family) {
  std::vector<std::string> symbols;
  for (const SymbolicNumber& symbol : family.symbols)
    symbols.push_back(symbol_name(symbol.number));
  std::vector<ArgumentAccesses> arguments(form.signature.pointers.size());
  for (const PlacedTouch& placed : touches) {
    const Touch& touch = form.touches[placed.touch];
    arguments[touch.slot].add(touch, placed);
  }
  std::vector<ArgumentFootprint> footprints;
  for (ArgumentAccesses& argument : arguments) {
    auto reads = argument.reads.finish(symbols);
    auto may_writes = argument.may_writes.finish(symbols);
    auto must_writes = argument.must_writes.finish(symbols);
    if (!reads || !may_writes || !must_writes) return std::nullopt;
    footprints.push_back({std::move(*reads), std::move(*may_writes), std::move(*must_writes)});
  }
  return footprints;
}

bool holds_within_budget(isl::ctx context, const std::function<bool()>& check) {
  OperationBudget* budget = current_budget;
  if (budget == nullptr || budget->context_.get() != context.get()) {
    isl_ctx* const counting = context.get();
    const int on_error = isl_options_get_on_error(counting);
    isl_options_set_on_error(counting, ISL_ON_ERROR_CONTINUE);
    isl_ctx_reset_operations(counting);
    isl_ctx_set_max_operations(counting, check_budget);
    const bool is_held = check() && isl_ctx_last_error(counting) == isl_error_none;
    isl_ctx_set_max_operations(counting, 0);
    isl_ctx_reset_error(counting);
    isl_options_set_on_error(counting, on_error);
    return is_held;
  }
  if (budget->is_hard_ || isl_ctx_last_error(context.get()) != isl_error_none) return false;
  budget->allow(check_budget);
  const bool holds = check();
  if (isl_ctx_last_error(context.get()) != isl_error_none) {
    isl_ctx_reset_error(context.get());
    budget->is_hard_ = true;
  }
  budget->allow(budget->is_hard_ ? hard_budget : operation_budget);
  return holds && !budget->is_hard_;
}

OperationBudget::OperationBudget(isl::ctx context, Budget& budget)
    : context_(context), budget_(budget) {
  SLUICE_ASSERT(current_budget == nullptr);
  current_budget = this;
  isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
  isl_options_set_coalesce_bounded_wrapping(context_.get(), 0);
  allow(operation_budget);
}

OperationBudget::~OperationBudget() {
  current_budget = nullptr;
  charge();
  isl_ctx_set_max_operations(context_.get(), 0);
  isl_ctx_reset_error(context_.get());
}

void OperationBudget::charge() {
  const Budget::Cost spent = cost_since(std::exchange(charged_, isl_spent()));
  const Budget::Cost left = budget_.left();
  if (spent.steps > left.steps || spent.bytes > left.bytes) {
    budget_.use_up();
  } else {
    budget_.take(spent.steps, spent.bytes);
  }
}

void OperationBudget::allow(unsigned long operations) {
  charge();
  const unsigned long left = budget_.left().steps / IslWork::steps_of_operation;
  isl_ctx_reset_operations(context_.get());
  isl_ctx_set_max_operations(context_.get(), std::max(1UL, std::min(operations, left)));
}

}  // namespace sluice::analysis
