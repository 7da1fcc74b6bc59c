#include "dro/journal/journal_batch.hpp"

#include <string_view>

#include <fmt/format.h>

namespace sluice::dro {
namespace {

// A first word says what comes: the next record, or a repeat launch of this interned id and with so
// many dependences. Its number follows, and for each dependence how far back its master lies, and
// its DRO.
constexpr uint64_t a_record = UINT64_MAX;

uint64_t pair_of(uint32_t low, uint32_t high) {
  return low | uint64_t{high} << 32U;
}
uint32_t low_of(uint64_t pair) {
  return static_cast<uint32_t>(pair);
}
uint32_t high_of(uint64_t pair) {
  return static_cast<uint32_t>(pair >> 32U);
}

constexpr std::string_view launch_begin = "{\"record\":\"launch\",\"number\":";
constexpr std::string_view dependences_begin = "\"dependences\":[";

void append_number(std::string& text, uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

// keep_middle() keeps what stands between a tracked launch's number and its dependences.
void keep_middle(const Record& record, const std::string& line, LaunchMiddles& middles) {
  const auto* launch = std::get_if<LaunchRecord>(&record);
  if (launch == nullptr || !launch->footprint || launch->interned >= JournalBatch::most_repeated) {
    return;
  }
  const size_t begin = launch_begin.size() + fmt::format_int(launch->number).size();
  const size_t end = line.rfind(dependences_begin) + dependences_begin.size();
  if (middles.size() <= launch->interned) middles.resize(launch->interned + 1);
  middles[launch->interned] = line.substr(begin, end - begin);
}

}  // namespace

void JournalBatch::add(Record record) {
  uint64_t* word = append(2);
  *word++ = a_record;
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

bool JournalBatch::add_repeat(LaunchNumber number, InternedId interned,
                              std::span<const Dependence> dependences) {
  for (const Dependence& dependence : dependences) {
    if (number - dependence.master > UINT32_MAX) return false;
  }
  uint64_t* word = append(2 + dependences.size());
  *word++ = pair_of(interned, static_cast<uint32_t>(dependences.size()));
  *word++ = number;
  for (const Dependence& dependence : dependences)
    *word++ = pair_of(static_cast<uint32_t>(number - dependence.master), dependence.dro->id);
  return true;
}

bool JournalBatch::can_add(const LaunchRow& row, LaunchNumber first) {
  const LaunchNumber last = first + row.size();
  return row.last_interned() < most_repeated &&
         (last <= UINT32_MAX || row.first_fixed() > last - UINT32_MAX);
}

void JournalBatch::add(const LaunchRow& row, LaunchNumber first) {
  const std::span<const RowDependence> dependences = row.dependences();
  size_t at = 0;
  for (const RowLaunch& launch : row.launches()) {
    uint64_t* word = append(2 + launch.dependence_count);
    *word++ = pair_of(launch.interned, launch.dependence_count);
    *word++ = first;
    for (const size_t end = at + launch.dependence_count; at < end; ++at) {
      const uint64_t back = first - dependences[at].master_of(first);
      *word++ = pair_of(static_cast<uint32_t>(back), dependences[at].dro);
    }
    ++first;
  }
}

// A repeat launch's line is what text_of() gives for the whole launch.
void JournalBatch::next_line(size_t& at, LaunchMiddles& middles, std::string& line) const {
  const uint64_t counts = words_[at++];
  if (counts == a_record) {
    const Record& record = records_[words_[at++]];
    line = text_of(record);
    return keep_middle(record, line, middles);
  }
  const LaunchNumber number = words_[at++];
  line = launch_begin;
  append_number(line, number);
  line += middles[low_of(counts)];
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

}  // namespace sluice::dro
