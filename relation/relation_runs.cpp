#include "relation/relation_runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <isl/map.h>

#include "base/assert.hpp"
#include "relation/isl_context.hpp"
#include "relation/isl_relation.hpp"

namespace sluice {
namespace {

constexpr unsigned long operation_budget = 100'000'000;
// Loops that run in vain more often than this are left to isl's.
constexpr uint64_t most_steps = uint64_t{1} << 24;
constexpr std::array index_names = {"X", "Y", "Z"};

// with_bytes_last() is [e, o]: the byte o after the existential variables e of a piece, so that
// loops over the piece run through e outside, where a floor or a thread picks a row, and through
// neighbouring bytes inside. Null where isl gives up or the lifted piece is not the same bytes.
isl::set with_bytes_last(const isl::basic_set& piece) {
  const isl::set lifted = isl::manage(isl_set_from_basic_set(isl_basic_set_lift(piece.copy())));
  if (lifted.is_null()) return lifted;
  if (!lifted.is_wrapping()) return lifted;
  const isl::map variables = lifted.unwrap();
  if (!yes(variables.domain().is_equal(isl::set(piece)))) return {};
  return variables.reverse().wrap().flatten();
}

// pieces_with_bytes_last() holds one null set where isl gives up.
std::vector<isl::set> pieces_with_bytes_last(const isl::set& bytes) {
  std::vector<isl::set> pieces;
  if (bytes.is_null()) return {isl::set()};
  const isl::stat done = bytes.foreach_basic_set([&](const isl::basic_set& piece) {
    pieces.push_back(with_bytes_last(piece));
    return isl::stat::ok();
  });
  if (!done.is_ok()) return {isl::set()};
  return pieces;
}

// with_block_as_parameters() is { B[0, 0, 0] -> A[o] } with the block's indices as the last three
// parameters.
isl::map with_block_as_parameters(const isl::map& relation) {
  const auto first = static_cast<unsigned>(isl_map_dim(relation.get(), isl_dim_param));
  isl_map* map = isl_map_move_dims(isl_map_reset_tuple_id(relation.copy(), isl_dim_in),
                                   isl_dim_param, first, isl_dim_in, 0, 3);
  for (unsigned i = 0; i < 3; ++i)
    map = isl_map_set_dim_name(map, isl_dim_param, first + i, index_names[i]);
  map = isl_map_add_dims(map, isl_dim_in, 3);
  for (unsigned i = 0; i < 3; ++i)
    map = isl_map_fix_si(map, isl_dim_in, i, 0);
  return isl::manage(map);
}

}  // namespace

Result<std::shared_ptr<RelationRuns>> RelationRuns::create(const Relation& relation) {
  if (!relation.is_whole())
    return invalid_input("the rows of a relation have not all their columns");
  IslContext context;
  const IslContext::Budget budget(context, operation_budget);
  auto runs = std::make_shared<RelationRuns>();
  runs->relation_ = relation;
  const isl::map of_block = with_block_as_parameters(map_of(context.get(), relation));
  if (!of_block.is_null()) runs->loops_ = AccessLoops::make(of_block);
  return runs;
}

std::optional<ByteRuns> RelationRuns::of(const BlockIndex& block,
                                         std::span<const int64_t> parameters) {
  if (!loops_) return run_generated(block, parameters);
  const auto own = parameters.first(relation_.parameters);
  std::vector<int64_t> values(own.begin(), own.end());
  values.insert(values.end(), {block.x, block.y, block.z});
  std::vector<ByteRun> listed;
  Budget budget({most_steps, UINT64_MAX});
  if (!loops_->list(values, {1, 1, 1}, budget, listed)) return run_generated(block, parameters);
  ByteRuns runs;
  runs.reserve(listed.size());
  for (const ByteRun& run : listed)
    runs.push_back({run.begin, run.end});
  join_ranges(runs);
  return runs;
}

void RelationRuns::generate() {
  IslContext context;
  const IslContext::Budget budget(context, operation_budget);
  const isl::map one_block(context.get(),
                           "[X, Y, Z] -> { [B[x, y, z] -> A[o]] -> T[o] : x = X and y = Y and "
                           "z = Z }");
  const isl::map relation = map_of(context.get(), relation_);
  std::vector<LoopProgram> programs;
  for (const isl::set& points : pieces_with_bytes_last(relation.wrap().apply(one_block))) {
    std::optional<LoopProgram> program;
    if (!points.is_null()) program = generate_loops(points);
    if (!program) return;
    programs.push_back(std::move(*program));
  }
  programs_ = std::move(programs);
}

std::optional<ByteRuns> RelationRuns::run_generated(const BlockIndex& block,
                                                    std::span<const int64_t> parameters) {
  std::call_once(generated_, [&] { generate(); });
  if (!programs_) return std::nullopt;
  ByteRuns runs;
  for (const LoopProgram& program : *programs_) {
    LoopVariables variables(program.variable_count);
    const auto set = [&](const std::string& name, int64_t value) {
      const auto found = program.slots.find(name);
      if (found != program.slots.end())
        variables.values[static_cast<size_t>(found->second)] = value;
    };
    set(index_names[0], block.x);
    set(index_names[1], block.y);
    set(index_names[2], block.z);
    for (size_t i = 0; i < relation_.parameters; ++i)
      set(fmt::format("p{}", i), parameters[i]);
    Budget budget(Budget::unlimited);
    const bool whole =
        visit_rows(program, std::move(variables), budget, [&](auto from, int64_t last) {
          if (!runs.empty() && runs.back().end == from.back()) {
            runs.back().end = last + 1;
          } else {
            runs.push_back({from.back(), last + 1});
          }
          return true;
        });
    if (!whole) return std::nullopt;
  }
  join_ranges(runs);
  return runs;
}

}  // namespace sluice
