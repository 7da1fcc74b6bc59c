#include "dro/recorded/replay.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dro/journal/journal_reader.hpp"
#include "dro/rule/tracker.hpp"

namespace sluice::dro {
namespace {

// Recorder writes down, as the journal would, what the tracker hears and finds.
class Recorder : public Observer {
 public:
  std::vector<std::string> texts;
  LaunchDetails details;  // of the launch being replayed

  void on_buffer_created(BufferId buffer, uint64_t bytes) override {
    texts.push_back(buffer_text(buffer, bytes));
  }
  void on_buffer_destroyed(BufferId buffer) override { texts.push_back(free_text(buffer)); }
  void on_footprint(FootprintId id, const analysis::Footprint& footprint) override {
    texts.push_back(footprint_text(id, footprint));
  }
  void on_edge_table(EdgeTableId id, const EdgeTable& table) override {
    texts.push_back(edge_table_text(id, table));
  }
  void on_dro(const Dro& dro) override { texts.push_back(dro_text(dro)); }
  void on_launch(const LaunchEntry& entry, InternedId interned,
                 std::span<const Dependence> dependences) override {
    LaunchRecord record{entry.number,
                        details,
                        entry.footprint,
                        interned,
                        {entry.arguments.begin(), entry.arguments.end()},
                        {}};
    for (const Dependence& dependence : dependences) {
      record.dependences.emplace_back(dependence.master, dependence.dro->id);
    }
    texts.push_back(launch_text(record));
  }
  void on_opaque_launch(LaunchNumber number, const std::string&) override {
    texts.push_back(launch_text({number, details, std::nullopt, 0, {}, {}}));
  }
  void on_host_write(BufferId buffer, uint64_t begin, uint64_t end) override {
    texts.push_back(host_write_text(buffer, begin, end));
  }
};

// excerpt() is `text` around the place where it differs.
std::string excerpt(const std::string& text, size_t place) {
  constexpr size_t before = 60, length = 160;
  const size_t begin = place > before ? place - before : 0;
  std::string result = begin > 0 ? "..." : "";
  result += text.substr(begin, length);
  return begin + length < text.size() ? result + "..." : result;
}

std::string difference_of(const JournalRecord& record, const std::string& recomputed) {
  const auto [here, there] =
      std::mismatch(record.text.begin(), record.text.end(), recomputed.begin(), recomputed.end());
  const auto place = static_cast<size_t>(here - record.text.begin());
  return fmt::format("{}: the journal says {}; recomputing gives {}", record.where,
                     excerpt(record.text, place), excerpt(recomputed, place));
}

// Replayer feeds records to a tracker. What the tracker finds is journalled before the input that
// made it find it, so found records wait in `pending_` for that input.
class Replayer {
 public:
  explicit Replayer(Rule rule) : tracker_(rule, &recorder_) {}

  // take() returns the first difference, or empty text.
  Result<std::string> take(JournalRecord record);
  uint64_t compared() const { return compared_; }

 private:
  Status feed(const JournalRecord& record);
  Status feed_footprint(const JournalRecord& record);
  Status feed_launch(const JournalRecord& record);
  Status feed_memory(const JournalRecord& record);
  Status check_launch(const JournalRecord& record, const LaunchRecord& launch) const;
  std::string compare();

  Recorder recorder_;
  DependenceTracker tracker_;
  std::vector<JournalRecord> pending_;
  std::vector<analysis::Footprint> footprints_;
  std::unordered_map<BufferId, uint64_t> buffers_;
  LaunchNumber last_launch_ = 0;
  uint64_t compared_ = 0;
};

Result<std::string> Replayer::take(JournalRecord record) {
  // Words for people, and what only a run on a device can find.
  if (record.kind == "warning" || record.kind == "check" || record.kind == "tasks") {
    return std::string();
  }
  pending_.push_back(std::move(record));
  const std::string& kind = pending_.back().kind;
  if (kind == "edges" || kind == "dro") return std::string();
  recorder_.texts.clear();
  const Status fed = feed(pending_.back());
  if (!fed) return tl::unexpected(fed.error());
  return compare();
}

std::string Replayer::compare() {
  const size_t both = std::min(pending_.size(), recorder_.texts.size());
  for (size_t i = 0; i < both; ++i) {
    if (pending_[i].text != recorder_.texts[i]) {
      return difference_of(pending_[i], recorder_.texts[i]);
    }
  }
  if (pending_.size() > both) {
    return pending_[both].where + ": the journal has this record; recomputing does not give it";
  }
  if (recorder_.texts.size() > both) {
    return fmt::format("{}: recomputing gives more: {}", pending_.back().where,
                       excerpt(recorder_.texts[both], 0));
  }
  compared_ += both;
  pending_.clear();
  return {};
}

Status Replayer::feed(const JournalRecord& record) {
  if (record.kind == "footprint") return feed_footprint(record);
  if (record.kind == "launch") return feed_launch(record);
  if (record.kind == "buffer" || record.kind == "free" || record.kind == "host_write") {
    return feed_memory(record);
  }
  return invalid_input("no record of this kind is known: " + record.kind, record.where);
}

Status Replayer::feed_footprint(const JournalRecord& record) {
  auto footprint = footprint_of(record);
  if (!footprint) return tl::unexpected(footprint.error());
  const auto added = tracker_.add_footprint(footprint->second);
  if (!added) return invalid_input(added.error().line(), record.where);
  if (*added == footprints_.size()) footprints_.push_back(std::move(footprint->second));
  return {};
}

// check_launch() refuses what only a changed journal can say; the tracker takes it as given.
Status Replayer::check_launch(const JournalRecord& record, const LaunchRecord& launch) const {
  if (launch.number <= last_launch_) {
    return invalid_input("launch numbers do not ascend", record.where);
  }
  if (!launch.footprint) return {};
  if (*launch.footprint >= footprints_.size()) {
    return invalid_input("the launch names a footprint that is not there", record.where);
  }
  const analysis::Footprint& footprint = footprints_[*launch.footprint];
  if (launch.arguments.size() != footprint.arguments.size()) {
    return invalid_input("the launch has not as many arguments as its footprint", record.where);
  }
  if (launch.details.grid != footprint.shape.grid ||
      launch.details.block != footprint.shape.block) {
    return invalid_input("the launch has not the grid and block of its footprint", record.where);
  }
  for (const BoundArgument& argument : launch.arguments) {
    if (argument.buffer != 0 && buffers_.count(argument.buffer) == 0) {
      return invalid_input("an argument points into a buffer that is not there", record.where);
    }
  }
  return {};
}

Status Replayer::feed_launch(const JournalRecord& record) {
  const auto launch = launch_of(record);
  if (!launch) return tl::unexpected(launch.error());
  const Status checked = check_launch(record, *launch);
  if (!checked) return checked;
  last_launch_ = launch->number;
  recorder_.details = launch->details;
  if (!launch->footprint) {
    tracker_.opaque_launch(launch->number, launch->details.passed_through);
    return {};
  }
  std::vector<Dependence> dependences;
  tracker_.launch({launch->number, *launch->footprint, launch->arguments}, dependences);
  return {};
}

Status Replayer::feed_memory(const JournalRecord& record) {
  const auto buffer = number_in(record, record.kind == "host_write" ? "buffer" : "id");
  if (!buffer) return tl::unexpected(buffer.error());
  const bool known = buffers_.count(*buffer) != 0;
  if (known == (record.kind == "buffer") || *buffer == 0) {
    return invalid_input(known ? "there is a buffer of this number" : "there is no such buffer",
                         record.where);
  }
  if (record.kind == "buffer") {
    const auto bytes = number_in(record, "bytes");
    if (!bytes) return tl::unexpected(bytes.error());
    buffers_[*buffer] = *bytes;
    tracker_.buffer_created(*buffer, *bytes);
  } else if (record.kind == "free") {
    buffers_.erase(*buffer);
    tracker_.buffer_destroyed(*buffer);
  } else {
    const auto begin = number_in(record, "begin");
    const auto end = number_in(record, "end");
    if (!begin || !end) return tl::unexpected(begin ? end.error() : begin.error());
    tracker_.host_write(*buffer, *begin, *end);
  }
  return {};
}

}  // namespace

Result<ReplayResult> replay(const std::string& path) {
  auto reader = JournalReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  Replayer replayer(reader->header().rule);
  ReplayResult result;
  while (result.identical()) {
    auto record = reader->next();
    if (!record) return tl::unexpected(record.error());
    if (!*record) break;
    auto difference = replayer.take(std::move(**record));
    if (!difference) return tl::unexpected(difference.error());
    result.difference = std::move(*difference);
  }
  result.note = reader->note();
  result.records = replayer.compared();
  return result;
}

}  // namespace sluice::dro
