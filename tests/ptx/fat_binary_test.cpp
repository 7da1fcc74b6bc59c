// PTX comes out of every kind of image that nvcc makes, and is the same text.
#include "ptx/fat_binary.hpp"

#include <gtest/gtest.h>

#include "corpus.hpp"
#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

std::string image_path(const std::string& name) {
  return std::string(SLUICE_PTX_IMAGES) + "/" + name;
}

CodeImage only_image(const std::string& name) {
  auto images = read_file(image_path(name));
  EXPECT_TRUE(images) << images.error().line();
  EXPECT_EQ(images ? images->size() : 0, 1u);
  return images && !images->empty() ? images->front() : CodeImage{};
}

std::string only_ptx(const CodeImage& image) {
  auto texts = image.best_ptx();
  EXPECT_TRUE(texts) << texts.error().line();
  EXPECT_EQ(texts ? texts->size() : 0, 1u);
  return texts && !texts->empty() ? texts->front() : std::string();
}

// What a program hands to the driver.
struct Wrapper {
  uint32_t magic = 0x466243B1;
  uint32_t version = 1;
  const void* data = nullptr;
  const void* const* units = nullptr;
};

TEST(FatBinary, EveryCompressionHoldsTheSameText) {
  std::string plain = only_ptx(only_image("none.fatbin"));
  EXPECT_NE(plain.find(".entry stencil_2d"), std::string::npos);
  EXPECT_EQ(plain.find('\0'), std::string::npos);
  for (const char* name : {"default.fatbin", "speed.fatbin", "size.fatbin"}) {
    EXPECT_EQ(only_ptx(only_image(name)), plain) << name;
  }
}

TEST(FatBinary, TakesThePtxOfTheHighestArchitecture) {
  CodeImage image = only_image("default.fatbin");
  ASSERT_EQ(image.units.size(), 1u);
  EXPECT_EQ(image.units[0].size(), 3u);
  EXPECT_NE(only_ptx(image).find(".target sm_90"), std::string::npos);
}

TEST(FatBinary, HoldsTheTreeThatTheCompilerWrites) {
  auto stored = parse(only_ptx(only_image("library.so")), "stored");
  auto written = parse(read_text(corpus_path("stencil_2d")), "written");
  ASSERT_TRUE(stored) << stored.error().line();
  ASSERT_TRUE(written) << written.error().line();
  EXPECT_TRUE(*stored == *written);
}

TEST(FatBinary, DeviceLinkedProgramHasAUnitForEachSource) {
  CodeImage image = only_image("linked.so");
  ASSERT_EQ(image.units.size(), 2u);
  auto texts = image.best_ptx();
  ASSERT_TRUE(texts) << texts.error().line();
  EXPECT_NE(texts->at(0).find(".entry stencil_2d"), std::string::npos);
  EXPECT_NE(texts->at(1).find(".entry local_array"), std::string::npos);
}

TEST(FatBinary, SaysWhatIsThereInsteadOfPtx) {
  auto texts = only_image("machine_code.so").best_ptx();
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().line(),
            "the code image holds machine code for sm_90 only, no PTX; "
            "rebuild with -gencode arch=compute_75,code=compute_75");
  EXPECT_EQ(texts.error().kind, ErrorKind::unsupported);
  auto cubin = only_image("stencil.cubin").best_ptx();
  ASSERT_FALSE(cubin);
  EXPECT_NE(cubin.error().what.find("machine code for sm_80 only"), std::string::npos);
}

TEST(FatBinary, ReadsPlainText) {
  auto images = read_file(corpus_path("stencil_2d"));
  ASSERT_TRUE(images) << images.error().line();
  ASSERT_EQ(images->size(), 1u);
  EXPECT_EQ(images->front().units.at(0).at(0).architecture, 75u);
  EXPECT_EQ(only_ptx(images->front()), read_text(corpus_path("stencil_2d")));
}

TEST(FatBinary, NamesFilesThatHoldNoCode) {
  EXPECT_EQ(read_file("/nowhere/x").error().line(),
            "/nowhere/x: can't read the file; check that it exists and may be read");
  EXPECT_EQ(read_file("/").error().kind, ErrorKind::system);
  auto own = read_file("/proc/self/cmdline");
  ASSERT_FALSE(own);
  auto program = read_file(SLUICE_PTXAS);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().what, "there is no CUDA code in the file");
}

TEST(CodeImage, IsReadFromAWrapper) {
  std::vector<std::byte> bytes = read_bytes(image_path("default.fatbin"));
  Wrapper wrapper{.data = bytes.data()};
  auto image = read_image(&wrapper);
  ASSERT_TRUE(image) << image.error().line();
  EXPECT_EQ(only_ptx(*image), only_ptx(only_image("default.fatbin")));
  auto bare = read_image(bytes.data());
  ASSERT_TRUE(bare) << bare.error().line();
  EXPECT_EQ(only_ptx(*bare), only_ptx(*image));
}

TEST(CodeImage, IsReadFromADeviceLinkedWrapper) {
  std::vector<std::byte> first = read_bytes(image_path("default.fatbin"));
  std::vector<std::byte> second = read_bytes(image_path("speed.fatbin"));
  Wrapper inner{.data = second.data()};
  const void* units[] = {first.data(), &inner, nullptr};
  Wrapper wrapper{.version = 2, .data = first.data(), .units = units};
  auto image = read_image(&wrapper);
  ASSERT_TRUE(image) << image.error().line();
  EXPECT_EQ(image->units.size(), 2u);
  auto texts = image->best_ptx();
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->at(0), texts->at(1));
}

TEST(CodeImage, IsReadFromTextAndMachineCode) {
  std::string text = read_text(corpus_path("stencil_2d"));
  auto image = read_image(text.c_str());
  ASSERT_TRUE(image) << image.error().line();
  EXPECT_EQ(only_ptx(*image), text);
  std::vector<std::byte> cubin = read_bytes(image_path("stencil.cubin"));
  auto code = read_image(cubin.data());
  ASSERT_TRUE(code) << code.error().line();
  EXPECT_EQ(code->units.at(0).at(0).architecture, 80u);
}

CodeImage image_of(std::vector<CodeEntry> unit) {
  return {{std::move(unit)}};
}

TEST(CodeImage, GivesTheNewestPtxThatTheDeviceTakes) {
  const CodeImage image = image_of({{CodeEntry::Kind::ptx, 75, "old"},
                                    {CodeEntry::Kind::ptx, 90, "fits"},
                                    {CodeEntry::Kind::ptx, 120, "new"}});
  EXPECT_EQ(image.best_ptx()->at(0), "new");
  EXPECT_EQ(image.best_ptx(100)->at(0), "fits");
  EXPECT_EQ(image.best_ptx(90)->at(0), "fits");
  EXPECT_EQ(image.best_ptx(86)->at(0), "old");
  const auto none = image.best_ptx(70);
  ASSERT_FALSE(none);
  EXPECT_NE(
      none.error().what.find("PTX from compute_75 on only, and the device takes up to compute_70"),
      std::string::npos)
      << none.error().what;
}

TEST(CodeImage, SaysWhereOtherCodeRunsThanIsRead) {
  const CodeImage image = image_of({{CodeEntry::Kind::machine_code, 80, {}},
                                    {CodeEntry::Kind::machine_code, 90, {}},
                                    {CodeEntry::Kind::ptx, 80, "p"}});
  EXPECT_EQ(image.other_code(90),
            "the device runs machine code for sm_90, and PTX for compute_80 is analysed");
  EXPECT_EQ(image.other_code(86), "");   // machine code made with that PTX
  EXPECT_EQ(image.other_code(100), "");  // the PTX itself
}

TEST(CodeImage, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(read_image(nullptr));
  EXPECT_FALSE(read_image(""));
  EXPECT_FALSE(read_image("abc"));
  EXPECT_FALSE(read_image("int main() {}"));
  Wrapper empty;
  EXPECT_FALSE(read_image(&empty));
  EXPECT_FALSE(CodeImage{}.best_ptx());
}

}  // namespace
}  // namespace sluice::ptx::test
