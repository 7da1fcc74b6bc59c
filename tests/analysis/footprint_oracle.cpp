#include "footprint_oracle.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

#include "analysis/shape/footprint_comparison.hpp"
#include "ptx/parser.hpp"

namespace sluice::analysis::testing {
namespace {

int64_t coordinate(isl_point* point, int position) {
  isl_val* value = isl_point_get_coordinate_val(point, isl_dim_set, position);
  const int64_t result = isl_val_get_num_si(value);
  isl_val_free(value);
  return result;
}

isl_stat take_point(isl_point* point, void* user) {
  auto& bytes = *static_cast<BytesByBlock*>(user);
  bytes[{coordinate(point, 0), coordinate(point, 1), coordinate(point, 2)}].insert(
      coordinate(point, 3));
  isl_point_free(point);
  return isl_stat_ok;
}

}  // namespace

Touched run_model(const Dim3& grid, const Dim3& block, const Model& model) {
  Touched touched;
  Thread thread{{}, {}, grid, block, &touched.reads, &touched.writes};
  for (thread.block.z = 0; thread.block.z < grid.z; ++thread.block.z)
    for (thread.block.y = 0; thread.block.y < grid.y; ++thread.block.y)
      for (thread.block.x = 0; thread.block.x < grid.x; ++thread.block.x)
        for (thread.thread.z = 0; thread.thread.z < block.z; ++thread.thread.z)
          for (thread.thread.y = 0; thread.thread.y < block.y; ++thread.thread.y)
            for (thread.thread.x = 0; thread.thread.x < block.x; ++thread.thread.x)
              model(thread);
  return touched;
}

BytesByBlock bytes_of(const Relation& relation) {
  BytesByBlock bytes;
  if (relation.empty()) return bytes;
  isl_ctx* context = isl_ctx_alloc();
  isl_map* map = map_of(isl::ctx(context), relation).release();
  EXPECT_NE(map, nullptr) << relation;
  isl_set* points = isl_set_flatten(isl_map_wrap(map));
  EXPECT_EQ(isl_set_foreach_point(points, take_point, &bytes), isl_stat_ok) << relation;
  isl_set_free(points);
  isl_ctx_free(context);
  return bytes;
}

const ptx::Module& kernels(const std::string& file) {
  static std::map<std::string, ptx::Module> modules;
  const auto known = modules.find(file);
  if (known != modules.end()) return known->second;
  const std::string path = std::string(SLUICE_ANALYSIS_KERNELS) + "/" + file + ".ptx";
  std::ifstream stream(path);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto parsed = ptx::parse(text, path);
  if (!parsed) throw std::runtime_error(parsed.error().line());
  return modules.emplace(file, *std::move(parsed)).first->second;
}

std::unique_ptr<KernelAnalysis> fresh_analysis_of(const std::string& kernel) {
  const ptx::Module* module = &kernels();
  for (const char* file : {"pivot_kernels", "compiled_forms"}) {
    if (kernels(file).find_function(kernel) != nullptr) module = &kernels(file);
  }
  auto created = KernelAnalysis::create(*module, kernel);
  if (!created) throw std::runtime_error(created.error().line());
  return std::move(*created);
}

KernelAnalysis& analysis_of(const std::string& kernel) {
  static std::map<std::string, std::unique_ptr<KernelAnalysis>> analyses;
  auto& analysis = analyses[kernel];
  if (!analysis) analysis = fresh_analysis_of(kernel);
  return *analysis;
}

Footprint footprint_of(const std::string& kernel, const Dim3& grid, const Dim3& block,
                       std::vector<uint64_t> shape) {
  return closed(analysis_of(kernel).footprint(
      {.grid = grid, .block = block, .shape_values = std::move(shape)}));
}

void expect_exact(const std::string& kernel, const Dim3& grid, const Dim3& block,
                  std::vector<uint64_t> shape, const Model& model) {
  SCOPED_TRACE(kernel);
  const Footprint footprint = footprint_of(kernel, grid, block, std::move(shape));
  ASSERT_FALSE(footprint.opaque()) << int(footprint.opaque_reason.why);
  Touched touched = run_model(grid, block, model);
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    SCOPED_TRACE("argument " + std::to_string(i));
    const ArgumentFootprint& argument = footprint.arguments[i];
    EXPECT_EQ(argument.reads.precision, Precision::exact) << int(argument.reads.reason.why);
    EXPECT_EQ(argument.must_writes.precision, Precision::exact)
        << int(argument.must_writes.reason.why);
    EXPECT_FALSE(argument.may_writes.present()) << int(argument.may_writes.reason.why);
    EXPECT_TRUE(bytes_of(argument.reads.relation) == touched.reads[int(i)])
        << argument.reads.relation;
    EXPECT_TRUE(bytes_of(argument.must_writes.relation) == touched.writes[int(i)])
        << argument.must_writes.relation;
  }
}

}  // namespace sluice::analysis::testing
