#include "analysis/symbolic_footprint.hpp"

#include <cstdlib>

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>

#include "analysis/block_relation.hpp"
#include "base/assert.hpp"

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
  const isl::map relation(isl::ctx(context), access.relation);
  SLUICE_ASSERT(!relation.is_null());
  return relation;
}

bool says_as_much(const Access& a, const Access& b) {
  return a.present() == b.present() && a.precision == b.precision;
}

bool same_where_exact(const Access& a, const Access& b, isl_ctx* context) {
  if (a.precision != Precision::exact || !a.present()) return true;
  return parsed(context, a).is_equal(parsed(context, b)).is_true();
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

SymbolicFootprint::SymbolicFootprint(ShapeFamily family, const Footprint& footprint,
                                     const std::vector<ParameterSlot>& scalars)
    : family_(std::move(family)), source_(footprint), context_(new_context(), free_context) {
  SLUICE_ASSERT(!footprint.opaque());
  for (const ParameterSlot& scalar : scalars)
    scalar_bytes_.push_back(scalar.size);
  for (const ArgumentFootprint& argument : footprint.arguments) {
    relations_.push_back({parsed(context_.get(), argument.reads),
                          parsed(context_.get(), argument.may_writes),
                          parsed(context_.get(), argument.must_writes)});
  }
}

int64_t SymbolicFootprint::value(const LaunchShape& shape, ShapeNumber number) const {
  return value_of(shape, number, number < scalar_bytes_.size() ? scalar_bytes_[number] : 4);
}

bool SymbolicFootprint::covers(const LaunchShape& shape) const {
  const LaunchShape& of_family = family_.shape;
  if (shape.block != of_family.block ||
      shape.dynamic_shared_bytes != of_family.dynamic_shared_bytes ||
      shape.shape_values.size() != of_family.shape_values.size()) {
    return false;
  }
  const auto numbers = ShapeNumber(shape.shape_values.size() + 3);
  for (ShapeNumber number = 0; number < numbers; ++number) {
    const int64_t asked = value(shape, number);
    const auto symbol = family_.symbol(number);
    const bool fits =
        symbol ? family_.symbols[*symbol].low <= asked && asked <= family_.symbols[*symbol].high
               : asked == value(of_family, number);
    if (!fits) return false;
  }
  return true;
}

Access SymbolicFootprint::instance(const Access& access, const isl::map& relation,
                                   const LaunchShape& shape) const {
  if (relation.is_null()) return access;
  isl_map* map = relation.copy();
  for (const SymbolicNumber& symbol : family_.symbols) {
    const isl::id name =
        isl::manage(isl_id_alloc(context_.get(), symbol_name(symbol.number).c_str(), nullptr));
    const int position = isl_map_find_dim_by_id(map, isl_dim_param, name.get());
    if (position < 0) continue;
    map = isl_map_fix_val(map, isl_dim_param, unsigned(position),
                          isl_val_int_from_si(context_.get(), value(shape, symbol.number)));
  }
  map = isl_map_project_out(map, isl_dim_param, 0, unsigned(isl_map_dim(map, isl_dim_param)));
  const isl::map fixed = coalesced(isl::manage(map));
  SLUICE_ASSERT(!fixed.is_null());
  if (fixed.is_empty().is_true()) return {};
  Access result{{}, access.precision, access.reason};
  char* text = isl_map_to_str(fixed.get());
  SLUICE_ASSERT(text != nullptr);
  result.relation = text;
  std::free(text);
  return result;
}

Footprint SymbolicFootprint::at(const LaunchShape& shape) {
  SLUICE_ASSERT(covers(shape));
  Footprint footprint;
  footprint.kernel = source_.kernel;
  footprint.shape = shape;
  for (size_t i = 0; i < relations_.size(); ++i) {
    const ArgumentFootprint& source = source_.arguments[i];
    footprint.arguments.push_back({instance(source.reads, relations_[i].reads, shape),
                                   instance(source.may_writes, relations_[i].may_writes, shape),
                                   instance(source.must_writes, relations_[i].must_writes, shape)});
  }
  return footprint;
}

bool is_as_good_as(const Footprint& symbolic, const Footprint& specialised) {
  if (symbolic.opaque() || specialised.opaque()) return false;
  if (symbolic.arguments.size() != specialised.arguments.size()) return false;
  return for_all_accesses(symbolic, specialised, says_as_much);
}

bool are_equally_exact(const Footprint& instance, const Footprint& specialised) {
  if (!is_as_good_as(instance, specialised)) return false;
  const std::unique_ptr<isl_ctx, isl_stat (*)(isl_ctx*)> context(new_context(), free_context);
  return for_all_accesses(instance, specialised, [&](const Access& a, const Access& b) {
    return same_where_exact(a, b, context.get());
  });
}

}  // namespace sluice::analysis
