// How footprints are read.
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dro/launches/costs.hpp"
#include "dro/launches/footprints.hpp"

namespace sluice::dro {
namespace {

// check() says that a footprint is whole where isl takes too long over it.
Status check(ParsedFootprint& footprint, Budget& budget) {
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    const ParsedArgument& argument = footprint.arguments[i];
    for (const ParsedAccess* access :
         {&argument.reads, &argument.may_writes, &argument.must_writes}) {
      if (access->source == nullptr) continue;
      const auto relation =
          access->source->at(footprint.values, footprint.source->shape.grid, budget);
      footprint.whole = footprint.whole || (relation && relation->is_null());
      if (!relation) {
        return invalid_input(relation.error().what, fmt::format("kernel {}, pointer argument {}",
                                                                footprint.source->kernel, i));
      }
    }
  }
  return {};
}

// read_rows() finds boxes and strides that show without isl, of these first what does not grow with
// the grid: it is false where something went past the budget.
bool read_rows(ParsedFootprint& parsed, Budget& budget) {
  bool all = true;
  const auto found = [&](auto find) {
    Budget part(budget, Budget::unlimited);
    const bool has = find(parsed, part);
    all = all && !part.is_spent();
    return has;
  };
  const bool has_strides = found(FootprintTable::find_strides);
  parsed.strided = has_strides && FootprintTable::has_few_strides(parsed);
  parsed.boxed = !parsed.strided && found(FootprintTable::find_written_boxes);
  parsed.strided = has_strides && !parsed.boxed;
  return all;
}

// read_by_isl() reads what they did not show. What is boxed, strided or listed has no block outside
// the grid.
Status read_by_isl(ParsedFootprint& parsed, Budget& budget) {
  if (parsed.boxed || parsed.strided) return {};
  const auto found = [&](auto find) {
    Budget part(budget, Budget::unlimited);
    return find(parsed, part);
  };
  parsed.boxed = found(FootprintTable::find_boxes);
  parsed.listed = !parsed.boxed && found(FootprintTable::list);
  return parsed.boxed || parsed.listed ? Status() : check(parsed, budget);
}

}  // namespace

Result<std::shared_ptr<AccessTemplate>> FootprintTable::template_of(const Relation& relation,
                                                                    size_t symbols) {
  if (const auto known = templates_.find(relation); known != templates_.end()) {
    if (auto alive = known->second.lock()) return alive;
  }
  auto made = AccessTemplate::make(context_, relation, symbols);
  if (!made) return made;
  if (template_bound_.is_passed_by(templates_.size())) {
    std::erase_if(templates_, [](const auto& entry) { return entry.second.expired(); });
    template_bound_.leave(templates_.size());
  }
  templates_[relation] = *made;
  return made;
}

Result<ParsedFootprint> FootprintTable::take_apart(const analysis::Footprint& footprint) {
  if (footprint.opaque()) {
    return invalid_input("an opaque footprint has no dependences of its own", footprint.kernel);
  }
  ParsedFootprint parsed{&footprint, {}, {}};
  for (const analysis::Symbol& symbol : footprint.symbols)
    parsed.values.push_back(symbol.value);
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    const analysis::ArgumentFootprint& source = footprint.arguments[i];
    ParsedArgument& argument = parsed.arguments.emplace_back();
    const std::tuple<const analysis::Access&, ParsedAccess&, const char*> accesses[] = {
        {source.reads, argument.reads, "reads"},
        {source.may_writes, argument.may_writes, "may-writes"},
        {source.must_writes, argument.must_writes, "must-writes"}};
    for (const auto& [access, target, what] : accesses) {
      target.whole_buffer = access.precision == analysis::Precision::whole_buffer;
      if (target.whole_buffer || access.relation.empty()) continue;
      auto relation = template_of(access.relation, parsed.values.size());
      if (!relation) {
        return invalid_input(
            relation.error().what,
            fmt::format("kernel {}, pointer argument {}, {}", footprint.kernel, i, what));
      }
      target.source = std::move(*relation);
    }
  }
  return parsed;
}

Result<ParsedFootprint> FootprintTable::parse(const analysis::Footprint& footprint) {
  auto parsed = take_apart(footprint);
  if (!parsed) return parsed;
  Budget budget(footprint_cost);
  read_rows(*parsed, budget);
  const Status good = read_by_isl(*parsed, budget);
  cost_ = Budget::larger(cost_, budget.taken());
  if (!good) return tl::unexpected(good.error());
  return parsed;
}

// list() lists all accesses of a footprint, or none.
bool FootprintTable::list(ParsedFootprint& footprint, Budget& whole) {
  const Dim3& grid = footprint.source->shape.grid;
  if (grid.count() > most_listed_blocks) return false;
  Budget budget(whole, listing_cost);
  const auto list_one = [&](ParsedAccess& access) {
    return access.source == nullptr ||
           access.source->list(footprint.values, grid, budget, access.runs);
  };
  for (ParsedArgument& argument : footprint.arguments) {
    if (list_one(argument.reads) && list_one(argument.may_writes) &&
        list_one(argument.must_writes)) {
      continue;
    }
    for (ParsedArgument& each : footprint.arguments)
      each.reads.runs = each.may_writes.runs = each.must_writes.runs = {};
    return false;
  }
  footprint.has_runs = true;
  return true;
}

Result<std::pair<FootprintId, bool>> FootprintTable::add(const analysis::Footprint& footprint,
                                                         uint64_t step) {
  if (const auto known = table_.find(footprint, step)) return std::pair{*known, false};
  auto parsed = parse(footprint);
  if (!parsed) return tl::unexpected(parsed.error());
  return std::pair{keep(footprint, std::move(*parsed), step), true};
}

Result<std::pair<FootprintId, bool>> FootprintTable::add_at_once(
    const analysis::Footprint& footprint, uint64_t step) {
  if (const auto known = table_.find(footprint, step)) return std::pair{*known, false};
  auto parsed = take_apart(footprint);
  Budget budget(quick_footprint_cost);
  if (!parsed) return tl::unexpected(parsed.error());
  if (!read_rows(*parsed, budget) || !(parsed->boxed || parsed->strided))
    return unsupported("a footprint that takes long to read");
  cost_ = Budget::larger(cost_, budget.taken());
  return std::pair{keep(footprint, std::move(*parsed), step), true};
}

FootprintId FootprintTable::keep(const analysis::Footprint& footprint, ParsedFootprint parsed,
                                 uint64_t step) {
  const FootprintId id = table_.add(footprint, std::move(parsed), step);
  table_.at(id).source = &table_.key(id);
  return id;
}

}  // namespace sluice::dro
