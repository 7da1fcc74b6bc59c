// libFuzzer target of all that reads journals: whatever stands in lines whose seals are right,
// summary, views and replay answer, or with an error in words.
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "dro/recorded/footprint_classes.hpp"
#include "dro/recorded/replay.hpp"
#include "dro/recorded/summary.hpp"
#include "fuzz/json_lines.hpp"
#include "fuzz/scratch_file.hpp"
#include "tools/view/recorded_run.hpp"

namespace {

using namespace sluice;

template <class T>
void check(const Result<T>& result) {
  if (!result && result.error().line().empty()) fuzz::fail("an error says nothing", "");
}

void write_all(const dro::JournalSummary& summary) {
  std::ostringstream out;
  dro::write_summary(summary, out);
  dro::write_summary_json(summary, out);
  for (const bool json : {false, true}) {
    dro::write_launches(summary, json, out);
    dro::write_dros(summary, json, out);
    dro::write_pairs(summary, json, out);
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate_lines(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static fuzz::ScratchFile file;
  const std::string& path = file.holding(fuzz::sealed({reinterpret_cast<const char*>(data), size}));
  const auto summary = dro::summarise(path);
  check(summary);
  if (summary) write_all(*summary);
  check(tools::read_run(path));
  check(dro::classify_footprints(path));
  check(dro::replay(path));
  return 0;
}
