#include "dro/recorded/summary.hpp"

#include <utility>

#include "dro/journal/journal_reader.hpp"

namespace sluice::dro {
namespace {

// Summariser adds up records in the order of the journal.
class Summariser {
 public:
  explicit Summariser(JournalSummary& summary) : summary_(summary) {}

  // add() leaves out what has no part in the summary.
  Status add(const JournalRecord& record) {
    return std::visit([&](const auto& kind) { return add(kind, record.where); }, record.value);
  }

 private:
  Status add(const auto&, const std::string&) { return {}; }
  Status add(const BufferRecord& record, const std::string&) {
    summary_.buffers[record.id] = record.bytes;
    return {};
  }
  Status add(const FootprintRecord&, const std::string&) {
    ++summary_.footprints;
    return {};
  }
  Status add(const WarningRecord& record, const std::string&) {
    summary_.warnings.push_back(record.text);
    return {};
  }
  Status add(const CheckRecord& record, const std::string&) {
    summary_.checks.push_back(record);
    return {};
  }
  Status add(const EdgesRecord& record, const std::string&) {
    tables_.push_back({form_name(record.table), record.table.edge_count});
    ++summary_.edge_tables;
    return {};
  }
  Status add(const DroRecord& record, const std::string& where);
  Status add(const LaunchRecord& record, const std::string& where);
  Status add_uses(LaunchSummary& launch, const std::string& where);

  struct Table {
    std::string_view form;
    uint64_t edges = 0;
  };
  JournalSummary& summary_;
  std::vector<Table> tables_;
};

Status Summariser::add(const DroRecord& record, const std::string& where) {
  const Dro& dro = record.dro;
  if (dro.edges >= tables_.size() || dro.id != summary_.dros.size()) {
    return invalid_input("the record names what is not there", where);
  }
  DroSummary& added = summary_.dros.emplace_back();
  added.form = tables_[dro.edges].form;
  added.edges = tables_[dro.edges].edges;
  added.dro = dro;
  return {};
}

Status Summariser::add_uses(LaunchSummary& launch, const std::string& where) {
  for (const auto& [master, id] : launch.record.dependences) {
    // Launches stand at their number less one, unless the journal was changed.
    const bool known = id < summary_.dros.size() && master > 0 &&
                       master <= summary_.launches.size() &&
                       summary_.launches[master - 1].record.number == master;
    if (!known) return invalid_input("the record names what is not there", where);
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

Status Summariser::add(const LaunchRecord& record, const std::string& where) {
  LaunchSummary launch{record, 0};
  const Status used = add_uses(launch, where);
  if (!used) return used;
  if (!record.is_opaque()) ++summary_.tracked;
  if (record.footprint) {
    summary_.interned = std::max<uint64_t>(summary_.interned, uint64_t{record.interned} + 1);
  }
  const std::string& reason = record.details.passed_through;
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

Result<JournalSummary> summarise(const std::string& path, const RecordUser& also) {
  auto reader = JournalReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  JournalSummary summary;
  summary.program = reader->header().program;
  summary.rule = reader->header().rule;
  Summariser summariser(summary);
  const Status read = reader->each([&](const JournalRecord& record) {
    const Status added = summariser.add(record);
    return added && also ? also(record, summary) : added;
  });
  summary.end.is_damaged = reader->is_damaged();
  if (!read && !summary.end.is_damaged) return tl::unexpected(read.error());
  summary.end.note = read ? reader->note() : read.error().line() + "; what follows is left out";
  return summary;
}

}  // namespace sluice::dro
