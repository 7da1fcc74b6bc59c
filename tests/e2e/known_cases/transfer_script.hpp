// A list of launches as words of a command line, for the program that does them and for the test
// that counts what they depend on: "fill a 0 8192 1 , map b 0 a 0 4 2048".
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace script {

// Buffers are named by letters. All numbers are bytes, blocks or rows, in the order given here.
//   fill X at bytes value                    cudaMemsetAsync
//   rows X at pitch width rows value         cudaMemset2DAsync
//   copy X at Y at bytes                     cudaMemcpyAsync, X from Y
//   rect X at pitch Y at pitch width rows    cudaMemcpy2DAsync
//   put X blocks each                        each block writes its part
//   map X at Y at blocks each                X's part from Y's
//   two X Y Z blocks each                    X's part from Y's and Z's
//   mix X Y Z blocks each all                X's part from Y's and the first `all` bytes of Z
//   row X Y columns rows tile pitch          X's tile from Y's whole row
//   stencil X Y side                         5 points, blocks of 16 x 16, words at the rim are kept
//   strip X Y first rows                     the same of 16 x 16 words, rows of blocks of 2 x 2
//   free X, alloc X, sync                    no launches
struct Operation {
  std::string name;
  std::vector<char> buffers;
  std::vector<uint32_t> numbers;

  bool is_launch() const { return name != "free" && name != "alloc" && name != "sync"; }
};

constexpr uint32_t buffer_bytes = 1U << 18U;
constexpr uint32_t strip_side = 16;

inline std::vector<Operation> parse(const std::vector<std::string>& words) {
  std::vector<Operation> found;
  bool is_new = true;
  for (const std::string& word : words) {
    if (word == ",") {
      is_new = true;
    } else if (is_new) {
      found.push_back({word, {}, {}});
      is_new = false;
    } else if (word[0] >= 'a' && word[0] <= 'z') {
      found.back().buffers.push_back(word[0]);
    } else {
      found.back().numbers.push_back(
          static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 10)));
    }
  }
  return found;
}

}  // namespace script
