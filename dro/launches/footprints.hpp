// Footprints as they are read: each once, shared by all launches of one kernel and shape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "dro/boxes/block_boxes.hpp"
#include "dro/declared_hash.hpp"
#include "dro/launches/access_template.hpp"
#include "dro/launches/recent_table.hpp"
#include "dro/records/footprint.hpp"
#include "dro/strides/block_strides.hpp"
#include "dro/types.hpp"
#include "relation/isl_context.hpp"

namespace sluice::dro {

// ParsedAccess is one access of a footprint; whole_buffer takes its bytes from the binding.
struct ParsedAccess {
  std::shared_ptr<AccessTemplate> source;  // null: there is none, or whole_buffer
  std::vector<ByteRun> runs;               // see ParsedFootprint::has_runs
  Boxes boxes;                             // see ParsedFootprint::has_boxes
  Strides strides;                         // where the footprint is strided
  bool whole_buffer = false;
};
struct ParsedArgument {
  ParsedAccess reads;
  ParsedAccess may_writes;
  ParsedAccess must_writes;
};
struct ParsedFootprint {
  const analysis::Footprint* source = nullptr;  // where the table keeps it
  std::vector<int64_t> values;                  // of its symbols
  std::vector<ParsedArgument> arguments;
  // How its bytes are known, at most one of these: as boxes, as strides, by lists, not at all (all
  // buffers are taken whole); else isl knows them.
  bool boxed = false;
  bool strided = false;
  bool listed = false;
  bool whole = false;
  // Boxes and runs are kept until a pattern was bound, and found again for the next.
  bool has_boxes = false;
  bool has_runs = false;
};
// FootprintTable reads footprints and remembers them. Not thread-safe.
class FootprintTable {
 public:
  FootprintTable(const IslContext& context, uint64_t limit) : context_(context), table_(limit) {}

  // add() returns the id and whether it is new. Errors as DependenceTracker's. add_at_once() does
  // the same where that takes no isl and little time; else that is an error too.
  Result<std::pair<FootprintId, bool>> add(const analysis::Footprint& footprint, uint64_t step);
  Result<std::pair<FootprintId, bool>> add_at_once(const analysis::Footprint& footprint,
                                                   uint64_t step);
  // cost() is the largest that reading one has taken so far.
  const Budget::Cost& cost() const { return cost_; }
  bool has(FootprintId id) const { return table_.has(id); }
  // use() makes this footprint the one used last.
  void use(FootprintId id, uint64_t step) {
    if (table_.has(id)) table_.use(id, step);
  }
  ParsedFootprint& at(FootprintId id) { return table_.at(id); }
  const analysis::Footprint& source(FootprintId id) const { return table_.key(id); }

  bool is_crowded() const { return table_.is_crowded(); }
  // drop() leaves what is needed, and what was used at this step: it is about to be launched.
  void drop(const std::function<bool(FootprintId)>& is_needed, uint64_t step);
  const CacheUse& cache_use() const { return table_.use(); }

  // list() lists all accesses of a footprint, or none; find_boxes() finds the boxes of all, or
  // none, and find_strides() the strides; find_written_boxes() those that show without isl.
  static bool list(ParsedFootprint& footprint, Budget& budget);
  static bool find_boxes(ParsedFootprint& footprint, Budget& budget);
  static bool find_written_boxes(ParsedFootprint& footprint, Budget& budget);
  static bool find_strides(ParsedFootprint& footprint, Budget& budget);
  static bool has_few_strides(const ParsedFootprint& footprint);

 private:
  Result<ParsedFootprint> parse(const analysis::Footprint& footprint);
  FootprintId keep(const analysis::Footprint& footprint, ParsedFootprint parsed, uint64_t step);
  // take_apart() finds the templates of all accesses.
  Result<ParsedFootprint> take_apart(const analysis::Footprint& footprint);
  Result<std::shared_ptr<AccessTemplate>> template_of(const Relation& relation, size_t symbols);

  Budget::Cost cost_;
  static constexpr uint64_t most_templates = 1024;
  const IslContext& context_;
  RecentTable<analysis::Footprint, ParsedFootprint, DeclaredHash> table_;
  // Kernels often touch memory alike, and what isl makes of a relation is dear.
  std::unordered_map<Relation, std::weak_ptr<AccessTemplate>, DeclaredHash> templates_;
  Bound template_bound_{most_templates};  // of which those of no footprint are dropped
};

}  // namespace sluice::dro
