#include "dro/recorded/summary.hpp"

#include <utility>

#include "dro/journal/journal_reader.hpp"

namespace sluice::dro {
namespace {

// Summariser adds up records in the order of the journal.
class Summariser {
 public:
  explicit Summariser(JournalSummary& summary) : summary_(summary) {}

  Status add(const JournalRecord& record);

 private:
  Status add_edges(const JournalRecord& record);
  Status add_dro(const JournalRecord& record);
  Status add_launch(const JournalRecord& record);
  Status add_buffer(const JournalRecord& record);
  Status add_check(const JournalRecord& record);
  Status add_uses(const JournalRecord& record, LaunchSummary& launch);

  JournalSummary& summary_;
  std::vector<EdgeTable> tables_;
};

Status Summariser::add(const JournalRecord& record) {
  if (record.kind == "launch") return add_launch(record);
  if (record.kind == "dro") return add_dro(record);
  if (record.kind == "edges") return add_edges(record);
  if (record.kind == "buffer") return add_buffer(record);
  if (record.kind == "check") return add_check(record);
  if (record.kind == "footprint") ++summary_.footprints;
  if (record.kind == "warning") summary_.warnings.push_back(record.value.value("text", ""));
  return {};
}

Status Summariser::add_edges(const JournalRecord& record) {
  auto edges = edges_of(record);
  if (!edges) return tl::unexpected(edges.error());
  tables_.push_back(std::move(edges->second));
  ++summary_.edge_tables;
  return {};
}

Status Summariser::add_dro(const JournalRecord& record) {
  auto dro = dro_of(record);
  if (!dro) return tl::unexpected(dro.error());
  if (dro->edges >= tables_.size() || dro->id != summary_.dros.size()) {
    return invalid_input("the record names what is not there", record.where);
  }
  DroSummary& added = summary_.dros.emplace_back();
  added.form = tables_[dro->edges].form;
  added.edges = tables_[dro->edges].edge_count;
  added.dro = std::move(*dro);
  return {};
}

Status Summariser::add_buffer(const JournalRecord& record) {
  const auto id = number_in(record, "id");
  const auto bytes = number_in(record, "bytes");
  if (!id || !bytes) return tl::unexpected(id ? bytes.error() : id.error());
  summary_.buffers[*id] = *bytes;
  return {};
}

Status Summariser::add_check(const JournalRecord& record) {
  auto check = check_of(record);
  if (!check) return tl::unexpected(check.error());
  summary_.checks.push_back(std::move(*check));
  return {};
}

Status Summariser::add_uses(const JournalRecord& record, LaunchSummary& launch) {
  for (const auto& [master, id] : launch.record.dependences) {
    // Launches stand at their number less one, unless the journal was changed.
    const bool known = id < summary_.dros.size() && master > 0 &&
                       master <= summary_.launches.size() &&
                       summary_.launches[master - 1].record.number == master;
    if (!known) return invalid_input("the record names what is not there", record.where);
    DroSummary& dro = summary_.dros[id];
    if (dro.uses++ == 0) {
      dro.master = master;
      dro.slave = launch.record.number;
      dro.master_kernel = summary_.launches[master - 1].record.details.kernel;
      dro.slave_kernel = launch.record.details.kernel;
    }
    launch.edges += dro.edges;
  }
  summary_.resolved += launch.record.dependences.size();
  summary_.edges += launch.edges;
  return {};
}

Status Summariser::add_launch(const JournalRecord& record) {
  auto parsed = launch_of(record);
  if (!parsed) return tl::unexpected(parsed.error());
  LaunchSummary launch{std::move(*parsed), 0};
  const Status used = add_uses(record, launch);
  if (!used) return used;
  if (launch.record.footprint) {
    ++summary_.tracked;
    summary_.interned = std::max<uint64_t>(summary_.interned, launch.record.interned + 1);
  }
  const std::string& reason = launch.record.details.passed_through;
  if (!reason.empty()) ++summary_.passed_through[reason];
  summary_.launches.push_back(std::move(launch));
  return {};
}

}  // namespace

uint64_t JournalSummary::passed_through_count() const {
  uint64_t count = 0;
  for (const auto& [reason, launches_of_it] : passed_through)
    count += launches_of_it;
  return count;
}

Result<JournalSummary> summarise(const std::string& path) {
  auto reader = JournalReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  JournalSummary summary;
  summary.program = reader->header().program;
  summary.rule = reader->header().rule;
  Summariser summariser(summary);
  while (true) {
    const auto record = reader->next();
    if (!record) return tl::unexpected(record.error());
    if (!*record) break;
    const Status added = summariser.add(**record);
    if (!added) return tl::unexpected(added.error());
  }
  summary.note = reader->note();
  return summary;
}

}  // namespace sluice::dro
