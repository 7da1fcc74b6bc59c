#include "analysis/shape/footprint_comparison.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <isl/ctx.h>
#include <isl/isl-noexceptions.h>
#include <isl/map.h>
#include <isl/options.h>

#include "analysis/polly/block_relation.hpp"
#include "base/assert.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::analysis {
namespace {

isl_stat free_context(isl_ctx* context) {
  isl_ctx_free(context);
  return isl_stat_ok;
}

isl_ctx* new_context() {
  isl_ctx* context = isl_ctx_alloc();
  isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
  isl_options_set_coalesce_bounded_wrapping(context, 0);
  return context;
}

isl::map parsed(isl_ctx* context, const Access& access) {
  if (access.relation.empty()) return {};
  return map_of(isl::ctx(context), access.relation);
}

// Nothing where isl's operations do not suffice.
std::optional<Access> closed(const Access& access, const std::vector<Symbol>& symbols,
                             isl_ctx* context) {
  if (access.relation.empty()) return access;
  isl_map* map = parsed(context, access).release();
  for (unsigned i = 0; i < access.relation.parameters; ++i)
    map = isl_map_fix_val(map, isl_dim_param, i, isl_val_int_from_si(context, symbols[i].value));
  map = isl_map_project_out(map, isl_dim_param, 0, access.relation.parameters);
  const isl::map fixed = coalesced(isl::manage(map));
  const isl::boolean is_empty = fixed.is_empty();
  if (is_empty.is_error()) return std::nullopt;
  if (is_empty.is_true()) return Access{};
  auto rows = rows_of(fixed);
  if (!rows) return std::nullopt;
  return Access{std::move(*rows), access.precision, access.reason};
}

std::optional<Footprint> closed(const Footprint& footprint, isl_ctx* context) {
  Footprint result = footprint;
  result.symbols.clear();
  for (ArgumentFootprint& argument : result.arguments) {
    for (Access* access : {&argument.reads, &argument.may_writes, &argument.must_writes}) {
      std::optional<Access> fixed = closed(*access, footprint.symbols, context);
      if (!fixed) return std::nullopt;
      *access = std::move(*fixed);
    }
  }
  return result;
}

bool says_as_much(const Access& a, const Access& b) {
  return a.present() == b.present() && a.precision == b.precision;
}

// The pieces of a relation, in its order.
std::vector<isl::map> pieces_of(const isl::map& relation) {
  std::vector<isl::map> pieces;
  relation.foreach_basic_map([&](const isl::basic_map& piece) {
    pieces.emplace_back(piece);
    return isl::stat::ok();
  });
  return pieces;
}

bool same_within_budget(const isl::map& a, const isl::map& b) {
  return holds_within_budget(a.ctx(), [&] { return a.is_equal(b).is_true(); });
}

// Of one kernel both have their pieces in one order, and differ in how they write divisions: piece
// by piece that takes little, where unions of many that overlap may take all of the budget.
bool same_where_exact(const Access& a, const Access& b, isl_ctx* context) {
  if (a.precision != Precision::exact || !a.present()) return true;
  const isl::map first = parsed(context, a), second = parsed(context, b);
  const std::vector<isl::map> pieces = pieces_of(first), others = pieces_of(second);
  return (!pieces.empty() && std::equal(pieces.begin(), pieces.end(), others.begin(), others.end(),
                                        same_within_budget)) ||
         same_within_budget(first, second);
}

// for_all_accesses() is true where `holds` is, for each access of one and that of the other.
template <class Holds>
bool for_all_accesses(const Footprint& a, const Footprint& b, Holds&& holds) {
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    const ArgumentFootprint &first = a.arguments[i], &second = b.arguments[i];
    if (!holds(first.reads, second.reads) || !holds(first.may_writes, second.may_writes) ||
        !holds(first.must_writes, second.must_writes)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Footprint closed(const Footprint& footprint) {
  const std::unique_ptr<isl_ctx, isl_stat (*)(isl_ctx*)> context(new_context(), free_context);
  std::optional<Footprint> result = closed(footprint, context.get());
  SLUICE_ASSERT(result.has_value());
  return *std::move(result);
}

bool is_as_good_as(const Footprint& symbolic, const Footprint& specialised) {
  if (symbolic.opaque() || specialised.opaque()) return false;
  if (symbolic.arguments.size() != specialised.arguments.size()) return false;
  return for_all_accesses(symbolic, specialised, says_as_much);
}

bool are_equally_exact(const Footprint& instance, const Footprint& specialised, Budget& budget) {
  const std::unique_ptr<isl_ctx, isl_stat (*)(isl_ctx*)> context(new_context(), free_context);
  const OperationBudget bounded(context.get(), budget);
  const std::optional<Footprint> fixed = closed(instance, context.get());
  if (!fixed || !is_as_good_as(*fixed, specialised)) return false;
  return for_all_accesses(*fixed, specialised, [&](const Access& a, const Access& b) {
    return same_where_exact(a, b, context.get());
  });
}

}  // namespace sluice::analysis
