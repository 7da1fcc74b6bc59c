#include "runtime/code/model_cache.hpp"

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "dro/journal/journal_format.hpp"
#include "runtime/fake_kernels.hpp"

namespace sluice::runtime {
namespace {

namespace fs = std::filesystem;
using testing::FakeKernel;
using testing::FakeKernels;

class ModelCacheTest : public ::testing::Test {
 protected:
  ModelMaker maker(const std::string& identity = "build 1") {
    return cached_model_maker(
        [this](PtxCode& code, std::string_view kernel) {
          ++made_;
          return kernels_.maker()(code, kernel);
        },
        std::make_shared<const CacheFolder>(path_), identity);
  }

  // start() is a program's start: the models of one process.
  std::unique_ptr<KernelModel> start(const std::string& name = "step",
                                     const std::string& identity = "build 1",
                                     const std::string& text = "the PTX") {
    Result<std::unique_ptr<KernelModel>> model =
        maker(identity)(images_.emplace_back(std::vector{text}), name);
    return model ? std::move(*model) : nullptr;
  }

  // kept() is a model that an earlier start has left; null where none has.
  std::unique_ptr<KernelModel> kept(const std::string& name = "step",
                                    const std::string& identity = "build 1",
                                    const std::string& text = "the PTX") {
    return maker(identity).kept(images_.emplace_back(std::vector{text}), name);
  }

  void damage_files() {
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out);
      file.seekp(20);
      file.put('~');
    }
  }

  int asked(const std::string& name = "step") { return kernels_[name].footprints_asked; }

  static analysis::LaunchShape shape(uint32_t blocks) {
    return {.grid = {blocks, 1, 1},
            .block = {testing::cells_per_block, 1, 1},
            .shape_values = {uint64_t{blocks} * testing::cells_per_block}};
  }

  FakeKernels kernels_;
  std::deque<PtxCode> images_;  // outlive the models
  int made_ = 0;
  const ScratchFolder scratch_;
  const std::string path_ = scratch_.file("models");
};

TEST_F(ModelCacheTest, ASecondStartNeitherMakesTheModelNorAnalyses) {
  std::vector<analysis::Footprint> first;
  {
    const auto model = start();
    for (const uint32_t blocks : {4U, 8U})
      first.push_back(model->footprint(shape(blocks)));
  }
  const auto model = start();
  EXPECT_EQ(model->signature().pointers, kernels_["step"].signature.pointers);
  EXPECT_EQ(model->signature().parameters, kernels_["step"].signature.parameters);
  EXPECT_EQ(model->signature().shape_scalars, kernels_["step"].signature.shape_scalars);
  EXPECT_EQ(model->signature().parameter_bytes, kernels_["step"].signature.parameter_bytes);
  EXPECT_EQ(model->footprint(shape(4)), first[0]);
  EXPECT_EQ(model->footprint(shape(8)), first[1]);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(asked(), 2);
}

TEST_F(ModelCacheTest, WhatIsKeptIsGivenWithoutMakingOrAnalysing) {
  EXPECT_EQ(kept(), nullptr);
  const auto first = start();
  EXPECT_FALSE(first->is_kept(shape(4)));
  first->footprint(shape(4));
  EXPECT_FALSE(first->is_kept(shape(8)));
  first->footprint(shape(8));
  const auto model = kept();
  ASSERT_NE(model, nullptr);
  EXPECT_FALSE(model->is_kept(shape(8))) << "no start began with it";
  EXPECT_TRUE(model->is_kept(shape(4)));
  EXPECT_EQ(model->footprint(shape(4)), testing::step_footprint(shape(4)));
  EXPECT_FALSE(model->is_kept(shape(16)));
  EXPECT_TRUE(model->is_kept(shape(8)));
  EXPECT_EQ(made_, 1);
  model->footprint(shape(16));
  EXPECT_FALSE(model->is_kept(shape(8))) << "the order was left";
  EXPECT_EQ(kept("step", "build 2"), nullptr);
  EXPECT_EQ(kept("step", "build 1", "other PTX"), nullptr);
  EXPECT_EQ(kept("unused"), nullptr);
  damage_files();
  EXPECT_EQ(kept(), nullptr);
}

TEST_F(ModelCacheTest, FootprintsBehindADamagedOneAreMissing) {
  {
    const auto model = start();
    for (const uint32_t blocks : {4U, 8U, 16U})
      model->footprint(shape(blocks));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out);
    std::string line;
    if (!std::getline(file, line) || file.peek() == EOF) continue;  // the signature's
    file.seekp(static_cast<std::streamoff>(line.size()) + 20);
    file.put('~');
  }
  const auto model = kept();
  EXPECT_TRUE(model->is_kept(shape(4)));
  model->footprint(shape(4));
  EXPECT_FALSE(model->is_kept(shape(8)));
  EXPECT_EQ(model->footprint(shape(8)), testing::step_footprint(shape(8)));
  EXPECT_FALSE(model->is_kept(shape(16)));
  EXPECT_EQ(model->footprint(shape(16)), testing::step_footprint(shape(16)));
}

TEST_F(ModelCacheTest, FiguresAreKeptByNameKernelTextAndBuild) {
  EXPECT_THAT(start()->figures("a"), ::testing::IsEmpty());
  start()->keep_figures("a", {1, UINT64_MAX});
  start()->keep_figures("b", {3});
  EXPECT_THAT(start()->figures("a"), ::testing::ElementsAre(1, UINT64_MAX));
  EXPECT_THAT(kept()->figures("b"), ::testing::ElementsAre(3));
  EXPECT_THAT(start("unused")->figures("a"), ::testing::IsEmpty());
  EXPECT_THAT(start("step", "build 2")->figures("a"), ::testing::IsEmpty());
  EXPECT_THAT(start("step", "build 1", "other PTX")->figures("a"), ::testing::IsEmpty());
  damage_files();
  EXPECT_THAT(start()->figures("a"), ::testing::IsEmpty());
}

// Found by tests/fuzz.
TEST_F(ModelCacheTest, ASignatureWhoseNumbersDoNotFitIsMissing) {
  start();
  const CacheFolder folder(path_);
  const std::string name = fs::directory_iterator(path_)->path().filename();
  std::string text =
      dro::unsealed(folder.load(name).value().substr(0, folder.load(name)->size() - 1)).value();
  const std::string number = "\"parameter_bytes\":20";
  ASSERT_NE(text.find(number), std::string::npos);
  text.replace(text.find(number), number.size(), "\"parameter_bytes\":2.9e58");
  folder.store(name, dro::sealed(text) + "\n");
  EXPECT_EQ(start()->signature().parameter_bytes, 20u);
  EXPECT_EQ(made_, 2);
}

TEST_F(ModelCacheTest, WhereShapesComeInAnotherOrderTheModelHearsOfAll) {
  {
    const auto model = start();
    model->footprint(shape(4));
    model->footprint(shape(8));
  }
  const auto model = start();
  model->footprint(shape(4));
  EXPECT_EQ(asked(), 2);
  EXPECT_EQ(model->footprint(shape(16)).shape, shape(16));
  EXPECT_EQ(asked(), 4);  // of 4 blocks once more, and of 16
  EXPECT_EQ(model->footprint(shape(8)).shape, shape(8));
  EXPECT_EQ(asked(), 5);
  const auto third = start();  // the order kept is the last one
  for (const uint32_t blocks : {4U, 16U, 8U})
    third->footprint(shape(blocks));
  EXPECT_EQ(asked(), 5);
}

TEST_F(ModelCacheTest, ItSaysWhereTheModelTakesOver) {
  start()->footprint(shape(4));
  const auto model = start();
  model->footprint(shape(4));
  EXPECT_FALSE(model->is_like_last(shape(16))) << "4 came from the folder, 16 will not";
  model->footprint(shape(16));
  EXPECT_TRUE(model->is_like_last(shape(8))) << "both of the model's own";
  const auto third = start();
  third->footprint(shape(4));
  EXPECT_TRUE(third->is_like_last(shape(16)));
}

TEST_F(ModelCacheTest, AnotherFirstShapeHasAnOrderOfItsOwn) {
  start()->footprint(shape(4));
  start()->footprint(shape(8));
  start()->footprint(shape(4));
  start()->footprint(shape(8));
  EXPECT_EQ(asked(), 2);
}

TEST_F(ModelCacheTest, BeyondWhatIsKeptTheModelAnswers) {
  for (int program = 0; program < 2; ++program) {
    const auto model = start();
    for (uint32_t blocks = 1; blocks <= 20; ++blocks)
      EXPECT_EQ(model->footprint(shape(blocks)), testing::step_footprint(shape(blocks)));
  }
  EXPECT_EQ(asked(), 40);  // the second program left the kept ones behind at the 17th
  EXPECT_EQ(made_, 2);
}

// The kernel "step" answers by itself for 4 blocks, and for others as one of a family of all grids
// from `low` to `high` blocks.
class FamilyCacheTest : public ModelCacheTest {
 protected:
  FamilyCacheTest() {
    FakeKernel& step = kernels_["step"];
    step.family = {shape(8), {{0, 0, 800}, {1, low, high}}};
    step.footprint = [](const analysis::LaunchShape& shape) {
      analysis::Footprint footprint = testing::step_footprint(shape);
      return shape.grid.x == 4 ? footprint : symbolic(std::move(footprint));
    };
  }
  static analysis::Footprint symbolic(analysis::Footprint footprint) {
    footprint.arguments[0].reads.relation = {};
    footprint.arguments[1].must_writes.relation = sluice::testing::relation_of(
        "[n, g] -> { B[x, y = 0, z = 0] -> A[o] : 0 <= x < g and 32x <= o < 32x + 32 and "
        "4 <= o < 4n - 4 }");
    footprint.symbols = {{"s0", static_cast<int64_t>(footprint.shape.shape_values[0])},
                         {"s1", footprint.shape.grid.x}};
    return footprint;
  }
  static analysis::Footprint expected(uint32_t blocks) {
    return symbolic(testing::step_footprint(shape(blocks)));
  }

  static constexpr int64_t low = 2, high = 100;
};

TEST_F(FamilyCacheTest, OneAnswerServesAllShapesOfItsFamilyInThisStartAndTheNext) {
  for (int program = 0; program < 2; ++program) {
    const auto model = start();
    EXPECT_EQ(model->footprint(shape(4)), testing::step_footprint(shape(4)));
    for (const uint32_t blocks : {8U, 9U, 2U, 100U}) {
      EXPECT_EQ(model->is_kept(shape(blocks)), program == 1 || blocks != 8);
      EXPECT_EQ(model->footprint(shape(blocks)), expected(blocks));
    }
  }
  EXPECT_EQ(asked(), 2);
  EXPECT_EQ(made_, 1);
}

TEST_F(FamilyCacheTest, ShapesOutsideOfItAreAnalysed) {
  kernels_["step"].family->symbols[1].high = 50;
  {
    const auto model = start();
    model->footprint(shape(4));
    model->footprint(shape(8));
  }
  const auto model = start();
  model->footprint(shape(4));
  EXPECT_TRUE(model->is_kept(shape(50)));
  EXPECT_FALSE(model->is_kept(shape(51)));
  EXPECT_EQ(model->footprint(shape(51)), expected(51));
  EXPECT_EQ(asked(), 4);  // of 4 blocks once more
  EXPECT_TRUE(model->is_like_last(shape(1)));
  EXPECT_FALSE(model->is_like_last(shape(9))) << "51 was analysed, and 9 need not be";
}

// Which shapes somebody asks for depends on what comes while others are analysed.
TEST_F(FamilyCacheTest, ServesWhoeverComesInAnotherOrder) {
  {
    const auto model = start();
    for (const uint32_t blocks : {4U, 8U})
      model->footprint(shape(blocks));
  }
  const auto model = start();
  model->footprint(shape(4));
  EXPECT_TRUE(model->is_kept(shape(30)));
  EXPECT_EQ(model->footprint(shape(30)), expected(30));
  EXPECT_EQ(model->footprint(shape(8)), expected(8));
  EXPECT_EQ(asked(), 2);
}

TEST_F(FamilyCacheTest, ServesAStartThatBeginsWithAnotherShape) {
  {
    const auto model = start();
    for (const uint32_t blocks : {4U, 8U})
      model->footprint(shape(blocks));
  }
  const auto model = kept();
  EXPECT_TRUE(model->is_kept(shape(30)));
  EXPECT_EQ(model->footprint(shape(30)), expected(30));
  EXPECT_FALSE(model->is_kept(shape(101)));
  analysis::LaunchShape other = shape(30);
  other.dynamic_shared_bytes = 8;
  EXPECT_FALSE(model->is_kept(other));
  EXPECT_EQ(asked(), 2);
}

TEST_F(FamilyCacheTest, OneWithDamagedNumbersIsMissing) {
  const analysis::LaunchShape first = shape(8);
  start()->footprint(first);
  const CacheFolder folder(path_);
  std::map<std::string, std::string> files;  // of this family
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string text = folder.load(entry.path().filename()).value();
    const size_t line = text.find('\n') + 1;
    if (line != text.size()) files[entry.path().filename()] = text.substr(0, line);
  }
  EXPECT_EQ(files.size(), 2U);
  for (const char* family : {R"({"family":[[0,0,800],[1,9,100]]})", R"({"family":[[0,0,800]]})",
                             R"({"family":[[0,0,800],[2,2,100]]})", R"({"family":7})",
                             R"({"family":[[0,0,800],[1,-1e30,100]]})",
                             R"({"family":[[0,0,800],[1,2,"100"]]})", R"({})"}) {
    for (const auto& [name, text] : files)
      folder.store(name, text + dro::sealed(family) + "\n");
    const auto model = kept();
    ASSERT_NE(model, nullptr);
    EXPECT_FALSE(model->is_kept(shape(30))) << family;
    model->is_kept(first);
    EXPECT_EQ(model->footprint(first), expected(8)) << family;
    EXPECT_EQ(model->footprint(shape(31)), expected(31)) << family;
  }
}

TEST_F(FamilyCacheTest, OneOfNumbersThatNoShapeHasIsMissing) {
  FakeKernel& step = kernels_["step"];
  step.family->symbols[1].number = 7;
  step.footprint = [](const analysis::LaunchShape& shape) {
    analysis::Footprint footprint = symbolic(testing::step_footprint(shape));
    footprint.symbols[1].name = "s7";
    return footprint;
  };
  start()->footprint(shape(8));
  EXPECT_FALSE(kept()->is_kept(shape(8)));
}

TEST_F(ModelCacheTest, AnswersOfAnotherBuildKernelOrTextAreMissing) {
  start()->footprint(shape(4));
  start("step", "build 2")->footprint(shape(4));
  start("step", "build 1", "other PTX")->footprint(shape(4));
  EXPECT_EQ(asked(), 3);
  EXPECT_EQ(start("unused")->footprint(shape(4)).kernel, "unused");
}

TEST_F(ModelCacheTest, OpaqueAnswersAreKeptWithTheirReason) {
  for (int program = 0; program < 2; ++program)
    EXPECT_EQ(start("opaque")->footprint(shape(1)).opaque_reason.why,
              analysis::Widening::loaded_pointer);
  EXPECT_EQ(asked("opaque"), 1);
}

TEST_F(ModelCacheTest, AnErrorIsTheMakersEachTime) {
  EXPECT_EQ(start("unmodelled"), nullptr);
  EXPECT_EQ(start("unmodelled"), nullptr);
  EXPECT_EQ(made_, 2);
}

TEST_F(ModelCacheTest, DamagedFilesCountAsMissing) {
  start()->footprint(shape(4));
  damage_files();
  EXPECT_EQ(start()->footprint(shape(4)), testing::step_footprint(shape(4)));
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(asked(), 2);
}

TEST_F(ModelCacheTest, FilesThatOthersMayWriteCountAsMissing) {
  start()->footprint(shape(4));
  for (const fs::directory_entry& entry : fs::directory_iterator(path_))
    fs::permissions(entry.path(), fs::perms::others_write, fs::perm_options::add);
  start()->footprint(shape(4));
  EXPECT_EQ(made_, 2);
}

TEST_F(ModelCacheTest, AFolderThatCannotBeMadeCostsOnlyTheAnalysis) {
  std::ofstream(path_) << "a file, no folder";
  start()->footprint(shape(4));
  start()->footprint(shape(4));
  EXPECT_EQ(asked(), 2);
}

TEST_F(ModelCacheTest, TheOldestFilesGoWhereAllAreTooMany) {
  const CacheFolder folder(path_, 100);
  folder.store("a", std::string(60, 'a'));
  fs::last_write_time(fs::path(path_) / "a",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  folder.store("b", std::string(60, 'b'));
  EXPECT_FALSE(folder.load("a"));
}

TEST_F(ModelCacheTest, ManySmallFilesStayNearTheLimit) {
  constexpr uint64_t most_bytes = 64 << 10;
  const CacheFolder folder(path_, most_bytes);
  for (int i = 0; i < 3000; ++i)
    folder.store(std::to_string(i), std::string(100, 'a'));
  uint64_t sum = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_))
    sum += entry.file_size();
  EXPECT_LT(sum, 2 * most_bytes);
  EXPECT_TRUE(folder.load("2999"));
}

TEST_F(ModelCacheTest, ALoadIsNotedAsAUseOncePerHour) {
  const CacheFolder folder(path_);
  folder.store("a", "text");
  const fs::path file = fs::path(path_) / "a";
  const auto now = fs::file_time_type::clock::now();
  const auto lately = now - std::chrono::minutes(30);
  fs::last_write_time(file, lately);
  EXPECT_TRUE(folder.load("a"));
  EXPECT_EQ(fs::last_write_time(file), lately);
  fs::last_write_time(file, now - std::chrono::hours(2));
  EXPECT_TRUE(folder.load("a"));
  EXPECT_GT(fs::last_write_time(file), lately);
}

}  // namespace
}  // namespace sluice::runtime
