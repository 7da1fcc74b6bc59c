// Loops in which the threads of a block go round together compute what each thread alone would.
#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/lockstep/lane_strides.hpp"
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

std::vector<float> numbers(size_t count) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = static_cast<float>(i * 7919 % 1000) * 0.37f;
  return result;
}

class JitLockstep : public testing::TestWithParam<uint32_t> {
 protected:
  Kernels kernels{"jit_lockstep"};
  const uint32_t block = GetParam();
};

TEST_P(JitLockstep, AddsColumnsWithSomeThreadsGone) {
  const int n = 37;
  const int width = 101;
  const std::vector<float> a = numbers(n);
  const std::vector<float> b = numbers(static_cast<size_t>(n) * width);
  std::vector<float> expected(width, 0.0f);
  for (int x = 0; x < width; ++x) {
    for (int k = 0; k < n; ++k)
      expected[x] += a[k] * b[k * width + x];
  }
  std::vector<float> c(width, -1.0f);
  kernels.run("columns", {(width + block - 1) / block}, {block}, 0, a.data(), b.data(), c.data(), n,
              width);
  EXPECT_EQ(c, expected);
}

TEST_P(JitLockstep, KeepsMoreSumsThanThereAreRegisters) {
  const int n = 3;
  const int width = static_cast<int>(2 * block);
  const std::vector<float> a = numbers(64);
  const std::vector<float> b = numbers(size_t{50} * width);
  std::vector<float> expected(size_t{48} * width);
  for (int x = 0; x < width; ++x) {
    for (int i = 0; i < 48; ++i) {
      float& sum = expected[i * width + x];
      sum = static_cast<float>(i);
      for (int k = 0; k < n; ++k) {
        for (int j = 0; j < 50; ++j)
          sum += (a[i] + static_cast<float>(k)) * b[j * width + x];
      }
    }
  }
  std::vector<float> c(expected.size(), -1.0f);
  kernels.run("many_sums", {2}, {block}, 0, a.data(), b.data(), c.data(), n, width);
  EXPECT_EQ(c, expected);
}

TEST_P(JitLockstep, LetsThreadsLeaveAtDifferentTimes) {
  // Blocks that go round together, in groups of up to 16, and what is left of them.
  for (const uint32_t blocks : {3U, 37U}) {
    for (const int count : {0, 1, 77, 1000, 30001}) {
      const std::vector<float> in = numbers(count + 1);
      std::vector<float> sums(blocks * block, 1.0f);
      for (int i = 0; i < count; ++i)
        sums[i % sums.size()] += in[i];
      std::vector<float> expected(sums.size());
      for (uint32_t i = 0; i < sums.size(); ++i)
        expected[i] = sums[i / block * block + (i % block + 1) % block];
      std::vector<float> out(sums.size(), -1.0f);
      kernels.run("strided", {blocks}, {block}, 0, in.data(), out.data(), count);
      EXPECT_EQ(out, expected) << blocks << " blocks, " << count << " numbers";
    }
  }
}

TEST_P(JitLockstep, BranchesInLoopsThatThreadsLeaveAtDifferentTimes) {
  const int threads = static_cast<int>(block);
  for (const int count : {0, 1, 77, 1000, 3 * threads}) {
    const std::vector<float> in = numbers(count + 1);
    std::vector<float> expected(count + 4 * threads, 2.0f);
    for (int t = 0; t < threads; ++t) {
      float top = 0;
      float sum = 0;
      int rises = 0;
      int last = -1;
      for (int i = t; i < count; i += threads) {
        if (in[i] > top) {
          expected[i] = std::exchange(top, in[i]);
          ++rises;
        } else if (i > 2 * last) {
          sum += in[count - 1 - i] * in[i];
          last = i;
        }
      }
      const float mine[] = {top, sum, static_cast<float>(rises), static_cast<float>(last)};
      std::copy(std::begin(mine), std::end(mine), expected.begin() + count + 4 * t);
    }
    std::vector<float> out(expected.size(), 2.0f);
    kernels.run("branching", {1}, {block}, 0, in.data(), out.data(), count);
    EXPECT_EQ(out, expected) << count << " numbers";
  }
}

TEST_P(JitLockstep, RollsUpWhatIsUnrolled) {
  const int blocks = 3;
  const int threads = static_cast<int>(block);
  const int rows = std::max(blocks * threads / 32, 1);
  for (const int width : {0, 1, 31, 33, 96, 127, 128, 129, 160, 1000}) {
    const std::vector<float> in = numbers(rows * width + 1);
    std::vector<float> expected(in.size(), 2.0f);
    for (int t = 0; t < blocks * threads; ++t) {
      const int row = t / 32;
      const int lane = t % threads % 32;
      if (row >= rows) continue;
      float top = -1;
      float sum = 0;
      for (int i = lane; i < width; i += 32) {
        top = std::max(top, in[row * width + i]);
        sum += in[row * width + i];
      }
      for (int i = lane; i < width; i += 32)
        expected[row * width + i] = in[row * width + i] * sum + top;
    }
    std::vector<float> out(expected.size(), 2.0f);
    kernels.run("warp_rows", {blocks}, {block}, 0, in.data(), out.data(), rows, width);
    EXPECT_EQ(out, expected) << rows << " rows of " << width;
  }
}

TEST_P(JitLockstep, ComputesAsLongAsEachThreadHasTo) {
  const uint32_t threads = 3 * block;
  const std::vector<float> in = numbers(threads);
  const std::vector<int> rounds = {5, 1, 40, 2, 0, 7, 13};
  std::vector<float> expected(2 * threads);
  for (uint32_t i = 0; i < threads; ++i) {
    float x = in[i];
    float before = 0;
    int k = 0;
    do {
      before = x;
      x = x * x * 0.001f + 0.25f;
    } while (++k < rounds[i % 7]);
    float y = x;
    while (y < 90.0f)
      y = y * 1.5f + 1.0f;
    expected[2 * i] = x - before;
    expected[2 * i + 1] = y;
  }
  std::vector<float> out(expected.size());
  kernels.run("iterated", {3}, {block}, 0, in.data(), out.data(), rounds.data());
  EXPECT_EQ(out, expected);
}

TEST_P(JitLockstep, GoesRoundAsOftenAsEachBlockAsks) {
  const int blocks = 21;
  const int width = 5 * static_cast<int>(block);
  const std::vector<float> in = numbers(static_cast<size_t>(blocks) * width);
  std::vector<float> expected(blocks, 0.0f);
  for (int b = 0; b < blocks; ++b) {
    std::vector<float> pool(block, 0.0f);
    for (int i = 0; i < width - b; ++i)
      pool[i % block] += in[b * width + i];
    for (const float value : pool)
      expected[b] += value;
  }
  std::vector<float> out(blocks, -1.0f);
  kernels.run("block_parts", {blocks}, {block}, 0, in.data(), out.data(), width);
  EXPECT_EQ(out, expected);
}

TEST_P(JitLockstep, RunsLoopsUnderConditions) {
  const int count = 1000;
  const int limit = 555;
  std::vector<int> in(count);
  for (int i = 0; i < count; ++i)
    in[i] = i * 7919 % 101 - 30;
  std::vector<int> pool(block);
  const int step = static_cast<int>(block);
  for (int t = 0; t < step; ++t) {
    int first = 0;
    int second = 0;
    int between = t * 3;
    if (in[t] > 0) {
      for (int i = t; i < count; i += step)
        first += in[i];
      between += first % 5;
      for (int i = t; between % 2 == 0 && i < limit; i += step)
        second += in[i] ^ between;
    } else {
      between = -t;
    }
    pool[t] = first + 7 * second + between;
  }
  std::vector<int> out(block);
  kernels.run("two_loops", {1}, {block}, 0, in.data(), out.data(), count, limit);
  for (uint32_t t = 0; t < block; ++t)
    EXPECT_EQ(out[t], pool[t ^ 1]) << "thread " << t;
}

TEST_P(JitLockstep, RunsLoopsWithinLoops) {
  const int count = 700;
  const int rounds = 5;
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i)
    numbers[i] = i % 13;
  std::vector<int> expected = numbers;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      if (i % static_cast<int>(block) % 3 != round % 3) expected[i] = expected[i] * 3 + round;
    }
  }
  kernels.run("waves", {1}, {block}, 0, numbers.data(), count, rounds);
  EXPECT_EQ(numbers, expected);
}

void expect_plus_one(Kernels& kernels, uint32_t block, int width, int count) {
  const std::vector<float> in = numbers(count + 1);
  std::vector<float> expected(count + 1, -1.0f);
  for (int i = 0; i < count; ++i)
    expected[i] = in[i] + 1;
  std::vector<float> out(count + 1, -1.0f);
  kernels.run("nested", {1}, {block}, 0, in.data(), out.data(), width, count);
  EXPECT_EQ(out, expected) << count << " numbers of width " << width;
}

TEST_P(JitLockstep, FinishesAnInnerLoopBeforeTheOuterEnds) {
  const int threads = static_cast<int>(block);
  for (const int width : {1, threads - 1, threads}) {
    expect_plus_one(kernels, block, width, 3 * width);
    expect_plus_one(kernels, block, width, 5 * width - 1);
    expect_plus_one(kernels, block, width, 0);
  }
}

// Where threads came to the inner loop again, some never left it once.
TEST_P(JitLockstep, ComesToAnInnerLoopAgainFromWhereTheOuterStands) {
  const int threads = static_cast<int>(block);
  for (const int width : {2 * threads, 2 * threads + 3, 6 * threads})
    expect_plus_one(kernels, block, width, 3 * width);
}

TEST_P(JitLockstep, RunsInnerLoopsAsOftenAsEachThreadAsks) {
  const int threads = static_cast<int>(block);
  for (const int width : {1, threads, 2 * threads + 3, 6 * threads}) {
    const int count = 3 * width + 1;
    std::vector<int> in(count);
    for (int i = 0; i < count; ++i)
      in[i] = i * 7919 % 1013;
    std::vector<int> expected(count + block, 1);
    for (uint32_t t = 0; t < block; ++t) {
      int sum = 0;
      for (int i = static_cast<int>(t); i < width; i += static_cast<int>(block)) {
        for (int round = 0; round < in[i] % 4; ++round) {
          int last = 0;
          for (int n = i; n < count; n += width) {
            last = in[n] + round;
            expected[n] = expected[n] * 3 + last;
          }
          sum = sum * 5 + last;
        }
      }
      expected[count + t] = sum;
    }
    std::vector<int> out(count + block, 1);
    kernels.run("nested_thrice", {1}, {block}, 0, in.data(), out.data(), width, count);
    EXPECT_EQ(out, expected) << "width " << width;
  }
}

TEST_P(JitLockstep, KnowsWhereEachThreadStoodInItsLastRound) {
  const int threads = static_cast<int>(block);
  const int count = 5 * threads + threads / 2;
  std::vector<int> in(count);
  for (int i = 0; i < count; ++i)
    in[i] = i * 7919 % 1013;
  std::vector<int> expected(2 * block);
  for (int i = 0; i < count; ++i) {
    expected[2 * (i % threads)] = i;
    expected[2 * (i % threads) + 1] += in[i];
  }
  std::vector<int> out(2 * block, -1);
  kernels.run("last_round", {1}, {block}, 0, in.data(), out.data(), count);
  EXPECT_EQ(out, expected);
}

// What threads say at a round's end can't be told again there.
TEST_P(JitLockstep, GoesRoundUntilWhatAThreadReadsSaysSo) {
  for (const uint32_t blocks : {1U, 5U}) {
    const size_t threads = size_t{blocks} * block;
    constexpr size_t most = 9;
    std::vector<int> in((most + 1) * threads);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<int>(i * 7919 % 1013);
    for (size_t t = 0; t < threads; ++t)
      in[threads * (1 + t * 31 % most) + t] = -1;
    std::vector<int> expected(threads + in.size(), -7);
    for (size_t t = 0; t < threads; ++t) {
      int rounds = 0;
      if (in[t] % 3 != 1) {
        for (size_t i = t; in[i] >= 0; i += threads)
          expected[threads + i] = in[i] + rounds++;
      }
      expected[t] = rounds;
    }
    std::vector<int> out(expected.size(), -7);
    kernels.run("until_told", {blocks}, {block}, 0, in.data(), out.data(), 1);
    EXPECT_EQ(out, expected) << blocks << " blocks";
  }
}

float polynomial(float x, float first) {
  float sum = first;
  for (int i = 1; i < 7; ++i)
    sum = sum * x + static_cast<float>(i);
  return sum;
}

// Whole numbers: sums don't depend on the order.
TEST_P(JitLockstep, UpdatesAtomicallyBesideLongWork) {
  const int rounds = 5;
  const int width = static_cast<int>(3 * block - 1);
  std::vector<float> in(size_t{3} * block * rounds);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i * 7919 % 4);
  for (const bool is_for_all : {true, false}) {
    std::vector<float> state(size_t{3} * block, 1);
    std::vector<float> sums(block, 2);
    std::vector<float> expected_state = state;
    std::vector<float> expected = sums;
    for (size_t g = 0; g < (is_for_all ? size_t(width) : state.size()); ++g) {
      for (int i = 0; i < (is_for_all ? rounds : 1); ++i) {
        const float x = in[i * width + g];
        if (!is_for_all && x <= 1) continue;
        const float y = polynomial(x, 1) - polynomial(x, 2);
        expected[g % block] += y * x + polynomial(x, expected_state[g]);
        expected_state[g] = polynomial(x, 3) - y;
      }
    }
    if (is_for_all) {
      kernels.run("tallies", {3}, {block}, 0, in.data(), sums.data(), state.data(), rounds, width);
    } else {
      kernels.run("some_tallies", {3}, {block}, 0, in.data(), sums.data(), state.data(), width);
    }
    EXPECT_EQ(sums, expected) << is_for_all;
    EXPECT_EQ(state, expected_state) << is_for_all;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, JitLockstep, testing::Values(2u, 8u, 48u, 256u),
                         [](const auto& test) { return std::to_string(test.param) + "Threads"; });

// strides_in() is the stride of the pointer of each load of a function with these blocks, in bytes.
std::vector<std::optional<int64_t>> strides_in(const std::string& blocks) {
  const jit::BlockFunction parsed("", "i32 %m", blocks);
  std::vector<std::optional<int64_t>> found;
  if (parsed.get() == nullptr) return found;
  llvm::Function& function = *parsed.get();
  jit::LaneStrides strides(function);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      found.push_back(strides.of(load->getPointerOperand()));
  }
  return found;
}

// As nvcc unrolls a grid-stride loop: the counter moves on in two steps, and begins where a loop
// for the rest has left it.
TEST(LaneStrides, AreKnownWhereALoopAddsMoreThanOnce) {
  EXPECT_THAT(strides_in("entry:\n  br label %rest\n"
                         "rest:\n"
                         "  %i = phi i32 [%t, %entry], [%i1, %rest]\n"
                         "  %i1 = add i32 %i, %nx\n"
                         "  %more = icmp slt i32 %i1, %m\n"
                         "  br i1 %more, label %rest, label %loop\n"
                         "loop:\n"
                         "  %j = phi i32 [%j2, %loop], [%i1, %rest]\n"
                         "  %p = getelementptr i32, ptr %origin, i32 %j\n"
                         "  %a = load i32, ptr %p\n"
                         "  %j1 = add i32 %j, %nx\n"
                         "  %q = getelementptr i32, ptr %origin, i32 %j1\n"
                         "  %b = load i32, ptr %q\n"
                         "  %j2 = add i32 %j1, %nx\n"
                         "  %again = icmp slt i32 %j2, %n\n"
                         "  br i1 %again, label %loop, label %end\n"
                         "end:\n  ret void\n"),
              testing::ElementsAre(4, 4));
}

// A warp's row of 1024 numbers and a lane's number in it, as LLVM puts shifts together.
TEST(LaneStrides, AreThoseWithinAWarp) {
  EXPECT_THAT(strides_in("entry:\n"
                         "  %lane = and i32 %t, 31\n"
                         "  %moved = shl i32 %t, 5\n"
                         "  %row = and i32 %moved, -1024\n"
                         "  %i = or i32 %row, %lane\n"
                         "  %p = getelementptr i32, ptr %origin, i32 %i\n"
                         "  %a = load i32, ptr %p\n"
                         "  %half = lshr i32 %t, 4\n"
                         "  %q = getelementptr i32, ptr %origin, i32 %half\n"
                         "  %b = load i32, ptr %q\n"
                         "  %pair = and i32 %t, 63\n"
                         "  %r = getelementptr i32, ptr %origin, i32 %pair\n"
                         "  %c = load i32, ptr %r\n"
                         "  %some = and i32 %t, 7\n"
                         "  %s = getelementptr i32, ptr %origin, i32 %some\n"
                         "  %d = load i32, ptr %s\n"
                         "  ret void\n"),
              testing::ElementsAre(4, std::nullopt, 4, std::nullopt));
}

TEST(LaneStrides, AreNotKnownWhereNeighboursGoOnDifferently) {
  EXPECT_THAT(strides_in("entry:\n  br label %loop\n"
                         "loop:\n"
                         "  %j = phi i32 [%t, %entry], [%j2, %loop]\n"
                         "  %p = getelementptr i32, ptr %origin, i32 %j\n"
                         "  %a = load i32, ptr %p\n"
                         "  %j1 = add i32 %j, %nx\n"
                         "  %j2 = add i32 %j1, %t\n"
                         "  %again = icmp slt i32 %j2, %n\n"
                         "  br i1 %again, label %loop, label %end\n"
                         "end:\n  ret void\n"),
              testing::ElementsAre(std::nullopt));
}

}  // namespace
}  // namespace sluice::hostcuda
