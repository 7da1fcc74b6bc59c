// Composing hazards: what one launch waits for in an earlier one, found once for each pair of
// patterns and remembered: in boxes, in lists of bytes where these are short, else by isl. A pair
// may take half of what its launch has left; past that the slave waits for all blocks of the
// master, of which all stays live.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dro/edges/edge_drawing.hpp"
#include "dro/launches/live_state.hpp"
#include "dro/launches/patterns.hpp"
#include "dro/launches/recent_table.hpp"
#include "dro/rule.hpp"
#include "dro/rule/tracker.hpp"
#include "dro/strides/stride_edges.hpp"

namespace sluice::dro {

// PatternPair is a question: what does a launch of pattern `slave` wait for in a live launch of
// pattern `master`, of which `master_state` is left? It names no buffers, only which are the same.
struct PatternPair {
  static constexpr uint32_t none = UINT32_MAX;

  PatternId master = 0;
  uint32_t master_state = 0;
  PatternId slave = 0;
  std::vector<uint32_t> slave_buffer;  // for each buffer of the master: the slave's, or none
};

// PairResult is the answer. Where no hazard holds, or one side is the host, there are no edges.
struct PairResult {
  Hazards hazards;
  bool retires_master = false;
  std::vector<uint32_t> meeting;  // buffers of the master in which a hazard holds
  isl::map relation;  // { B[slave] -> B[master] }; null where edges were found without isl
  EdgeTableId edges = 0;
  uint64_t edge_count = 0;
  uint32_t next_state = 0;  // what the slave leaves of the master, or LiveStateTable::retired
};

// DroBuilder answers pairs. With a store it draws edge tables and tells the observer of new ones;
// without, it only finds relations.
class DroBuilder {
 public:
  DroBuilder(Rule rule, IslContext& context, const PatternTable& patterns,
             const CacheLimits& limits, EdgeTableStore* store, Observer* observer)
      : rule_(rule),
        context_(context),
        patterns_(patterns),
        states_(context, patterns, rule),
        store_(store),
        observer_(observer),
        pairs_(limits.pairs) {}

  // are_apart() is true where the launches are seen to share no byte that one of them writes, in
  // lists alone: then the slave neither waits for the master nor changes its state, `left`. It is
  // cheap and not remembered. False where the budget is spent.
  static bool are_apart(const PatternPair& pair, const LiveState& left, const LaunchPattern& slave,
                        Budget& budget);

  // resolve() is valid until the next drop().
  const PairResult& resolve(const PatternPair& pair, Budget& budget);
  LiveStateTable& states() { return states_; }
  const LiveStateTable& states() const { return states_; }

  // crowded() says that drop() should be called. drop() forgets the pairs of `patterns`, which are
  // gone, and the pairs not used lately where there are too many; then the states that neither a
  // pair nor the caller (`needed`) knows.
  bool crowded() const { return pairs_.is_crowded(); }
  void drop(const std::vector<PatternId>& patterns,
            const std::function<bool(PatternId, uint32_t)>& needed);
  const CacheUse& use() const { return pairs_.use(); }

 private:
  struct Meeting;
  PairResult compose(const PatternPair& pair, Budget& budget);
  bool find_meetings(const Meeting& place, const BufferAccess& later, const LiveBytes& live,
                     PairResult& result, std::vector<Meeting>& found, Budget& budget) const;
  void find_edges(const PatternPair& pair, const std::vector<Meeting>& meetings, PairResult& result,
                  Budget& budget);
  std::optional<EdgeTable> edges_of_boxes(const PatternPair& pair,
                                          const std::vector<Meeting>& meetings, Budget& budget);
  std::optional<EdgeTable> edges_of_strides(const PatternPair& pair,
                                            const std::vector<Meeting>& meetings,
                                            decltype(stride_edges)& edges_of, Budget& budget);
  std::optional<EdgeTable> listed_edges(const PatternPair& pair,
                                        const std::vector<Meeting>& meetings, Budget& budget);
  isl::map composed_edges(const PatternPair& pair, const std::vector<Meeting>& meetings,
                          Budget& budget) const;
  void keep(EdgeTable table, PairResult& result, Budget& budget);

  Rule rule_;
  IslContext& context_;
  const PatternTable& patterns_;
  LiveStateTable states_;
  EdgeTableStore* store_;
  Observer* observer_;
  RecentTable<Words, PairResult, WordsHash> pairs_;
  uint64_t step_ = 0;
};

}  // namespace sluice::dro
