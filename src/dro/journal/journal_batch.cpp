#include "dro/journal/journal_batch.hpp"

#include <string_view>

#include <fmt/format.h>

namespace sluice::dro {
namespace {

// A record's first word says what follows: a launch with so many arguments and dependences; or a
// repeat launch with so many dependences; or that the next record that is no launch comes here.
constexpr uint64_t other_record = UINT64_MAX;
constexpr uint64_t repeat_record = uint64_t{1} << 63U;

uint64_t pair_of(uint32_t low, uint32_t high) {
  return low | uint64_t{high} << 32U;
}
uint32_t low_of(uint64_t pair) {
  return static_cast<uint32_t>(pair);
}
uint32_t high_of(uint64_t pair) {
  return static_cast<uint32_t>(pair >> 32U);
}

}  // namespace

void JournalBatch::add(Record record) {
  uint64_t* word = append(2);
  *word++ = other_record;
  *word++ = records_.size();
  records_.push_back(std::move(record));
}

void JournalBatch::settle() {
  words_.insert(words_.end(), recent_.begin(), recent_.begin() + recent_count_);
  recent_count_ = 0;
}

uint64_t* JournalBatch::append_many(size_t words) {
  settle();
  if (words <= recent_.size()) return append(words);
  const size_t begin = words_.size();
  words_.resize(begin + words);
  return words_.data() + begin;
}

void JournalBatch::add_launch(const LaunchHead& head, std::span<const BoundArgument> arguments,
                              std::span<const Dependence> dependences) {
  // The count of dependences leaves the topmost bit to repeat_record.
  const uint64_t fixed[] = {
      pair_of(static_cast<uint32_t>(arguments.size()), static_cast<uint32_t>(dependences.size())),
      head.number,
      pair_of(head.kernel, head.reason),
      pair_of(head.grid.x, head.grid.y),
      pair_of(head.grid.z, head.block.x),
      pair_of(head.block.y, head.block.z),
      head.stream,
      head.tracked ? 1U : 0U,
      pair_of(head.footprint, head.interned)};
  uint64_t* word = append(std::size(fixed) + 2 * (arguments.size() + dependences.size()));
  word = std::copy(std::begin(fixed), std::end(fixed), word);
  for (const BoundArgument& argument : arguments) {
    *word++ = argument.buffer;
    *word++ = argument.offset;
  }
  for (const Dependence& dependence : dependences) {
    *word++ = dependence.master;
    *word++ = dependence.dro->id;
  }
}

bool JournalBatch::add_repeat(LaunchNumber number, InternedId interned,
                              std::span<const Dependence> dependences) {
  for (const Dependence& dependence : dependences) {
    if (number - dependence.master > UINT32_MAX) return false;
  }
  uint64_t* word = append(2 + dependences.size());
  *word++ = repeat_record | pair_of(interned, static_cast<uint32_t>(dependences.size()));
  *word++ = number;
  for (const Dependence& dependence : dependences)
    *word++ = pair_of(static_cast<uint32_t>(number - dependence.master), dependence.dro->id);
  return true;
}

LaunchRecord JournalBatch::read_launch(size_t& at, const std::vector<std::string>& texts) const {
  const auto next = [&] { return words_[at++]; };
  const uint64_t counts = next();
  LaunchRecord launch;
  launch.number = next();
  const uint64_t named = next();
  launch.details.kernel = texts[low_of(named)];
  launch.details.passed_through = texts[high_of(named)];
  const uint64_t first = next(), second = next(), third = next();
  launch.details.grid = {low_of(first), high_of(first), low_of(second)};
  launch.details.block = {high_of(second), low_of(third), high_of(third)};
  launch.details.stream = next();
  const bool tracked = next() != 0;
  const uint64_t ids = next();
  if (tracked) launch.footprint = low_of(ids);
  launch.interned = high_of(ids);
  for (uint32_t i = 0; i < low_of(counts); ++i) {
    const uint64_t buffer = next();
    launch.arguments.push_back({buffer, next()});
  }
  for (uint32_t i = 0; i < high_of(counts); ++i) {
    const uint64_t master = next();
    launch.dependences.emplace_back(master, static_cast<DroId>(next()));
  }
  return launch;
}

namespace {

constexpr std::string_view launch_begin = "{\"record\":\"launch\",\"number\":";
constexpr std::string_view dependences_begin = "\"dependences\":[";

void append_number(std::string& text, uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

// middle_of() is what stands between a tracked launch's number and its dependences.
std::string middle_of(const std::string& line, LaunchNumber number) {
  const size_t begin = launch_begin.size() + fmt::format_int(number).size();
  const size_t end = line.rfind(dependences_begin) + dependences_begin.size();
  return line.substr(begin, end - begin);
}

}  // namespace

// repeat_line() is what launch_text() gives for the whole launch.
void JournalBatch::repeat_line(size_t& at, const LaunchTexts& texts, std::string& line) const {
  const uint64_t counts = words_[at++] & ~repeat_record;
  const LaunchNumber number = words_[at++];
  line = launch_begin;
  append_number(line, number);
  line += texts.middles[low_of(counts)];
  for (uint32_t i = 0; i < high_of(counts); ++i) {
    const uint64_t dependence = words_[at++];
    line += i == 0 ? "[" : ",[";
    append_number(line, number - low_of(dependence));
    line += ',';
    append_number(line, high_of(dependence));
    line += ']';
  }
  line += "]}";
}

void JournalBatch::next_line(size_t& at, LaunchTexts& texts, std::string& line) const {
  if (words_[at] == other_record) {
    const Record& record = records_[words_[at + 1]];
    at += 2;
    return next_record(record, texts, line);
  }
  if ((words_[at] & repeat_record) != 0) return repeat_line(at, texts, line);
  const LaunchRecord launch = read_launch(at, texts.texts);
  line = launch_text(launch);
  if (!launch.footprint || launch.interned >= most_repeated) return;
  if (texts.middles.size() <= launch.interned) texts.middles.resize(launch.interned + 1);
  texts.middles[launch.interned] = middle_of(line, launch.number);
}

// next_record() leaves the line empty where the record was a text.
void JournalBatch::next_record(const Record& record, LaunchTexts& texts, std::string& line) const {
  line.clear();
  if (const auto* source = std::get_if<Line>(&record)) {
    line = source->text;
  } else if (const auto* footprint = std::get_if<Footprint>(&record)) {
    line = footprint_text(footprint->id, footprint->footprint);
  } else if (const auto* edges = std::get_if<Edges>(&record)) {
    line = edge_table_text(edges->id, edges->table);
  } else if (const auto* tasks = std::get_if<TaskRecord>(&record)) {
    line = task_text(*tasks);
  } else {
    texts.texts.push_back(std::get<Text>(record).text);
  }
}

}  // namespace sluice::dro
