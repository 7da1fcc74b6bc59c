// Functions of a copied runtime, in libraries made for it (copy.S), lead to those of ours.cpp.
#include "interpose/static_runtime/redirection.hpp"

#include <fstream>
#include <iterator>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/file/mapped_file.hpp"
#include "e2e/process.hpp"
#include "interpose/static_runtime/loaded_object.hpp"

namespace sluice::interpose {
namespace {

std::string library(const std::string& name) {
  return e2e::build_path("tests/static_runtime/lib" + name + ".so");
}

link_map* map_of(void* handle) {
  link_map* map = nullptr;
  EXPECT_EQ(dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)), 0);
  return map;
}

// Copy is one of the libraries, loaded, with its runtime led to ours.
class Copy {
 public:
  explicit Copy(const std::string& name) : ours_(dlopen(library("ours").c_str(), RTLD_NOW)) {
    const FileView own(library("ours").c_str());
    const FileView file(library(name).c_str());
    const auto elf = ElfView::of(file.bytes());
    if (ours_ == nullptr || !elf) return;
    RuntimeCopy found = find_runtime(*elf, RuntimeFunctions::read(own.bytes()));
    is_there = found.is_there;
    if (!is_there) return;
    const Redirection redirection = redirect(*elf, std::move(found), map_of(ours_)->l_addr);
    refused = redirection.obstacle;
    if (refused) return;
    loaded_ = dlopen(library(name).c_str(), RTLD_LAZY);
    is_own_file = is_file_of(*elf, *map_of(loaded_));
    refused = apply(redirection, *elf, *map_of(loaded_));
  }
  ~Copy() {
    if (loaded_ != nullptr) dlclose(loaded_);
    if (ours_ != nullptr) dlclose(ours_);
  }

  int call(const char* name) const {
    auto* const function = reinterpret_cast<int (*)()>(dlsym(loaded_, name));
    return function == nullptr ? -1 : function();
  }

  bool is_there = false;
  bool is_own_file = false;
  Obstacle refused;

 private:
  void* ours_ = nullptr;
  void* loaded_ = nullptr;
};

void expect_replaced(const Copy& copy) {
  ASSERT_TRUE(copy.is_there);
  ASSERT_FALSE(copy.refused) << copy.refused.function;
  EXPECT_TRUE(copy.is_own_file);
  EXPECT_EQ(copy.call("__cudaRegisterFatBinary"), 101);
  EXPECT_EQ(copy.call("cudaLarge"), 102);
  EXPECT_EQ(copy.call("cudaShort"), 103);
  EXPECT_EQ(copy.call("cudaChosen"), 104);
  EXPECT_EQ(copy.call("cudaOther"), 105);
}

TEST(Redirection, LeadsEveryFunctionToOursAlsoShortOnesAndOtherNames) {
  const Copy copy("usual");
  expect_replaced(copy);
  EXPECT_EQ(copy.call("ownNameOfCudaOther"), 105);
  EXPECT_EQ(copy.call("cudaHelperOfTheProgram"), 9);
}

TEST(Redirection, HasAResolverChooseOurs) {
  expect_replaced(Copy("resolver"));
}

TEST(Redirection, TakesALibraryThatIsOpenedAgain) {
  for (int times = 0; times < 3; ++times)
    expect_replaced(Copy("usual"));
}

void expect_refused(const char* name, Obstacle::Kind kind, const std::string& function) {
  const Copy copy(name);
  EXPECT_TRUE(copy.is_there) << name;
  EXPECT_EQ(copy.refused.kind, kind) << name;
  EXPECT_EQ(copy.refused.function, function) << name;
}

TEST(Redirection, LeavesWhatCannotBeReplacedAsAWholeAlone) {
  expect_refused("too_short", Obstacle::Kind::too_short, "cudaShort");
  expect_refused("lacking", Obstacle::Kind::lacking, "cudaUnknown");
  const Copy two_names("two_names");
  EXPECT_EQ(two_names.refused.kind, Obstacle::Kind::two_names);
}

TEST(Redirection, TakesAFewFunctionsForAWrapper) {
  EXPECT_FALSE(Copy("few").is_there);
}

// Such programs import the function by which they register their code.
TEST(Redirection, NeedNotLookIntoWhoUsesASharedRuntime) {
  const auto may = [](const std::string& path) {
    const FileView file(path.c_str());
    const auto elf = ElfView::of(file.bytes());
    return elf && may_have_runtime(*elf);
  };
  EXPECT_FALSE(may(e2e::build_path("samples/stencil")));
  EXPECT_TRUE(may(library("usual")));
  EXPECT_TRUE(may(library("stripped")));
}

TEST(Redirection, FindsWhatIsExportedInAStrippedLibrary) {
  expect_replaced(Copy("stripped"));
}

TEST(Redirection, TellsCodeThatSomebodyElseHasChanged) {
  const FileView own(library("ours").c_str());
  const FileView file(library("usual").c_str());
  const auto elf = ElfView::of(file.bytes());
  ASSERT_TRUE(elf);
  const Redirection redirection =
      redirect(*elf, find_runtime(*elf, RuntimeFunctions::read(own.bytes())), 0);
  void* const other = dlopen(library("resolver").c_str(), RTLD_LAZY);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(apply(redirection, *elf, *map_of(other)).kind, Obstacle::Kind::elsewhere);
  dlclose(other);
}

TEST(Redirection, SurvivesEveryTruncationAndChange) {
  std::ifstream stream(library("usual"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  const FileView own(library("ours").c_str());
  const RuntimeFunctions ours = RuntimeFunctions::read(own.bytes());
  ASSERT_EQ(ours.size(), 5u);
  const auto look_at = [&ours](const std::string& text) {
    const auto elf = ElfView::of({reinterpret_cast<const std::byte*>(text.data()), text.size()});
    if (!elf) return;
    may_have_runtime(*elf);
    RuntimeCopy copy = find_runtime(*elf, ours);
    if (copy.is_there) redirect(*elf, std::move(copy), 0);
    elf->has_section(".nvFatBinSegment");
  };
  for (size_t length = 0; length < whole.size(); length += 7)
    look_at(whole.substr(0, length));
  for (size_t place = 0; place < whole.size(); place += 3) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0xff);
    look_at(changed);
  }
}

TEST(Padding, EndsAtTheFirstInstructionThatDoesSomething) {
  const auto size_of = [](std::initializer_list<int> code) {
    std::vector<std::byte> bytes;
    for (const int value : code)
      bytes.push_back(static_cast<std::byte>(value));
    return padding_size(bytes);
  };
  EXPECT_EQ(size_of({0xcc, 0x90, 0x66, 0x90, 0xc3}), 4u);
  EXPECT_EQ(size_of({0x0f, 0x1f, 0x00, 0x0f, 0x1f, 0x40, 0x00, 0x55}), 7u);
  EXPECT_EQ(size_of({0x0f, 0x1f, 0x44, 0, 0, 0x31}), 5u);
  EXPECT_EQ(size_of({0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0x31}), 7u);
  EXPECT_EQ(size_of({0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x31}), 11u);
  EXPECT_EQ(size_of({0x66, 0x2e, 0x0f, 0x1f}), 4u);  // goes on beyond what is shown
  EXPECT_EQ(size_of({0x66, 0x89, 0xc8}), 0u);
  EXPECT_EQ(size_of({}), 0u);
}

// The CPU device's own runtimes have the names that NVIDIA's have.
TEST(RuntimeThatServes, IsOfTheCudaWhoseFunctionsTheFileHas) {
  for (const std::string_view name : own_runtimes) {
    const FileView file(e2e::build_path("lib/cpu/" + std::string(name)).c_str());
    const auto elf = ElfView::of(file.bytes());
    ASSERT_TRUE(elf);
    EXPECT_EQ(runtime_that_serves(*elf), name);
  }
}

}  // namespace
}  // namespace sluice::interpose
