// Modules that the store links, loaded by the CPU device: one of all bodies, and one of their own
// for classes of bodies whose windows recur.
#include "megakernel/cuda/code_store.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

class CodeStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(driver_.look_up([](const char* name) { return dlsym(RTLD_DEFAULT, name); }), nullptr);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  }

  // add() returns the number of a new kernel's body, whose blocks have so many threads.
  uint32_t add(CodeStore& store, uint32_t threads, uint32_t registers = 0) {
    const auto module =
        ptx::parse(fmt::format(".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<2>;\n"
                               "ld.param.u64 %rd1, [out];\nst.global.u32 [%rd1], {};\nret;\n}}\n",
                               threads * 256 + registers));
    EXPECT_TRUE(module) << module.error().line();
    const Result<uint32_t> place = store.add(*module, "k", {threads, 1, 1}, registers);
    EXPECT_TRUE(place) << place.error().line();
    EXPECT_EQ(store.find(*place).state, CodeStore::State::pending);
    const CodeStore::Found found = store.find(*place);
    EXPECT_EQ(found.state, CodeStore::State::ready) << found.reason;
    return found.number;
  }

  CudaDriver driver_;
  CUcontext context_ = nullptr;
};

TEST_F(CodeStoreTest, GivesARecurringClassOfWidthAModuleOfItsOwn) {
  CodeStore store(driver_, context_, true);
  const uint32_t wide = add(store, 256);
  const uint32_t narrow = add(store, 64);
  const uint32_t narrower = add(store, 32);
  const auto all = store.code();
  EXPECT_EQ(all->threads, 256U);
  EXPECT_TRUE(all->renumbered.empty());
  for (uint32_t window = 1; window < CodeStore::windows_to_recur; ++window)
    EXPECT_EQ(store.crowded_code({narrow, narrower}), all);
  const auto own = store.crowded_code({narrow, narrower});
  EXPECT_NE(own, all);
  EXPECT_EQ(own->threads, 64U);
  // How many registers the CPU device says is its own affair.
  EXPECT_THAT(own->figures, testing::MatchesRegex(
                                "64 threads a worker, [1-9][0-9]* registers and 0 bytes of stack "
                                "a thread"));
  EXPECT_EQ(own->renumbered.at(narrow), 0U);
  EXPECT_EQ(own->renumbered.at(narrower), 1U);
  EXPECT_EQ(store.crowded_code({narrow, narrower}), own);
  // All narrow ones are in it, whatever they recur with.
  EXPECT_EQ(store.crowded_code({narrow}), own);
  EXPECT_EQ(store.known_code({narrow}), own);
  // What is as wide as all bodies together and may take as many registers gains nothing.
  EXPECT_EQ(store.crowded_code({wide, narrow}), all);
  EXPECT_EQ(store.crowded_code({wide, narrow, narrower}), all);
  EXPECT_EQ(store.code(), all);
}

// The CPU device says that its threads have 36 registers, so that a class of 32 gains by itself.
TEST_F(CodeStoreTest, GivesARecurringClassOfRegistersAModuleOfItsOwn) {
  CodeStore store(driver_, context_, true);
  const uint32_t heavy = add(store, 256, 120);
  const uint32_t light = add(store, 256, 16);
  const auto all = store.code();
  ASSERT_GT(all->registers, 32U);
  for (uint32_t window = 1; window < CodeStore::windows_to_recur; ++window)
    EXPECT_EQ(store.crowded_code({light}), all);
  const auto own = store.crowded_code({light});
  EXPECT_NE(own, all);
  EXPECT_EQ(own->renumbered.at(heavy), CodeStore::not_held);
  EXPECT_EQ(own->renumbered.at(light), 0U);
  EXPECT_EQ(store.crowded_code({heavy}), all);
  // A light one that comes later joins once it recurs.
  const uint32_t later = add(store, 256, 20);
  EXPECT_EQ(store.crowded_code({light}), own);
  for (uint32_t window = 1; window < CodeStore::windows_to_recur; ++window)
    EXPECT_EQ(store.crowded_code({light, later})->threads, 256U);
  const auto joined = store.crowded_code({light, later});
  EXPECT_EQ(joined->renumbered.at(later), 1U);
  EXPECT_EQ(store.crowded_code({light}), joined);
}

TEST_F(CodeStoreTest, KeepsTheModuleOfAClassWhenBodiesAreAdded) {
  CodeStore store(driver_, context_, true);
  const uint32_t first = add(store, 32);
  const auto only = store.code();
  const uint32_t second = add(store, 128);
  EXPECT_NE(store.code(), only);
  for (uint32_t window = 1; window < CodeStore::windows_to_recur; ++window)
    EXPECT_EQ(store.crowded_code({first})->threads, 128U);
  const auto own = store.crowded_code({first});
  EXPECT_EQ(own->threads, 64U);  // blocks of one warp have workers of two
  const uint32_t third = add(store, 192);
  EXPECT_EQ(store.crowded_code({first}), own);
  EXPECT_EQ(store.crowded_code({first, second, third})->threads, 192U);
}

}  // namespace
}  // namespace sluice::megakernel
