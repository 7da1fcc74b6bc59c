// Edges between launches whose accesses are strides, in closed form.
#pragma once

#include <optional>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "dro/strides/block_strides.hpp"

namespace sluice::dro {

// StrideMeeting is two accesses to one buffer of which one writes; of the earlier one only `live`
// counts, or all where that is null.
struct StrideMeeting {
  const Strides* later = nullptr;
  const Strides* earlier = nullptr;
  const ByteIntervals* live = nullptr;
};

// strided_edges() is the edges of all meetings together, as strides. Two parts whose bytes go in
// steps of the same row and plane meet step by step, which is a part again; what is contiguous is
// cut into such rows first. Nothing where parts go in steps that don't divide each other, where too
// many parts come out, or past the budget. The cost grows with the parts alone.
std::optional<StridedEdges> strided_edges(const std::vector<StrideMeeting>& meetings,
                                          const Dim3& master_grid, const Dim3& slave_grid,
                                          Budget& budget);

// shown_edges() is the same where the parts show the cheapest form by themselves, without the rows
// of all blocks.
std::optional<EdgeTable> shown_edges(const std::vector<StrideMeeting>& meetings,
                                     const Dim3& master_grid, const Dim3& slave_grid,
                                     Budget& budget);

// stride_edges() is the same in the cheapest form. Where the parts show none the cost grows with
// the slave's blocks, whose rows are made.
std::optional<EdgeTable> stride_edges(const std::vector<StrideMeeting>& meetings,
                                      const Dim3& master_grid, const Dim3& slave_grid,
                                      Budget& budget);

}  // namespace sluice::dro
