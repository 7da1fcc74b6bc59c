#include "dro/recorded/replay.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dro/journal/journal_reader.hpp"
#include "dro/rule/tracker.hpp"

namespace sluice::dro {
namespace {

Role role_of(const Record& record) {
  return std::visit([](const auto& each) { return each.role; }, record);
}

// Recorder writes down, as the journal would, what the tracker hears and finds.
class Recorder : public Observer {
 public:
  std::vector<std::string> texts;
  LaunchDetails details;  // of the launch being replayed

  void note(Record record) override {
    if (role_of(record) != Role::left_out) texts.push_back(text_of(record));
  }
  void on_launch(const LaunchEntry& entry, InternedId interned,
                 std::span<const Dependence> dependences) override {
    note(record_of(entry, details, interned, dependences));
  }
  void on_given_up(const LaunchEntry& entry, InternedId interned) override {
    note(given_up_record(entry, details, interned));
  }
  void on_opaque_launch(LaunchNumber number, const std::string&) override {
    note(LaunchRecord{number, details, std::nullopt, {}, 0, {}, {}});
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
  // feed() gives an input to the tracker. Each kind of record that is one has its own.
  Status feed(const FootprintRecord& record, const std::string& where);
  Status feed(const LaunchRecord& launch, const std::string& where);
  Status feed(const BufferRecord& record, const std::string& where);
  Status feed(const FreeRecord& record, const std::string& where);
  Status feed(const HostWriteRecord& record, const std::string& where);
  Status check(const LaunchRecord& launch, const std::string& where) const;
  Status check_buffer(BufferId buffer, const std::string& where) const;
  std::string compare();

  Recorder recorder_;
  DependenceTracker tracker_;
  std::vector<JournalRecord> pending_;
  std::vector<analysis::Footprint> footprints_;
  std::unordered_set<BufferId> buffers_;
  LaunchNumber last_launch_ = 0;
  uint64_t compared_ = 0;
};

Result<std::string> Replayer::take(JournalRecord record) {
  const Role role = role_of(record.value);
  if (role == Role::left_out) return std::string();
  pending_.push_back(std::move(record));
  if (role == Role::found) return std::string();
  recorder_.texts.clear();
  const JournalRecord& input = pending_.back();
  const Status fed = std::visit(
      [&]<class Kind>(const Kind& value) -> Status {
        if constexpr (Kind::role == Role::input) return feed(value, input.where);
        return {};
      },
      input.value);
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

Status Replayer::feed(const FootprintRecord& record, const std::string& where) {
  const auto added = tracker_.add_footprint(record.footprint);
  if (!added) return invalid_input(added.error().line(), where);
  if (*added == footprints_.size()) footprints_.push_back(record.footprint);
  return {};
}

// check() refuses what only a changed journal can say; the tracker takes it as given.
Status Replayer::check(const LaunchRecord& launch, const std::string& where) const {
  if (launch.number <= last_launch_) return invalid_input("launch numbers do not ascend", where);
  if (!launch.footprint) return {};
  if (*launch.footprint >= footprints_.size()) {
    return invalid_input("the launch names a footprint that is not there", where);
  }
  const analysis::Footprint& footprint = footprints_[*launch.footprint];
  if (launch.arguments.size() != footprint.arguments.size()) {
    return invalid_input("the launch has not as many arguments as its footprint", where);
  }
  if (launch.details.grid != footprint.shape.grid ||
      launch.details.block != footprint.shape.block) {
    return invalid_input("the launch has not the grid and block of its footprint", where);
  }
  for (const BoundArgument& argument : launch.arguments) {
    if (argument.buffer != 0 && buffers_.count(argument.buffer) == 0) {
      return invalid_input("an argument points into a buffer that is not there", where);
    }
  }
  return {};
}

Status Replayer::feed(const LaunchRecord& launch, const std::string& where) {
  const Status checked = check(launch, where);
  if (!checked) return checked;
  last_launch_ = launch.number;
  recorder_.details = launch.details;
  if (!launch.footprint) {
    tracker_.opaque_launch(launch.number, launch.details.passed_through);
    return {};
  }
  std::vector<Dependence> dependences;
  tracker_.launch({launch.number, *launch.footprint, launch.arguments}, dependences);
  return {};
}

Status Replayer::feed(const BufferRecord& record, const std::string& where) {
  if (record.id == 0 || !buffers_.insert(record.id).second) {
    return invalid_input("there is a buffer of this number", where);
  }
  tracker_.buffer_created(record.id, record.bytes);
  return {};
}

Status Replayer::check_buffer(BufferId buffer, const std::string& where) const {
  if (buffers_.count(buffer) != 0) return {};
  return invalid_input("there is no such buffer", where);
}

Status Replayer::feed(const FreeRecord& record, const std::string& where) {
  const Status known = check_buffer(record.id, where);
  if (!known) return known;
  buffers_.erase(record.id);
  tracker_.buffer_destroyed(record.id);
  return {};
}

Status Replayer::feed(const HostWriteRecord& record, const std::string& where) {
  const Status known = check_buffer(record.buffer, where);
  if (!known) return known;
  tracker_.host_write(record.buffer, record.begin, record.end);
  tracker_.settle();
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
