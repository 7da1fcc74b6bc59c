// An edge table: the block-to-block edges of a DRO in the cheapest form that a device can read.
// Plain data shared by `dro`, which draws it, and `megakernel`, whose workers read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/dim3.hpp"
#include "dro/edges/all_edges.hpp"
#include "dro/edges/neighbour_edges.hpp"
#include "dro/edges/range_edges.hpp"
#include "dro/edges/strided_edges.hpp"

namespace sluice::dro {

// EdgeForm says how a slave block finds its masters; the cheapest form comes first. Each form has,
// in its own file:
//   kind                     its name in the journal, and members<> of what that says of it
//   draw(edges)              the form of edges that answer questions (see drawn()), or nothing
//   edge_count()             how many block-to-block edges it says
//   fits(masters, slaves)    whether all of it lies within these grids
//   visit(...)               what for_each_master_range() does
using EdgeForm = std::variant<AllEdges, NeighbourEdges, StridedEdges, RangeEdges>;

struct EdgeTable {
  Dim3 master_grid;
  Dim3 slave_grid;
  EdgeForm form;
  uint64_t edge_count = 0;  // block-to-block edges, exact
  friend bool operator==(const EdgeTable&, const EdgeTable&) = default;
};

template <>
inline constexpr auto members<EdgeTable> = [](auto& table, auto& member) {
  member.alternative("form", table.form);
  member("master_grid", table.master_grid);
  member("slave_grid", table.slave_grid);
  member("edge_count", table.edge_count);
  member.of_alternative(table.form);
};

// make_table() counts the edges of a form.
inline EdgeTable make_table(const Dim3& master_grid, const Dim3& slave_grid, EdgeForm form) {
  const uint64_t edges = std::visit([](const auto& each) { return each.edge_count(); }, form);
  return {master_grid, slave_grid, std::move(form), edges};
}

// drawn() is the table of `edges` in the first form that can say it exactly. What draws edges
// answers:
//   boxes()           the smallest boxes that hold all slaves and all masters, or nothing
//   has_all(boxes)    whether every edge between these is one
//   offsets(most)     every master - slave, sorted; nothing past `most`
//   has_each(edges)   whether each of these NeighbourEdges is one
//   rows()            all of them as RangeEdges, or nothing
template <class Edges, class... Forms>
std::optional<EdgeForm> drawn_form(Edges& edges, const std::variant<Forms...>*) {
  std::optional<EdgeForm> form;
  (void)((form = Forms::draw(edges)) || ...);
  return form;
}
template <class Edges>
std::optional<EdgeTable> drawn(Edges& edges, const Dim3& master_grid, const Dim3& slave_grid) {
  auto form = drawn_form(edges, static_cast<const EdgeForm*>(nullptr));
  if (!form) return std::nullopt;
  return make_table(master_grid, slave_grid, std::move(*form));
}

// for_each_master_range() calls visit(first, last) with linear master block numbers that together
// hold every master of the slave blocks first_block .. first_block + block_count - 1. For a single
// block the ranges are exact; for several they may take in more blocks of the same master launch
// (which is earlier, so waiting for more of it is safe) and may overlap. A template, so that
// workers pay no call for each range.
template <class Visit>
void for_each_master_range(const EdgeTable& table, uint32_t first_block, uint32_t block_count,
                           Visit&& visit) {
  if (block_count == 0) return;
  std::visit(
      [&](const auto& edges) {
        edges.visit(table.master_grid, table.slave_grid, first_block, block_count, visit);
      },
      table.form);
}

inline bool is_whole(const EdgeTable& table) {
  return std::visit(
      [&](const auto& edges) { return edges.fits(table.master_grid, table.slave_grid); },
      table.form);
}

inline std::string_view form_name(const EdgeTable& table) {
  return std::visit([](const auto& edges) { return edges.kind; }, table.form);
}

}  // namespace sluice::dro
