// Random kernels: no thread touches a byte outside its block's footprint, and the footprints of
// affine kernels whose arithmetic does not wrap are what the threads touch, byte for byte.
//
// SLUICE_RANDOM_KERNELS=N checks N kernels in place of the usual number, SLUICE_RANDOM_SEED=S
// starts with seed S, SLUICE_RANDOM_SHOW=1 prints the affine kernels that are not exact.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/shape/footprint_comparison.hpp"
#include "comparison.hpp"
#include "generator.hpp"
#include "ptx/parser.hpp"
#include "ptx_names.hpp"
#include "ptx_text.hpp"
#include "traced_run.hpp"

namespace sluice::analysis::random {
namespace {

constexpr uint64_t shards = 4;
constexpr uint64_t usual_kernels = 5000;
constexpr uint64_t kernels_between_reports = 5000;

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

struct Tally {
  uint64_t kernels = 0, launches = 0, unfit = 0, opaque = 0;
  uint64_t affine = 0, affine_exact = 0, data_dependent = 0, wrapped = 0;
  uint64_t symbolic = 0;  // launches that cost no analysis of their own
  uint64_t traced = 0;    // also run on the CPU device
  double analysis_seconds = 0;
  std::map<std::string, uint64_t> inexact;  // reasons without their numbers
};

std::string without_numbers(std::string text) {
  std::string result;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      if (result.empty() || result.back() != '#') result += '#';
    } else {
      result += c;
    }
  }
  return result;
}

std::string description(const Kernel& kernel) {
  return fmt::format("seed {}, {}\n{}", kernel.seed, launch_text(kernel), ptx_of(kernel));
}

bool touches_nothing(const Effects& effects) {
  return std::all_of(effects.blocks.begin(), effects.blocks.end(), [](const auto& block) {
    return std::all_of(block.begin(), block.end(), [](const Touched& touched) {
      return touched.reads.empty() && touched.writes.empty();
    });
  });
}

class KernelChecks : public testing::Test {
 protected:
  // check() checks a kernel and some launches of it; false where evaluate() will have none of it.
  bool check(uint64_t seed) {
    Kernel kernel = generate(seed);
    auto effects = evaluate(kernel);
    if (!effects) return false;
    const std::string text = ptx_of(kernel);
    auto parsed = ptx::parse(text, "random.ptx");
    if (!parsed) {
      ADD_FAILURE() << parsed.error().line() << "\n" << description(kernel);
      return true;
    }
    auto created = KernelAnalysis::create(*parsed, kernel_name);
    if (!created) {
      ADD_FAILURE() << created.error().line() << "\n" << description(kernel);
      return true;
    }
    if (seed % 50 == 0) check_traced(kernel, text, *effects);
    KernelAnalysis& analysis = **created;
    check_launch(kernel, *effects, analysis, true);
    // Other launches may be served by a footprint with parameters.
    for (uint64_t launch = 1; seed % 6 == 0 && launch <= 2; ++launch) {
      vary(kernel, seed + launch);
      if (const auto others = evaluate(kernel)) check_launch(kernel, *others, analysis, false);
    }
    ++tally_.kernels;
    return true;
  }

  void check_traced(const Kernel& kernel, const std::string& text, const Effects& effects) {
    const TracedRun run = run_traced(kernel, text, effects);
    tally_.traced += run.ran ? 1 : 0;
    if (!run.problem.empty()) ADD_FAILURE() << run.problem << "\n" << description(kernel);
  }

  void check_launch(const Kernel& kernel, const Effects& effects, KernelAnalysis& analysis,
                    bool first) {
    const uint64_t analyses = analysis.analyses();
    const auto start = std::chrono::steady_clock::now();
    const Footprint footprint =
        closed(analysis.footprint(launch_shape(kernel, analysis.signature())));
    const auto end = std::chrono::steady_clock::now();
    tally_.analysis_seconds += std::chrono::duration<double>(end - start).count();
    const Verdict verdict = compare(kernel, effects, analysis.signature(), footprint);
    ++tally_.launches;
    tally_.symbolic += analysis.analyses() == analyses ? 1 : 0;
    if (!verdict.unsound.empty()) {
      ADD_FAILURE() << verdict.unsound << "\n" << description(kernel);
    }
    if (!first) return;
    tally_.opaque += verdict.opaque ? 1 : 0;
    tally_.data_dependent += kernel.data_dependent ? 1 : 0;
    tally_.wrapped += effects.wrapped ? 1 : 0;
    if (!kernel.affine || kernel.data_dependent || effects.wrapped) return;
    // Of a launch whose threads all leave at once nothing is left to describe.
    if (touches_nothing(effects)) return;
    ++tally_.affine;
    if (verdict.inexact.empty()) {
      ++tally_.affine_exact;
    } else {
      ++tally_.inexact[without_numbers(verdict.inexact)];
      if (std::getenv("SLUICE_RANDOM_SHOW") != nullptr) {
        fmt::print("inexact: {}\n{}\n", verdict.inexact, description(kernel));
      }
    }
  }

  void report(uint64_t seed) const {
    fmt::print(
        "up to seed {}: {} kernels, {} launches ({} from footprints with parameters), {} kernels "
        "affine without wraps, {} of them exact; {} data-dependent, {} with wraps, {} opaque; {} "
        "also run on the CPU device; {} drawn anew; {:.1f} s of analysis\n",
        seed, tally_.kernels, tally_.launches, tally_.symbolic, tally_.affine, tally_.affine_exact,
        tally_.data_dependent, tally_.wrapped, tally_.opaque, tally_.traced, tally_.unfit,
        tally_.analysis_seconds);
    std::fflush(stdout);
  }

  Tally tally_;
};

class PastSeeds : public KernelChecks {};
class RandomKernels : public KernelChecks, public testing::WithParamInterface<uint64_t> {};

TEST_P(RandomKernels, AreSoundAndExactWhereAffine) {
  const uint64_t count = number_from_environment("SLUICE_RANDOM_KERNELS", usual_kernels) / shards;
  uint64_t seed = number_from_environment("SLUICE_RANDOM_SEED", 1) + GetParam() * 1'000'000'000;
  for (; tally_.kernels < count && !HasFailure(); ++seed) {
    const bool counted = check(seed);
    tally_.unfit += counted ? 0 : 1;
    if (counted && tally_.kernels % kernels_between_reports == 0) report(seed);
  }
  report(seed);
  for (const auto& [reason, times] : tally_.inexact)
    fmt::print("  {} times {}\n", times, reason);
  // All shards together come to more than 99 in 100 (docs/results); one is a small sample.
  EXPECT_GE(double(tally_.affine_exact), 0.985 * double(tally_.affine));
}

// Seeds that once ended the process or were thought unsound.
TEST_F(PastSeeds, AreSound) {
  for (const uint64_t seed :
       {18'594u, 19'127u, 21'354u, 38'770u, 50'268u, 2'000'016'786u, 2'000'025'622u, 3'000'035'599u,
        3'000'042'655u, 3'000'048'309u, 3'000'049'308u, 3'000'049'763u}) {
    SCOPED_TRACE(seed);
    EXPECT_TRUE(check(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomKernels, testing::Range<uint64_t>(0, shards));

}  // namespace
}  // namespace sluice::analysis::random
