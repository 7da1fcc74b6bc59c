// What a journal says happened: the figures and tables behind `sluice inspect`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.hpp"
#include "base/result.hpp"
#include "base/terminal/fitted_name.hpp"
#include "dro/journal/journal_reader.hpp"
#include "dro/rule.hpp"

namespace sluice::dro {

// LaunchSummary is a launch with the names that its numbers stand for.
struct LaunchSummary {
  LaunchRecord record;
  uint64_t edges = 0;  // block edges of all its dependences
};

// DroSummary is a DRO with its first use and how often it was used.
struct DroSummary {
  Dro dro;
  LaunchNumber master = 0;  // of the first use
  LaunchNumber slave = 0;
  std::string master_kernel;
  std::string slave_kernel;
  std::string_view form;  // its kind
  uint64_t edges = 0;     // block edges
  uint64_t uses = 0;
};

// KernelPair adds up the dependences of one kernel's launches on another's.
struct KernelPair {
  std::string master;
  std::string slave;
  Hazards hazards;  // of any of its DROs
  uint64_t dros = 0;
  uint64_t dependences = 0;
  uint64_t edges = 0;  // block edges of all its dependences
};

// JournalEnd says how a journal ends.
struct JournalEnd {
  std::string note;  // on one that a crash cut short, or that was damaged; else empty
  bool is_damaged = false;
};

struct JournalSummary {
  std::string program;
  Rule rule = Rule::exact;
  std::vector<LaunchSummary> launches;
  std::vector<DroSummary> dros;
  std::map<std::string, uint64_t> passed_through;  // launches by reason
  std::map<uint64_t, uint64_t> buffers;            // bytes of each buffer there ever was
  std::vector<std::string> warnings;
  std::vector<CheckRecord> checks;  // of the footprint check, one a kernel
  uint64_t tracked = 0;             // launches with a footprint
  uint64_t footprints = 0;
  uint64_t interned = 0;
  uint64_t resolved = 0;  // dependences found
  uint64_t edge_tables = 0;
  uint64_t edges = 0;  // block edges of all dependences found
  JournalEnd end;

  uint64_t footprint_hits() const { return tracked - std::min(tracked, footprints); }
  uint64_t dro_hits() const { return resolved - std::min<uint64_t>(resolved, dros.size()); }
  uint64_t passed_through_count() const;
};

// summarise() reads the journal at `path`, whole or up to a line that was damaged: what follows
// that may name what it said. Errors name the record. `also` is given each record, with the summary
// up to it.
using RecordUser = std::function<Status(const JournalRecord&, const JournalSummary&)>;
Result<JournalSummary> summarise(const std::string& path, const RecordUser& also = {});

// write_summary() is `sluice inspect`: text for people, in whose tables kernels' names are
// shortened so that lines have at most `width` columns where they can. write_summary_json() is one
// object.
void write_summary(const JournalSummary& summary, std::ostream& out, size_t width = usual_width);
void write_summary_json(const JournalSummary& summary, std::ostream& out);

// write_launches() and write_dros() are one line a launch and one a DRO, with names as
// name_in_line() has them; with `json` an object, and names as the driver knows them.
void write_launches(const JournalSummary& summary, bool json, std::ostream& out,
                    size_t width = usual_width);
void write_dros(const JournalSummary& summary, bool json, std::ostream& out,
                size_t width = usual_width);

// kernel_pairs() are in the order of their first DRO.
std::vector<KernelPair> kernel_pairs(const JournalSummary& summary);

// write_pairs() is a line a kernel pair, or with `json` json_of() each.
JsonText json_of(const KernelPair& pair);
void write_pairs(const JournalSummary& summary, bool json, std::ostream& out,
                 size_t width = usual_width);

}  // namespace sluice::dro
