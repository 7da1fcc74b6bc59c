#include "dro/journal_batch.hpp"

#include <type_traits>

namespace sluice::dro {
namespace {

// A record's first word says what follows: a launch with so many arguments and dependences, or, in
// the place of the first, that the next record that is no launch comes here.
constexpr uint64_t other_record = UINT64_MAX;

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
  words_.push_back(other_record);
  words_.push_back(records_.size());
  records_.push_back(std::move(record));
}

void JournalBatch::add_launch(const LaunchHead& head, std::span<const BoundArgument> arguments,
                              std::span<const Dependence> dependences) {
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
  const size_t begin = words_.size();
  words_.resize(begin + std::size(fixed) + 2 * (arguments.size() + dependences.size()));
  uint64_t* word = std::copy(std::begin(fixed), std::end(fixed), words_.data() + begin);
  for (const BoundArgument& argument : arguments) {
    *word++ = argument.buffer;
    *word++ = argument.offset;
  }
  for (const Dependence& dependence : dependences) {
    *word++ = dependence.master;
    *word++ = dependence.dro->id;
  }
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

// next_line() is empty where the record was a text.
std::string JournalBatch::next_line(size_t& at, std::vector<std::string>& texts) const {
  if (words_[at] != other_record) return launch_text(read_launch(at, texts));
  const Record& record = records_[words_[at + 1]];
  at += 2;
  if (const auto* line = std::get_if<Line>(&record)) return line->text;
  if (const auto* source = std::get_if<Footprint>(&record)) {
    return footprint_text(source->id, source->footprint);
  }
  if (const auto* source = std::get_if<Edges>(&record)) {
    return edge_table_text(source->id, source->table);
  }
  if (const auto* tasks = std::get_if<TaskRecord>(&record)) return task_text(*tasks);
  texts.push_back(std::get<Text>(record).text);
  return {};
}

}  // namespace sluice::dro
