// Shuffles, votes and reductions to which all threads come together, in line, against exchange().
#include <bit>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/warp/warp_operations.hpp"

namespace sluice::hostcuda {
namespace {

using jit::SyncOperation;

struct Operation {
  const char* text;
  SyncOperation operation;
  enum Kind { shuffle, vote, ballot, reduction } kind;
};

constexpr Operation operations[] = {
    {"shfl.sync.up.b32", SyncOperation::shuffle_up, Operation::shuffle},
    {"shfl.sync.down.b32", SyncOperation::shuffle_down, Operation::shuffle},
    {"shfl.sync.bfly.b32", SyncOperation::shuffle_butterfly, Operation::shuffle},
    {"shfl.sync.idx.b32", SyncOperation::shuffle_index, Operation::shuffle},
    {"vote.sync.all.pred", SyncOperation::vote_all, Operation::vote},
    {"vote.sync.any.pred", SyncOperation::vote_any, Operation::vote},
    {"vote.sync.uni.pred", SyncOperation::vote_uniform, Operation::vote},
    {"vote.sync.ballot.b32", SyncOperation::vote_ballot, Operation::ballot},
    {"redux.sync.add.u32", SyncOperation::reduce_add, Operation::reduction},
    {"redux.sync.and.b32", SyncOperation::reduce_and, Operation::reduction},
    {"redux.sync.or.b32", SyncOperation::reduce_or, Operation::reduction},
    {"redux.sync.xor.b32", SyncOperation::reduce_xor, Operation::reduction},
    {"redux.sync.min.s32", SyncOperation::reduce_min, Operation::reduction},
    {"redux.sync.max.s32", SyncOperation::reduce_max, Operation::reduction},
    {"redux.sync.min.u32", SyncOperation::reduce_unsigned_min, Operation::reduction},
    {"redux.sync.max.u32", SyncOperation::reduce_unsigned_max, Operation::reduction}};

// Operands says which of them stand in the instruction as constants.
struct Operands {
  bool lane, clamp, mask;
};

constexpr int rounds = 3;

std::string instruction(const Operation& operation, const Operands& constant, uint32_t lane,
                        uint32_t clamp) {
  const std::string mask = constant.mask ? "0xffffffff" : "%mask";
  switch (operation.kind) {
    case Operation::shuffle:
      return fmt::format("{} %result|%inside, %v, {}, {}, {};", operation.text,
                         constant.lane ? std::to_string(lane) : "%lane",
                         constant.clamp ? std::to_string(clamp) : "%clamp", mask);
    case Operation::vote:
      return fmt::format(
          "setp.gt.u32 %says, %v, 7; {} %inside, %says, {}; "
          "selp.u32 %result, 5, 3, %inside;",
          operation.text, mask);
    case Operation::ballot:
      return fmt::format(
          "setp.gt.u32 %says, %v, 7; {} %result, %says, {}; "
          "setp.ne.u32 %inside, %result, 0;",
          operation.text, mask);
    default:
      return fmt::format("{} %result, %v, {}; setp.ne.u32 %inside, %result, 0;", operation.text,
                         mask);
  }
}

// A thread's word of each array is at [base + 4 * thread]; where `exits` holds one it is done.
std::string kernel(const std::string& instruction, bool exit) {
  return fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 out, .param .u32 stride, .param .u32 rounds) {{
.reg .b32 %v, %lane, %clamp, %mask, %exits, %result, %t, %left, %stride, %x, %rounds;
.reg .b64 %p, %q, %s, %o;
.reg .pred %inside, %says, %more;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [words];
ld.param.u64 %q, [out];
ld.param.u32 %stride, [stride];
ld.param.u32 %rounds, [rounds];
mul.wide.u32 %o, %t, 4;
add.u64 %p, %p, %o;
add.u64 %q, %q, %o;
cvt.u64.u32 %s, %stride;
ld.global.u32 %v, [%p];
add.u64 %p, %p, %s;
ld.global.u32 %lane, [%p];
add.u64 %p, %p, %s;
ld.global.u32 %clamp, [%p];
add.u64 %p, %p, %s;
ld.global.u32 %mask, [%p];
add.u64 %p, %p, %s;
ld.global.u32 %exits, [%p];
setp.ne.u32 %says, %exits, 0;
{}
mov.u32 %left, 0;
LOOP:
{}
selp.u32 %x, 1, 0, %inside;
mad.lo.u32 %v, %v, 3, %result;
add.u32 %v, %v, %x;
add.u32 %left, %left, 1;
setp.lt.u32 %more, %left, %rounds;
@%more bra LOOP;
st.global.u32 [%q], %v;
exit;
}})",
                     exit ? "@%says exit;" : "", instruction);
}

struct Words {
  std::vector<uint32_t> value, lane, clamp, mask, exits;
};

// Lanes of equal mask form a group. A group's mask names its lanes, here and in PTX.
Words random_words(std::mt19937& random, uint32_t threads, bool one_mask, bool exit) {
  Words words;
  for (uint32_t t = 0; t < threads; ++t) {
    static constexpr uint32_t clamps[] = {31, 0, 0x181f, 0x1c07, 0x1e00, 0x0810, 0x181b};
    words.value.push_back(random() % 4 == 0 ? random() : random() % 16);
    words.lane.push_back(random() % 40);
    words.clamp.push_back(clamps[random() % std::size(clamps)]);
    words.exits.push_back(exit && random() % 5 == 0 ? 1 : 0);
  }
  for (uint32_t first = 0; first < threads; first += 32) {
    const uint32_t some = one_mask ? ~0U : static_cast<uint32_t>(random());
    for (uint32_t lane = 0; lane < 32 && first + lane < threads; ++lane)
      words.mask.push_back((some >> lane & 1) != 0 ? some : ~some);
  }
  return words;
}

void expected_round(const Operation& operation, Words& words) {
  const auto threads = static_cast<uint32_t>(words.value.size());
  for (uint32_t first = 0; first < threads; first += 32) {
    uint64_t value[32] = {}, result[32] = {};
    uint8_t inside[32] = {};
    uint32_t left = 0;
    for (uint32_t lane = 0; lane < 32 && first + lane < threads; ++lane) {
      const uint32_t word = words.value[first + lane];
      const bool says = operation.kind == Operation::vote || operation.kind == Operation::ballot;
      value[lane] = says ? word > 7 : word;
      if (words.exits[first + lane] == 0) left |= 1U << lane;
    }
    while (left != 0) {
      const uint32_t mask = words.mask[first + static_cast<uint32_t>(std::countr_zero(left))];
      uint32_t group = 0;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if ((left >> lane & 1) != 0 && words.mask[first + lane] == mask) group |= 1U << lane;
      }
      jit::run_warp_operation(operation.operation, group,
                              {value, &words.lane[first], &words.clamp[first]}, result, inside);
      left &= ~group;
    }
    for (uint32_t lane = 0; lane < 32 && first + lane < threads; ++lane) {
      auto given = static_cast<uint32_t>(result[lane]);
      bool flag = given != 0;
      if (operation.kind == Operation::shuffle) flag = inside[lane] != 0;
      if (operation.kind == Operation::vote) given = flag ? 5 : 3;
      words.value[first + lane] = words.value[first + lane] * 3 + given + (flag ? 1 : 0);
    }
  }
}

void compare(std::mt19937& random, const Operation& operation, const Operands& constant,
             bool exit) {
  const uint32_t lane = random() % 4 == 0 ? random() % 40 : 1U << random() % 5;
  static constexpr uint32_t clamps[] = {31, 0x1f, 0, 0x181f, 0x1c07, 0x0818};
  const uint32_t clamp = clamps[random() % std::size(clamps)];
  const std::string text = instruction(operation, constant, lane, clamp);
  Kernels kernels(compile_text(kernel(text, exit)));
  for (uint32_t threads : {7u, 70u, 256u}) {
    Words words = random_words(random, threads, constant.mask, exit);
    if (constant.lane) words.lane.assign(threads, lane);
    if (constant.clamp) words.clamp.assign(threads, clamp);
    std::vector<uint32_t> in, out(threads, 1234);
    for (const auto* array : {&words.value, &words.lane, &words.clamp, &words.mask, &words.exits})
      in.insert(in.end(), array->begin(), array->end());
    kernels.run("k", {1}, {threads}, 0, in.data(), out.data(), 4 * threads, rounds);
    words.lane.resize(threads + 32);
    words.clamp.resize(threads + 32);
    for (int round = 0; round < rounds; ++round)
      expected_round(operation, words);
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t wanted = words.exits[t] != 0 ? 1234 : words.value[t];
      ASSERT_EQ(out[t], wanted) << text << " thread " << t << " of " << threads
                                << (exit ? ", some exit" : "");
    }
  }
}

TEST(WarpExchange, GivesWhatExchangeGives) {
  std::mt19937 random(17);
  for (const Operation& operation : operations) {
    const unsigned forms = operation.kind == Operation::shuffle ? 8 : 2;
    for (unsigned form = 0; form < forms; ++form) {
      const Operands constant{(form & 2) != 0, (form & 4) != 0, (form & 1) != 0};
      for (bool exit : {false, true})
        ASSERT_NO_FATAL_FAILURE(compare(random, operation, constant, exit));
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
