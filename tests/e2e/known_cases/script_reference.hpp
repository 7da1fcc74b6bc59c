// What blocks of a script's launches depend on, found word by word from the rule's own words
// (dro/launches/live_state.hpp), which are few: whose blocks wrote a word last, whose have read it
// since. All accesses of a script are certain.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "e2e/known_cases/transfer_script.hpp"

namespace sluice::e2e {

using LaunchPair = std::pair<uint64_t, uint64_t>;  // master and slave, by number
using BlockEdge = std::pair<uint64_t, uint64_t>;

struct PairEdges {
  std::set<std::string> hazards;
  std::set<BlockEdge> edges;
};

// script_edges() is of the script so many times one after the other, whose first launch has that
// number.
std::map<LaunchPair, PairEdges> script_edges(const std::vector<script::Operation>& operations,
                                             int times, uint64_t first);

}  // namespace sluice::e2e
