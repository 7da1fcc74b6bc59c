#include "megakernel/cuda/rewrite/block_loop.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "megakernel/cuda/rewrite/statements.hpp"
#include "megakernel/cuda/worker_memory.h"

namespace sluice::megakernel {
namespace {

// A group's first block is as many further as its number says.
constexpr const char* open_group = R"(
.reg .b32 %sl_extent, %sl_last, %sl_number, %sl_step;
.reg .pred %sl_on;
mov.u32 %sl_number, %tid.x;
{divide}
ld.shared.u32 %sl_step, [{pool}+{at_once}];
ld.shared.u32 %sl_last, [{pool}+{more}];
setp.ge.u32 %sl_on, %sl_number, %sl_step;
@%sl_on ret;
setp.gt.u32 %sl_on, %sl_number, %sl_last;
@%sl_on ret;
mov.u32 %sl_step, %sl_number;
$sluice_further:
add.u32 %sl_ctaid_x, %sl_ctaid_x, %sl_step;
ld.shared.u32 %sl_extent, [{pool}+{width}];
$sluice_row:
setp.lt.u32 %sl_on, %sl_ctaid_x, %sl_extent;
@%sl_on bra {code};
sub.u32 %sl_ctaid_x, %sl_ctaid_x, %sl_extent;
add.u32 %sl_ctaid_y, %sl_ctaid_y, 1;
ld.shared.u32 %sl_step, [{pool}+{height}];
setp.ne.u32 %sl_on, %sl_ctaid_y, %sl_step;
@%sl_on bra $sluice_row;
mov.u32 %sl_ctaid_y, 0;
add.u32 %sl_ctaid_z, %sl_ctaid_z, 1;
bra $sluice_row;
{code}:
)";
constexpr const char* close_group = R"(
{end}:
ld.shared.u32 %sl_step, [{pool}+{at_once}];
ld.shared.u32 %sl_last, [{pool}+{more}];
add.u32 %sl_number, %sl_number, %sl_step;
setp.gt.u32 %sl_on, %sl_number, %sl_last;
@%sl_on ret;
{meet}
bra $sluice_further;
)";

constexpr const char* open_one = R"(
.reg .b32 %sl_extent, %sl_last;
.reg .pred %sl_on;
ld.shared.u32 %sl_last, [{pool}+{more}];
{code}:
)";
constexpr const char* close_one = R"(
{end}:
setp.eq.u32 %sl_on, %sl_last, 0;
@%sl_on ret;
sub.u32 %sl_last, %sl_last, 1;
add.u32 %sl_ctaid_x, %sl_ctaid_x, 1;
ld.shared.u32 %sl_extent, [{pool}+{width}];
setp.ne.u32 %sl_on, %sl_ctaid_x, %sl_extent;
@%sl_on bra {code};
mov.u32 %sl_ctaid_x, 0;
add.u32 %sl_ctaid_y, %sl_ctaid_y, 1;
ld.shared.u32 %sl_extent, [{pool}+{height}];
setp.ne.u32 %sl_on, %sl_ctaid_y, %sl_extent;
@%sl_on bra {code};
mov.u32 %sl_ctaid_y, 0;
add.u32 %sl_ctaid_z, %sl_ctaid_z, 1;
bra {code};
)";

std::string written(const char* text, uint32_t group_threads, const std::string& meet) {
  return fmt::format(
      fmt::runtime(text), fmt::arg("pool", SLUICE_POOL),
      fmt::arg("divide", divide("%sl_number", group_threads)),
      fmt::arg("at_once", +SLUICE_CONTROL_AT_ONCE), fmt::arg("more", SLUICE_CONTROL_RUN + 12),
      fmt::arg("width", +SLUICE_CONTROL_NCTAID), fmt::arg("height", SLUICE_CONTROL_NCTAID + 4),
      fmt::arg("code", block_code), fmt::arg("end", block_end), fmt::arg("meet", meet));
}

}  // namespace

std::string place_parameters() {
  return ".param .b32 sluice_ctaid_x, .param .b32 sluice_ctaid_y, .param .b32 sluice_ctaid_z";
}

std::string read_place() {
  std::string text;
  for (const char axis : {'x', 'y', 'z'}) {
    text += fmt::format(
        ".reg .b32 %sl_ctaid_{0};\nld.param.u32 %sl_ctaid_{0}, [sluice_ctaid_{0}];\n", axis);
  }
  return text;
}

std::string open_blocks(uint32_t group_threads) {
  return written(group_threads == 0 ? open_one : open_group, std::max(1U, group_threads), "");
}

std::string close_blocks(uint32_t group_threads, const std::string& meet) {
  return written(group_threads == 0 ? close_one : close_group, std::max(1U, group_threads), meet);
}

}  // namespace sluice::megakernel
