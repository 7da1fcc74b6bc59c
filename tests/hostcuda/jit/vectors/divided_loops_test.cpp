// Loops in which threads that go round together divide their numbers by a width.
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/lockstep/lane_strides.hpp"
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

TEST(DividedLoops, SumWhatEachThreadAloneWould) {
  Kernels kernels{"jit_lockstep"};
  constexpr int threads = 2 * 64;
  constexpr int pitch = 310;
  for (const int width : {1, 3, 63, 64, 100, 300}) {
    for (const int count : {0, 1, 500, 12'345}) {
      std::vector<int> in(pitch * (count / width + 3));
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<int>(i * 7919 % 1013);
      std::vector<int> expected(threads, 5);
      for (int v = 0; v < count; ++v) {
        const int place = v / width * pitch + v % width;
        expected[size_t(v % threads)] += in[size_t(place)] * 3 - in[size_t(place + pitch)];
      }
      std::vector<int> out(threads, 5);
      kernels.run("field", {2}, {64}, 0, in.data(), out.data(), width, count, pitch);
      EXPECT_EQ(out, expected) << count << " in rows of " << width;
    }
  }
}

TEST(DividedLoops, HaveNeighboursInOneRow) {
  const jit::BlockFunction parsed("", "i32 %m",
                                  "entry:\n"
                                  "  %row = sdiv i32 %t, %n\n"
                                  "  %p = getelementptr i32, ptr %origin, i32 %row\n"
                                  "  %a = load i32, ptr %p\n"
                                  "  %place = srem i32 %t, %n\n"
                                  "  %none = icmp eq i32 %n, 0\n"
                                  "  %any = select i1 %none, i32 %t, i32 %place\n"
                                  "  %q = getelementptr i32, ptr %origin, i32 %any\n"
                                  "  %b = load i32, ptr %q\n"
                                  "  %third = urem i32 %t, 3\n"
                                  "  %r = getelementptr i32, ptr %origin, i32 %third\n"
                                  "  %c = load i32, ptr %r\n"
                                  "  %own = udiv i32 %n, %t\n"
                                  "  %s = getelementptr i32, ptr %origin, i32 %own\n"
                                  "  %d = load i32, ptr %s\n"
                                  "  %first = icmp eq i32 %t, 0\n"
                                  "  %mine = select i1 %first, i32 %t, i32 %n\n"
                                  "  %u = getelementptr i32, ptr %origin, i32 %mine\n"
                                  "  %e = load i32, ptr %u\n"
                                  "  ret void\n");
  ASSERT_NE(parsed.get(), nullptr);
  jit::LaneStrides strides(*parsed.get());
  std::vector<std::optional<int64_t>> found;
  for (llvm::Instruction& instruction : llvm::instructions(*parsed.get())) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      found.push_back(strides.of(load->getPointerOperand()));
  }
  EXPECT_THAT(found, testing::ElementsAre(0, 4, std::nullopt, std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace sluice::hostcuda
