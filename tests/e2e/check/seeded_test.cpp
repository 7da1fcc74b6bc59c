// Each seeded fault is told with its kind, its bytes, its block and its line; of its right twin
// nothing is.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Seeded {
  const char* program;
  const char* name;
  const char* line;               // the remark at its end, in the program's text; null: not told
  std::vector<const char*> told;  // none: both twins are right
};

void PrintTo(const Seeded& seeded, std::ostream* out) {
  *out << seeded.program << " " << seeded.name;
}

// options_of() looks for the program's own kind beside all others.
std::vector<std::string> options_of(const Seeded& seeded) {
  if (seeded.program == std::string("host")) return {"--only", "races,memory,init,host"};
  const bool is_threads =
      seeded.program == std::string("threads") || seeded.program == std::string("async_copies");
  if (is_threads) return {"--only", "races,memory,threads"};
  if (seeded.program == std::string("accesses"))
    return {"--only", seeded.name == std::string("leak") ? "accesses,leaks" : "accesses"};
  if (seeded.program == std::string("errors")) return {"--only", "errors"};
  if (seeded.program == std::string("traced_initialisation")) return {"--only", "accesses"};
  if (seeded.program == std::string("repeated")) return {"--only", "threads,accesses"};
  return {};
}

class SeededFaults : public ::testing::TestWithParam<Seeded> {};

TEST_P(SeededFaults, AreTold) {
  const Seeded& seeded_case = GetParam();
  const bool is_right = seeded_case.told.empty();
  const Outcome outcome =
      check(seeded(seeded_case.program, seeded_case.name, false), options_of(seeded_case));
  EXPECT_EQ(outcome.status, is_right ? 0 : 87) << outcome.errors;
  for (const char* told : seeded_case.told)
    EXPECT_THAT(outcome.errors, HasSubstr(told));
  if (is_right) return;
  EXPECT_THAT(outcome.errors, HasSubstr(": 1 fault"));
  if (seeded_case.line == nullptr) return;
  const std::string source = std::string(seeded_case.program) + ".cu";
  const std::string remark = std::string("// ") + seeded_case.line + "\n";
  EXPECT_THAT(outcome.errors, HasSubstr(place(source, remark)));
}

TEST_P(SeededFaults, AreNotSeenInTheRightTwin) {
  const Outcome outcome =
      check(seeded(GetParam().program, GetParam().name, true), options_of(GetParam()));
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("no error"));
  for (const char* kind : {"race", "out of bounds", "never written", "fault;", "after free",
                           "misaligned", " free:", "leak", "ignored"})
    EXPECT_THAT(outcome.errors, Not(HasSubstr(kind)));
}

TEST(Explain, SaysWhetherBlocksThatMeetWriteTheSameValues) {
  const auto text_of = [](const char* kernel) {
    return run({build_path("bin/sluice"), "explain", build_path("tests/e2e/check/block_races"),
                kernel, "--grid", "4", "--block", "30"})
        .output;
  };
  EXPECT_THAT(text_of("count_plainly"), HasSubstr("Blocks may write different values"));
  EXPECT_THAT(text_of("same_table"), HasSubstr("The values that they write to the same place are"));
  EXPECT_THAT(text_of("strided"), Not(HasSubstr("the same place")));
}

INSTANTIATE_TEST_SUITE_P(
    BlockRaces, SeededFaults,
    ::testing::Values(
        Seeded{"block_races",
               "previous",
               "add-previous",
               {"race: bytes", "of buffer 1 (4000 bytes); one block reads what another"}},
        Seeded{"block_races", "in-place-stencil", "smooth", {"one block reads what another"}},
        Seeded{"block_races",
               "lost-updates",
               "count-plainly",
               {"bytes 0 to 239 of buffer 1 (240 bytes); two blocks of one launch write them"}},
        Seeded{"block_races", "totals", "total", {"bytes 0 to 3 of buffer 2", "block (1) writes"}},
        Seeded{"block_races",
               "overlapping-tiles",
               "tiles",
               {"bytes 128 to 131 of buffer 2", "block (0) writes", "block (1) writes"}},
        Seeded{"block_races", "in-place-transpose", "transpose", {"one block reads what another"}},
        Seeded{"block_races", "flag", "set-flag", {"bytes 0 to 3", "not the same values"}},
        Seeded{"block_races", "forgotten-row", "rows", {"of buffer 1 (1680 bytes); two blocks"}},
        Seeded{"block_races",
               "overlapping-arguments",
               "scale",
               {"bytes 200 to 203 of buffer 1", "block (0) writes", "block (1) reads"}},
        Seeded{"block_races", "variable", "choose-any", {"writes through variable winner"}},
        Seeded{"block_races", "volatile-hint", nullptr, {}},
        Seeded{"block_races", "table", nullptr, {}},
        Seeded{"block_races", "grid-stride", nullptr, {}}));

INSTANTIATE_TEST_SUITE_P(
    Bounds, SeededFaults,
    ::testing::Values(
        Seeded{"bounds",
               "no-guard",
               "fill",
               {"fill writes bytes 400 to 511 of buffer 1, which has 400", "block (1) is the"}},
        Seeded{"bounds", "off-by-one", "fill-to", {"bytes 400 to 403", "block (3) is the first"}},
        Seeded{"bounds", "reads-one-more", "difference", {"reads bytes 600 to 603"}},
        Seeded{"bounds", "reads-one-less", "before", {"reads bytes up to 4 before buffer 1"}},
        Seeded{"bounds", "bytes-for-elements", "fill", {"bytes 90 to 359", "which has 90"}},
        Seeded{"bounds", "width-and-height", "grey", {"writes bytes 600 to 619"}},
        Seeded{"bounds", "stream-ordered", "fill", {"bytes 768 to 799", "which has 768"}},
        Seeded{"bounds", "from-the-middle", "fill", {"bytes 480 to 559", "block (1)"}},
        Seeded{"bounds", "variable", "into-slots", {"bytes 80 to 87", "variable slots"}},
        Seeded{"bounds", "last-particle", "cells", {"bytes 796 to 799", "which has 796"}}));

INSTANTIATE_TEST_SUITE_P(
    Host, SeededFaults,
    ::testing::Values(
        Seeded{"host",
               "managed-result",
               nullptr,
               {"byte 12000 of managed memory (12004 bytes): the host reads it, and squares may "
                "still write it",
                "the host, in managed_result in host"}},
        Seeded{
            "host",
            "managed-input",
            nullptr,
            {"byte 0 of managed memory (4 bytes): the host writes it, and scale may still read"}},
        Seeded{"host", "managed-count", nullptr, {"of managed memory (4 bytes)", "count_odd may"}},
        Seeded{
            "host", "indirect", nullptr, {"byte 84 of managed memory (12004 bytes)", "pick may"}},
        Seeded{"host", "list", nullptr, {"byte 0 of managed memory (16 bytes)", "double_list may"}},
        Seeded{"host",
               "pinned-target",
               nullptr,
               {"byte 6000 of pinned memory (12004 bytes): the host reads it, and an asynchronous "
                "copy may still write it",
                "called from pinned_target in host"}},
        Seeded{"host", "other-stream", nullptr, {"byte 6000 of pinned", "in other_stream in host"}},
        Seeded{"host", "early-event", nullptr, {"byte 12000 of pinned", "in early_event in host"}},
        Seeded{"host",
               "reused-source",
               nullptr,
               {"of pinned memory (12004 bytes): the host writes it, and an asynchronous copy may",
                "called from reused_source in host"}},
        Seeded{"host", "stack-source", nullptr, {"byte 0 of registered memory (800 bytes)"}},
        Seeded{"host", "mapped-result", nullptr, {"byte 20 of pinned memory", "squares may still"}},
        Seeded{"host", "memset-target", nullptr, {"byte 28 of managed memory", "memset may still"}},
        Seeded{"host", "neighbours", nullptr, {}}, Seeded{"host", "flag", nullptr, {}},
        Seeded{"host", "pageable", nullptr, {}}, Seeded{"host", "host-function", nullptr, {}},
        Seeded{"host", "freed", nullptr, {}}));

INSTANTIATE_TEST_SUITE_P(
    Threads, SeededFaults,
    ::testing::Values(
        Seeded{"threads",
               "missing-barrier",
               "reverse",
               {"race: bytes 0 to 759 of the block's shared memory; nothing orders these two",
                "block (0), thread (96) writes at", "thread (93) reads at"}},
        Seeded{"threads", "tiled-loop", "tiled-loop", {"bytes 0 to 383", "thread (0) writes at"}},
        Seeded{"threads",
               "old-reduction",
               "old-reduction",
               {"lanes of a warp rely on being in step", "block (0), thread"}},
        Seeded{"threads", "histogram", "histogram", {"bytes 0 to 3 of the block's shared"}},
        Seeded{"threads",
               "in-place-shift",
               "in-place-shift",
               {"of device memory (600 bytes); nothing orders these two"}},
        Seeded{"threads", "half-a-barrier", "half-a-barrier", {"bytes 0 to 255"}},
        Seeded{"threads", "half-a-mask", "half-a-mask", {"bytes 0 to 127", "rely on being in"}},
        Seeded{"threads", "missing-fence", "missing-fence", {"bytes 0 to"}},
        Seeded{"threads", "bytes", "bytes", {"nothing orders these two"}},
        Seeded{"threads", "same-flag", nullptr, {}}, Seeded{"threads", "turns", nullptr, {}},
        Seeded{"async_copies",
               "no-wait",
               "no-wait",
               {"bytes 0 to 383 of the block's shared", "copies by cp.async at",
                "reads at async_copies.cu"}},
        Seeded{"async_copies",
               "one-group-too-many",
               "one-group-too-many",
               {"copies by cp.async at", "reads at async_copies.cu"}},
        Seeded{"async_copies", "no-barrier", "no-barrier", {"nothing orders these two"}}));

INSTANTIATE_TEST_SUITE_P(
    Accesses, SeededFaults,
    ::testing::Values(
        Seeded{"accesses",
               "gather",
               "pick",
               {"out of bounds: pick reads bytes 400 to 403 of device memory, which has 400",
                "block (1), thread (6) is the first to", "allocated in gather in accesses"}},
        Seeded{"accesses",
               "scatter",
               "put",
               {"put writes bytes up to 8 before device memory", "block (0), thread (9)"}},
        Seeded{"accesses",
               "bins",
               "count-bins",
               {"count_bins updates bytes 256 to 359 of device memory, which has 256"}},
        Seeded{"accesses", "row-ends", "rows", {"bytes 80 to 83 of", "block (0), thread (19)"}},
        Seeded{"accesses",
               "after-free",
               "pick",
               {"use after free: pick reads bytes 0 to 255 of device memory, of 256 bytes",
                "and freed in after_free in accesses"}},
        Seeded{"accesses",
               "after-ordered-free",
               "pick",
               {"use after free", "bytes 0 to 199", "and freed in after_ordered_free"}},
        Seeded{"accesses",
               "misaligned",
               "sum-pairs",
               {"misaligned: sum_pairs reads bytes 28 to 31 of device memory, which must begin at "
                "a multiple of 8",
                "block (1), thread (3)"}},
        Seeded{"accesses",
               "dynamic-shared",
               "in-shared",
               {"bytes 188 to 191 of the block's shared memory, which has 188"}},
        Seeded{"accesses", "freed-node", "add-up", {"use after free", "bytes 0 to"}},
        Seeded{"accesses",
               "double-free",
               nullptr,
               {"double free: device memory of 120 bytes", "freed in double_free in accesses"}},
        Seeded{"accesses", "ordered-double-free", nullptr, {"double free: device memory of 120"}},
        Seeded{"accesses",
               "wrong-free",
               nullptr,
               {"wrong free: of byte 16 of device memory of 120 bytes"}},
        Seeded{"accesses", "leak", nullptr, {"leak: device memory of 160 bytes, never freed"}},
        Seeded{"accesses", "neighbours", nullptr, {}}));

INSTANTIATE_TEST_SUITE_P(
    TracedInitialisation, SeededFaults,
    ::testing::Values(
        Seeded{"traced_initialisation",
               "holes",
               "pick",
               {"never written: pick reads bytes 4 to 359 of device memory (360 bytes)",
                "block (0), thread (1) is the first to"}},
        Seeded{"traced_initialisation", "bins", "add-to-bins", {"bytes 0 to 63 of device memory"}},
        Seeded{"traced_initialisation",
               "last-tile",
               "tile-sums",
               {"bytes 88 to 255 of the block's shared memory", "block (2), thread (0)"}},
        Seeded{"traced_initialisation",
               "shared-counter",
               "block-count",
               {"bytes 0 to 3 of the block's shared memory"}},
        Seeded{"traced_initialisation", "unmarked", "add-all", {"bytes 4 to 239"}},
        Seeded{"traced_initialisation", "copied", "pick", {"bytes 100 to 199"}},
        Seeded{"traced_initialisation", "permuted", "pick", {"reads bytes 268 to 271"}},
        Seeded{"traced_initialisation", "list-end", "walk", {"bytes 44 to 47 of device memory"}},
        Seeded{"traced_initialisation", "padding", nullptr, {}},
        Seeded{"traced_initialisation", "unused-element", nullptr, {}}));

// Traced, a launch like one before is not watched again: these differ in what is no argument.
INSTANTIATE_TEST_SUITE_P(
    Repeated, SeededFaults,
    ::testing::Values(
        Seeded{
            "repeated", "handed-on", "add-one", {"never written: add_one reads bytes 160 to 239"}},
        Seeded{
            "repeated", "written-by-itself", "add-one", {"never written: add_one reads bytes 384"}},
        Seeded{"repeated", "freed", "add-one", {"use after free: add_one writes bytes 0 to 383"}},
        Seeded{"repeated", "other-list", "pick", {"out of bounds: pick reads bytes 384 to 387"}},
        Seeded{"repeated", "other-constant", "move-on", {"move_on reads bytes 384 to 387"}},
        Seeded{"repeated", "other-value", "tell-all", {"race: bytes 0 to 3 of device memory"}},
        Seeded{"repeated", "other-way", "turn-round", {"race: bytes", "the block's shared memory"}},
        Seeded{"repeated",
               "less-shared",
               "reverse-part",
               {"bytes 380 to 383 of the block's shared memory, which has 380"}},
        Seeded{"repeated", "captured-function", nullptr, {}}));

INSTANTIATE_TEST_SUITE_P(
    Errors, SeededFaults,
    ::testing::Values(
        Seeded{"errors",
               "too-many-threads",
               nullptr,
               {"ignored error: a launch of fill failed, cudaErrorInvalidConfiguration, and nobody",
                "called from main in errors"}},
        Seeded{"errors", "no-blocks", nullptr, {"a launch of fill failed", "from main in errors"}},
        Seeded{"errors",
               "too-much-shared",
               nullptr,
               {"a launch of fill failed, cudaErrorInvalidValue", "from main in errors"}},
        Seeded{"errors",
               "long-copy",
               nullptr,
               {"cudaMemcpy failed, cudaErrorInvalidValue", "called from long_copy in errors"}},
        Seeded{"errors", "long-symbol", nullptr, {"cudaMemcpyToSymbol failed", "long_symbol in"}},
        Seeded{"errors", "long-memset", nullptr, {"cudaMemset failed", "from main in errors"}},
        Seeded{"errors", "freed-on-the-host", nullptr, {"cudaFree failed", "from main in errors"}},
        Seeded{"errors", "no-stream", nullptr, {"cudaStreamSynchronize failed", "no_stream in"}},
        Seeded{"errors",
               "lost-fault",
               nullptr,
               {"cudaDeviceSynchronize failed, cudaErrorIllegalAddress", "from main in errors"}},
        Seeded{"errors",
               "lost-on-the-way",
               nullptr,
               {"cudaMemset failed, cudaErrorInvalidValue", "from main in errors"}},
        Seeded{
            "errors",
            "not-registered",
            nullptr,
            {"cudaHostUnregister failed, cudaErrorHostMemoryNotRegistered", "not_registered in"}},
        Seeded{"errors", "looked-at", nullptr, {}}, Seeded{"errors", "asked", nullptr, {}},
        Seeded{"errors", "tried", nullptr, {}}));

INSTANTIATE_TEST_SUITE_P(
    Initialisation, SeededFaults,
    ::testing::Values(
        Seeded{"initialisation", "never-written", "add-one", {"add_one reads bytes 0 to 1199"}},
        Seeded{"initialisation", "no-first-value", "accumulate", {"reads bytes 0 to 395"}},
        Seeded{"initialisation", "half-a-copy", "add-one", {"reads bytes 250 to 999"}},
        Seeded{"initialisation", "half-a-memset", "add-one", {"reads bytes 128 to 511"}},
        Seeded{"initialisation", "border", "smooth", {"reads bytes 0 to 3 and more of buffer 1"}},
        Seeded{"initialisation", "second-buffer", "smooth", {"bytes 0 to 3 and more of buffer 2"}},
        Seeded{"initialisation", "one-sum-too-many", "last-sum", {"reads bytes 120 to 123"}},
        Seeded{"initialisation", "stream-ordered", "add-one", {"reads bytes 0 to 639"}},
        Seeded{"initialisation", "scratch", nullptr, {}},
        Seeded{"initialisation", "padding", nullptr, {}},
        Seeded{"initialisation", "rectangle", nullptr, {}},
        Seeded{"initialisation", "variable", nullptr, {}},
        Seeded{"initialisation", "pointer-table", nullptr, {}}));

}  // namespace
}  // namespace sluice::e2e
