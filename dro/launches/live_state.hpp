// Live states: what is left of an earlier launch after later ones retired part of it.
//
// The rule, for each byte. Accesses of a byte come in program order; "claims" below are writes,
// must or may. For an earlier launch M the following of its bytes are live:
//   writes         of M, not overwritten by a later must-write          a reader makes RAW
//   fresh writes   of M, neither read nor claimed by any later launch   a claim makes WAW
//   reads          of M, not claimed by any later launch                a claim makes WAR
// A launch is taken as a whole: all its accesses meet the state before it, then change it.
//
// What is left out is implied. Edges run between all the blocks that touch the byte, on either
// side, so edges of one byte compose: if P -> Q and Q -> S were drawn for byte b, every block of S
// that touches b waits, through blocks of Q, for every block of P that touches b.
//   Claim after claim, P then S: if P is fresh, the WAW edge is drawn. Else let Q be the first to
//   touch b after P. If Q claims b, P -> Q was drawn as WAW. If Q reads b, P -> Q was drawn as RAW
//   (no must-write came between). Take Q for P and repeat: the steps end at S.
//   Claim after read, P then S: if P's read is live, the WAR edge is drawn. Else the first claim Q
//   after P had the WAR edge P -> Q, and Q before S is the case above.
//   Read after claim, P then S: if P's write is live, the RAW edge is drawn. Else a must-write Q
//   came between; P before Q is the first case, and the last such Q is live, so Q -> S is drawn.
// So the closure of what is drawn is the closure of all conflicts. (A read is RAW-dependent on all
// writers whose data it may see, though the last claim alone would order it: data flow is what
// people want to read.)
//
// A launch all of whose remaining writes were claimed again, and whose reads too, orders nothing
// that others do not: it is `superseded`, and only so many of its kind are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dro/launches/patterns.hpp"
#include "dro/rule.hpp"
#include "dro/types.hpp"
#include "relation/byte_set.hpp"

namespace sluice::dro {

// LiveBytes are the live bytes of one buffer, as above; `last_writes` are those of `writes` that
// no later launch claimed. Each holds the next: writes, last_writes, fresh_writes.
struct LiveBytes {
  ByteSet writes;
  ByteSet last_writes;
  ByteSet fresh_writes;
  ByteSet reads;

  bool empty() const { return writes.empty() && reads.empty(); }
  // hull() is the smallest range that holds both.
  std::optional<Range> hull() const;
};

struct LiveState {
  std::vector<LiveBytes> buffers;  // one for each buffer of the pattern
  bool superseded = false;

  bool retired() const;
};

// intact_state() is the state of a launch that has just run. Rule::buffer keeps no reads.
LiveState intact_state(const LaunchPattern& pattern, Rule rule);

// retire() changes one buffer's live bytes by a later launch's access to the same buffer. Past the
// budget more stays live.
void retire(const IslContext& context, LiveBytes& live, const BufferAccess& later, Rule rule,
            Budget& budget);

// LiveStateTable numbers the states of each pattern in the order in which they were first seen;
// number 0 is intact. Equality is that of sets, so the states stay finite where programs repeat.
class LiveStateTable {
 public:
  static constexpr uint32_t retired = UINT32_MAX;

  LiveStateTable(const IslContext& context, const PatternTable& patterns, Rule rule)
      : context_(context), patterns_(patterns), rule_(rule) {}

  // state() is one that number_of() returned and nobody dropped, or 0.
  const LiveState& state(PatternId pattern, uint32_t number);

  // number_of() finds or adds a state; `retired` where nothing is left. Past the budget it adds it.
  uint32_t number_of(PatternId pattern, LiveState state, Budget& budget);

  // ranges() is how many ranges the lists hold that the states have beside their patterns'.
  uint64_t ranges() const { return ranges_; }

  // forget() drops a pattern's states. forget_but() drops all but state 0 and those for which
  // `needed(pattern, number)` holds; what comes again gets a new number.
  void forget(PatternId pattern);
  void forget_but(const std::function<bool(PatternId, uint32_t)>& needed);
  size_t size() const;

 private:
  // States are those of one pattern, by number, and their numbers by the hash of their hulls.
  struct States {
    std::unordered_map<uint32_t, LiveState> by_number;
    std::unordered_multimap<uint64_t, uint32_t> by_hash;
    uint32_t next = 0;
  };
  States& states_of(PatternId pattern);
  bool equal(const LiveState& a, const LiveState& b, Budget& budget) const;
  uint32_t add(States& states, LiveState state, uint64_t hash);

  const IslContext& context_;
  const PatternTable& patterns_;
  Rule rule_;
  std::unordered_map<PatternId, States> states_;
  uint64_t ranges_ = 0;
};

}  // namespace sluice::dro
