// The tracker turns launches, in program order, into dependences. It is the only owner of buffer
// state, DROs and edge tables; live runtime and offline replay drive the same class.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "dro/edges/edge_table.hpp"
#include "dro/launches/cache_limits.hpp"
#include "dro/records/record.hpp"
#include "dro/rule.hpp"
#include "dro/types.hpp"
#include "relation/budget.hpp"

namespace sluice::dro {

class LaunchRow;
class Observer;

// TrackerCounters count all that was found so far; none depends on timing.
struct TrackerCounters {
  uint64_t launches = 0;  // tracked ones, opaque ones left out
  uint64_t footprints = 0;
  uint64_t interned = 0;
  uint64_t dros = 0;
  uint64_t dro_hits = 0;
  uint64_t resolved = 0;  // dependences found
  uint64_t edge_tables = 0;
  uint64_t edges = 0;     // block edges of all dependences found
  uint64_t repeated = 0;  // launches that came in rows, without look-ups
  // Use of the caches: interned launches (host writes included), pairs that isl was asked for,
  // footprints.
  CacheUse launch_cache;
  CacheUse pair_cache;
  CacheUse footprint_cache;
  // What the dearest launch, host write or footprint has taken; and launches given up, which
  // count nowhere else.
  Budget::Cost dearest_launch;
  Budget::Cost dearest_footprint;
  uint64_t given_up = 0;
};

// DependenceTracker, in use:
//
//   DependenceTracker tracker(Rule::exact);
//   tracker.buffer_created(1, bytes);
//   FootprintId f = *tracker.add_footprint(footprint);
//   tracker.launch({number, f, arguments}, dependences);   // fills dependences of this launch
//
// Not thread-safe: the runtime calls it under its own lock. isl runs only for what was not seen
// before; a repeat launch costs a few look-ups for each live launch of its buffers.
class DependenceTracker {
 public:
  // `observer` (may be null, must outlive the tracker) is told of everything new: it writes the
  // journal, or compares with one.
  explicit DependenceTracker(Rule rule, Observer* observer = nullptr,
                             const CacheLimits& limits = {});
  ~DependenceTracker();

  void buffer_created(BufferId buffer, uint64_t bytes);
  // buffer_destroyed() forgets every access to it: memory allocated again is a new buffer.
  void buffer_destroyed(BufferId buffer);

  // add_footprint() parses the relations once and returns their id; equal footprints share one.
  // An error where a relation's text is not a relation over this footprint's grid. Opaque
  // footprints are not accepted: call opaque_launch() for their launches.
  Result<FootprintId> add_footprint(const analysis::Footprint& footprint);
  // add_footprint_at_once() does the same where that takes no isl and little time; else nothing,
  // as where there is an error.
  std::optional<FootprintId> add_footprint_at_once(const analysis::Footprint& footprint);
  // has_footprint() is false once the footprint was evicted: add it again before its next launch.
  bool has_footprint(FootprintId id) const;

  // launch() appends this launch's dependences on live earlier launches to `dependences`, in
  // ascending order of master, and makes it live itself. `known` may hold what an earlier call for
  // the same footprint and arguments left in it, and spares looking these up. False, with none
  // appended, where they would cost too much (costs.hpp): then the launch is as opaque_launch() has
  // it, and the caller must pass it through.
  bool launch(const LaunchEntry& entry, std::vector<Dependence>& dependences) {
    KnownLaunch known;
    return launch(entry, dependences, known);
  }
  bool launch(const LaunchEntry& entry, std::vector<Dependence>& dependences, KnownLaunch& known);

  // begin_row() and end_row() say that the launches between them, of which `first` has the first
  // number, are a run of the row, which notes each. repeat() is a further run from `first` on,
  // without look-ups; it is false, and nothing was done, where what it depends on is not known
  // beforehand: then launch() each of its launches.
  void begin_row(LaunchRow& row);
  void end_row(LaunchRow& row, LaunchNumber first);
  bool repeat(LaunchRow& row, LaunchNumber first);

  // knows() is whether launch() would need look-ups alone, all having been seen before. It changes
  // nothing.
  bool knows(const LaunchEntry& entry, const KnownLaunch& known) const;

  // opaque_launch() says that a launch passed through which may touch anything: it is ordered
  // after all before and before all after, so nothing stays live.
  void opaque_launch(LaunchNumber number, const std::string& reason);

  // host_write() says that a copy or memset, ordered after all earlier launches, overwrote bytes
  // [begin, end) of a buffer: accesses to them are retired, and it is itself a live writer of them.
  // host_read() needs no call. Writes that touch each other, with nothing told between them, are
  // one: a program may fill a buffer by many small copies.
  void host_write(BufferId buffer, uint64_t begin, uint64_t end);
  // settle() says that nothing follows that the last write could be one with: the observer is told
  // of it. So does every other call that changes anything.
  void settle();

  // host_dependences() are the host writes, counted from 1, that the last launch depends on, in
  // ascending order. The driver orders them; they count in no figure of launches. Valid until the
  // next launch.
  std::span<const HostDependence> host_dependences() const;

  const EdgeTable& edge_table(EdgeTableId id) const;

  using Counters = TrackerCounters;
  const Counters& counters() const;

  // effort() is what all launches have cost so far, in steps of some tens of nanoseconds. It is
  // counted, not measured, so that it is the same in every run.
  uint64_t effort() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Observer hears, in order, what the tracker was told and what it found. Default: nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  // note() is a buffer, a footprint, an edge table, a DRO, a host write or a warning.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps the record
  virtual void note(Record) {}
  // on_launch() comes once for each tracked launch, after whatever it made new.
  virtual void on_launch(const LaunchEntry&, InternedId, std::span<const Dependence>) {}
  // on_given_up() comes in its place where the launch is treated as an opaque one.
  virtual void on_given_up(const LaunchEntry&, InternedId) {}
  // on_row() comes in the place of on_launch() of each launch of a row that was repeated.
  virtual void on_row(const LaunchRow&, LaunchNumber /*first*/) {}
  virtual void on_opaque_launch(LaunchNumber, const std::string& /*reason*/) {}
};

// WarningLog logs warnings, for runs without a journal.
class WarningLog : public Observer {
 public:
  void note(Record record) override {
    if (const auto* warning = std::get_if<WarningRecord>(&record)) {
      log::warning("{}", warning->text);
    }
  }
};

}  // namespace sluice::dro
