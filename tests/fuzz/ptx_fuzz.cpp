// libFuzzer target of the PTX front end: whatever bytes come, it answers with a module or an error,
// and a module that it prints reads back as the same module, as does one that it links.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/scratch_file.hpp"
#include "ptx/link.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace {

using sluice::fuzz::fail;

// Two units of the same text: names that are visible meet, all others stay apart.
void check_link(const sluice::ptx::Module& module) {
  const auto linked =
      sluice::ptx::link_units({{"a", module}, {"b", module}}, [](auto) { return true; });
  if (!linked) {
    if (linked.error().line().empty()) fail("an error says nothing", sluice::ptx::print(module));
    return;
  }
  const std::string printed = sluice::ptx::print(*linked);
  const auto again = sluice::ptx::parse(printed);
  if (!again) fail(again.error().line().c_str(), printed);
}

void check_text(std::string_view text) {
  const auto module = sluice::ptx::parse(text);
  if (!module) {
    if (module.error().line().empty()) fail("an error says nothing", std::string(text));
    return;
  }
  const std::string printed = sluice::ptx::print(*module);
  const auto again = sluice::ptx::parse(printed);
  if (!again) fail(again.error().line().c_str(), printed);
  if (sluice::ptx::print(*again) != printed) fail("printing twice gives two texts", printed);
  check_link(*module);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
