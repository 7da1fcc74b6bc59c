// Every kernel of the samples and of tests/kernels, rewritten, is assembled by ptxas for sm_90 and
// for one architecture more, and costs no more than body_costs.txt says: for all architectures
// ptxas takes two minutes of a processor. SLUICE_WRITE_BODY_COSTS=FOLDER assembles each for all and
// writes what is measured to FOLDER/body_costs_<architecture>.txt; scripts/body-costs makes the
// table anew. The row "(module)" of a file is of all its bodies linked with the scheduler, as a
// device runs them, beside the dearest of them with a bare caller; the row "(beside)" is of that
// module where workers run two blocks of each kernel at once, beside the row before.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/body_check.hpp"
#include "megakernel/cuda/linker.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

namespace fs = std::filesystem;
using testing::Cost;

// Another release of ptxas may place registers otherwise; what it may add to the recorded figures.
constexpr int slack = 4;
// What a kernel that the table does not know yet may cost.
constexpr int most_of_unknown = 24;

struct Row {
  Cost without;
  Cost with;
  int worker_bytes = 0;  // of a module: shared memory of a worker
};

constexpr unsigned of_all = 90;
constexpr unsigned of_some[] = {75, 80, 100, 120};

constexpr const char* whole_module = "(module)";
constexpr const char* blocks_beside = "(beside)";
bool is_module(const std::string& key) {
  return key.ends_with(whole_module) || key.ends_with(blocks_beside);
}

// Rows of the table, by "architecture file kernel".
std::map<std::string, Row> read_table() {
  std::map<std::string, Row> rows;
  std::ifstream file(SLUICE_BODY_COSTS);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string architecture;
    std::string name;
    std::string kernel;
    Row row;
    if (line.starts_with("#") || !(words >> architecture >> name >> kernel)) continue;
    words >> row.without.registers >> row.with.registers >> row.without.stack >> row.with.stack >>
        row.without.spills >> row.with.spills >> row.worker_bytes;
    rows[architecture + " " + name + " " + kernel] = row;
  }
  return rows;
}

// The PTX of the corpus, of the kernels of the footprint tests and of the samples, by name.
std::map<std::string, std::string> sources() {
  std::map<std::string, std::string> texts;
  const auto add = [&](const std::string& kind, const fs::path& path) {
    const auto images = ptx::read_file(path.string());
    if (!images) return;
    for (const ptx::CodeImage& image : *images) {
      if (const auto best = image.best_ptx()) {
        for (const std::string& text : *best)
          texts.emplace(kind + "/" + path.filename().string(), text);
      }
    }
  };
  const std::pair<const char*, const char*> folders[] = {{"corpus", SLUICE_TEST_CORPUS},
                                                         {"access", SLUICE_ACCESS_KERNELS},
                                                         {"jit", SLUICE_JIT_KERNELS}};
  for (const auto& [kind, folder] : folders) {
    for (const auto& file : fs::directory_iterator(folder)) {
      if (file.path().extension() == ".ptx") add(kind, file.path());
    }
  }
  for (const char* sample : {"attention", "elimination", "gemm_chain", "heat3d", "nbody",
                             "residual", "stencil", "wave"}) {
    add("samples", fs::path(SLUICE_SAMPLES) / sample);
  }
  return texts;
}

std::map<std::string, Cost> assemble_text(const std::string& text, const std::string& name,
                                          unsigned architecture) {
  std::string file = fmt::format("sm_{}_{}.ptx", architecture, name);
  std::replace_if(
      file.begin(), file.end(), [](char c) { return c == '/' || c == '(' || c == ')'; }, '_');
  const fs::path path = fs::path(::testing::TempDir()) / file;
  std::ofstream(path) << text;
  const testing::Assembled result = testing::run_ptxas(path.string(), architecture);
  EXPECT_TRUE(result.accepted) << path << "\n" << result.output;
  if (result.accepted) fs::remove(path);
  return result.costs;
}

class AssembledBodies : public ::testing::TestWithParam<unsigned> {
 protected:
  void measure(const std::string& name, const std::string& text) {
    const unsigned architecture = GetParam();
    const auto module = ptx::parse(text, name);
    ASSERT_TRUE(module) << module.error().line();
    if (testing::target_number(*module) > architecture) return;
    const testing::RewrittenModule rewritten = testing::rewrite_module(*module, architecture);
    refused_ += rewritten.refusals.size();
    if (rewritten.kernels.empty()) return;
    const auto after = assemble_text(rewritten.text, "bodies_of/" + name, architecture);
    // Debug code is compiled without optimisation and says nothing of the rewriter's cost.
    const bool is_debug = name.find("_debug") != std::string::npos;
    const auto before = is_debug ? after : assemble_text(text, name, architecture);
    measure_module(name, rewritten, after);
    for (const std::string& kernel : rewritten.kernels) {
      if (!after.contains(kernel) || !before.contains(kernel)) continue;  // failed above
      rows_[fmt::format("{} {} {}", architecture, name, kernel)] = {before.at(kernel),
                                                                    after.at(kernel)};
    }
  }

  void measure_module(const std::string& name, const testing::RewrittenModule& rewritten,
                      const std::map<std::string, Cost>& bare) {
    Row row{.worker_bytes = rewritten.worker_bytes};
    for (const auto& [kernel, cost] : bare) {
      row.without.registers = std::max(row.without.registers, cost.registers);
      row.without.stack = std::max(row.without.stack, cost.stack);
      row.without.spills = std::max(row.without.spills, cost.spills);
    }
    add_linked(rewritten.linked, name, whole_module, row);
    if (rewritten.linked_beside.empty()) return;
    row = {.without = row.with, .worker_bytes = rewritten.worker_bytes_beside};
    add_linked(rewritten.linked_beside, name, blocks_beside, row);
  }

  void add_linked(const std::string& text, const std::string& name, const char* kind, Row& row) {
    const auto linked = assemble_text(text, kind + name, GetParam());
    const auto found = linked.find(megakernel_name);
    if (found == linked.end()) return;
    row.with = found->second;
    rows_[fmt::format("{} {} {}", GetParam(), name, kind)] = row;
  }

  void write_rows(const char* folder) const {
    std::ofstream file(fs::path(folder) / fmt::format("body_costs_{}.txt", GetParam()));
    for (const auto& [key, row] : rows_) {
      file << fmt::format("{} {} {} {} {} {} {}", key, row.without.registers, row.with.registers,
                          row.without.stack, row.with.stack, row.without.spills, row.with.spills);
      file << (is_module(key) ? fmt::format(" {}\n", row.worker_bytes) : "\n");
    }
  }

  static void expect_module(const std::string& key, const Row& row,
                            const std::map<std::string, Row>& table) {
    EXPECT_TRUE(row.without.spills != 0 || row.with.spills == 0) << key;
    const auto known = table.find(key);
    if (known == table.end()) return;
    EXPECT_LE(row.with.registers, known->second.with.registers + slack) << key;
    EXPECT_LE(row.with.stack, known->second.with.stack) << key;
    EXPECT_LE(row.with.spills, known->second.with.spills) << key;
    EXPECT_LE(row.worker_bytes, known->second.worker_bytes) << key;
  }

  std::map<std::string, Row> rows_;
  size_t refused_ = 0;
};

TEST_P(AssembledBodies, CostNoMoreThanTheTableSays) {
  const char* folder = std::getenv("SLUICE_WRITE_BODY_COSTS");
  size_t number = 0;
  for (const auto& [name, text] : sources()) {
    const unsigned other = of_some[number++ % std::size(of_some)];
    if (folder || GetParam() == of_all || GetParam() == other) measure(name, text);
  }
  ASSERT_GT(rows_.size(), 20U);
  if (folder) write_rows(folder);
  const std::map<std::string, Row> table = read_table();
  std::vector<int> extra;
  size_t unknown = 0;
  for (const auto& [key, row] : rows_) {
    if (is_module(key)) {
      expect_module(key, row, table);
      continue;
    }
    extra.push_back(row.with.registers - row.without.registers);
    EXPECT_TRUE(row.without.stack != 0 || row.with.stack == 0) << key;
    EXPECT_TRUE(row.without.spills != 0 || row.with.spills == 0) << key;
    const auto known = table.find(key);
    if (known == table.end()) {
      ++unknown;
      EXPECT_LE(extra.back(), most_of_unknown) << key;
      continue;
    }
    EXPECT_LE(row.with.registers, known->second.with.registers + slack) << key;
    EXPECT_LE(row.with.stack, known->second.with.stack) << key;
    EXPECT_LE(row.with.spills, known->second.with.spills) << key;
  }
  std::sort(extra.begin(), extra.end());
  const int median = extra[extra.size() / 2];
  std::printf(
      "sm_%u: %zu kernels rewritten, %zu refused, %zu not in the table; registers more: "
      "median %d, most %d\n",
      GetParam(), extra.size(), refused_, unknown, median, extra.back());
  EXPECT_LE(median, 12);
}

INSTANTIATE_TEST_SUITE_P(Architectures, AssembledBodies, ::testing::Values(75, 80, 90, 100, 120),
                         [](const auto& info) { return fmt::format("sm_{}", info.param); });

}  // namespace
}  // namespace sluice::megakernel
