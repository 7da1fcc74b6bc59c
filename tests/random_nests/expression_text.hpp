// Lines of PTX, and expressions as such.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nest_tree.hpp"

namespace sluice::nests {

// ExpressionText collects the lines of a kernel's body and hands out its registers. Expressions are
// computed anew wherever they stand, as signed words.
class ExpressionText {
 public:
  explicit ExpressionText(const Nest& nest) : nest_(nest) {}

  // begin() loads the parameters and what expressions name of the thread.
  void begin();

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += "  " + fmt::format(format, std::forward<Values>(values)...) + ";\n";
  }
  void label(const std::string& name) { text_ += name + ":\n"; }
  std::string fresh_label() { return fmt::format("L{}", ++labels_); }
  std::string predicate() { return fmt::format("%p{}", ++predicates_); }
  std::string word() { return fmt::format("%r{}", ++words_); }
  std::string real() { return fmt::format("%f{}", ++reals_); }
  std::string wide() { return fmt::format("%rd{}", ++doubles_); }
  static std::string variable(uint32_t index) { return fmt::format("%v{}", index); }

  // operand() is a register that holds the expression, or a number.
  std::string operand(const Expression& expression);
  std::string test(const Condition& condition);
  // Addresses of an element, of a buffer and of the block's pool.
  std::string address(Buffer buffer, const std::string& index);
  std::string shared(const std::string& index);
  const std::string& buffer(Buffer buffer) const { return buffers_[size_t(buffer)]; }

  const std::string& thread() const { return thread_; }
  const std::string& global() const { return global_; }
  const std::string& all() const { return all_; }

  // Registers that hold the address of numbers[variable].
  std::map<uint32_t, std::string>& pointers() { return pointers_; }

  // declarations() are of all registers so far; body() is all lines.
  std::string declarations() const;
  const std::string& body() const { return text_; }

 private:
  std::string binary(const char* instruction, const Expression& expression);
  std::string load(const Expression& index);

  const Nest& nest_;
  std::string text_;
  std::vector<std::string> buffers_, scalars_;
  std::string tid_x_, thread_, global_, block_, threads_, all_;
  std::map<uint32_t, std::string> pointers_;
  unsigned predicates_ = 0, words_ = 0, reals_ = 0, doubles_ = 0, labels_ = 0;
};

}  // namespace sluice::nests
